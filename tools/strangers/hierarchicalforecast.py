import numpy as np
import pandas as pd
from hierarchicalforecast.core import HierarchicalReconciliation
from hierarchicalforecast.methods import BottomUp, MinTrace, TopDown
from hierarchicalforecast.utils import aggregate

dice = np.random.default_rng(2)
days = pd.date_range("2024-01-01", periods=24, freq="MS")
frames = [
    pd.DataFrame({"country": "X", "region": region, "ds": days, "y": level + dice.normal(size=24)})
    for region, level in (("north", 10), ("south", 20), ("west", 5))
]
Y, S, tags = aggregate(pd.concat(frames), [["country"], ["country", "region"]])
print(S.set_index("unique_id").to_numpy().shape, {key: list(names) for key, names in tags.items()})
last = Y.groupby("unique_id")["ds"].transform("max")
train, test = Y[Y["ds"] < last], Y[Y["ds"] == last].copy()
test["naive"] = train.groupby("unique_id")["y"].last().reindex(test["unique_id"]).to_numpy() + 1.0
train = train.assign(naive=train.groupby("unique_id")["y"].shift(1))
methods = [BottomUp(), TopDown(method="forecast_proportions"), MinTrace(method="ols")]
reconciled = HierarchicalReconciliation(methods).reconcile(
    Y_hat_df=test.drop(columns="y"), Y_df=train.dropna(), S_df=S, tags=tags
)
print(reconciled.dtypes)
print(reconciled.round(3).to_string())
