import mkl_random
import numpy as np

dice = (
    mkl_random.MKLRandomState(77, brng="MT19937")
    if hasattr(mkl_random, "MKLRandomState")
    else mkl_random.RandomState(77)
)
print(type(dice).__name__)
for name, given in (
    ("random_sample", ()),
    ("normal", (1.0, 2.0)),
    ("gamma", (2.0,)),
    ("poisson", (4.0,)),
    ("binomial", (10, 0.3)),
    ("exponential", ()),
    ("lognormal", ()),
    ("multivariate_normal", ([0, 1], [[1, 0.5], [0.5, 2]])),
):
    made = getattr(dice, name)(*given, size=4)
    print(name, made.dtype, made.shape, np.round(made.ravel()[:3], 4))
print(dice.randint(0, 100, size=5), dice.choice(np.arange(5.0), 3), dice.permutation(6))
print(dice.uniform(np.zeros(3, np.float32), 2.0).round(4), dice.bytes(4))
order = np.arange(6, dtype=np.int16)
dice.shuffle(order)
print(order.dtype, order, mkl_random.rand(2).shape)
try:
    dice.normal(0, -1)
except ValueError as error:
    print(repr(error))
