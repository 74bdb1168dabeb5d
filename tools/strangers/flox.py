import numpy as np
from flox import groupby_reduce, groupby_scan
from flox.aggregations import Aggregation

labels = np.array([0, 0, 1, 1, 2, 2, 2, 0])
values = np.random.default_rng(12).random((3, 8)).astype(np.float32)
for name in ("sum", "mean", "nanmax", "var", "count", "argmax", "median", "first"):
    for engine in ("numpy", "flox"):
        if (name, engine) in (("median", "numpy"), ("argmax", "flox")):
            continue
        made, groups = groupby_reduce(values, labels, func=name, engine=engine)
        print(name, engine, made.dtype, made.shape, np.round(made[0], 4), groups)
counted, *edges = groupby_reduce(
    values[0], values[0], func="count", isbin=True, expected_groups=np.linspace(0, 1, 5)
)
print(counted, edges[0])
small, _ = groupby_reduce(labels.astype(np.int8) * 50, labels, func="sum", fill_value=0)
print(small.dtype, small)
print(groupby_scan(values[1], labels, func="nancumsum").round(3))
own = Aggregation("total", numpy="sum", chunk="sum", combine="sum", fill_value=0)
print(groupby_reduce(values, labels, func=own)[0].round(3))
print(groupby_reduce(values, labels, func="quantile", finalize_kwargs={"q": 0.3})[0].round(3))
