import jumpy
import jumpy.numpy as jp
import numpy as np
from jumpy import lax, random

x = np.random.default_rng(21).random((3, 4)).astype(np.float32)
for name in ("sum", "mean", "square", "exp", "abs", "argmax", "var", "tanh"):
    made = getattr(jp, name)(x)
    print(name, made.dtype, np.round(made, 4).ravel()[:3])
print(jp.dot(x, x.T).dtype, jp.where(x > 0.5, x, jp.zeros_like(x)).dtype, jp.concatenate([x, x]).shape)
print(
    jp.cross(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
    jp.linalg.norm(x).round(4),
    jp.safe_arccos(np.float32(2)),
)
print(
    jp.arange(0, 5).dtype,
    jp.linspace(0, 1, 3).dtype,
    jp.stack([x[0], x[1]], 1).shape,
    jp.outer(x[0], x[1]).dtype,
)
print(lax.cond(True, lambda v: v + 1, lambda v: v - 1, x[0]).round(3))
print(
    lax.fori_loop(0, 3, lambda i, v: v * 2, x[1]).round(3),
    lax.while_loop(lambda v: v < 9, lambda v: v * 3, 1.5),
)
key = random.PRNGKey(0)
print(
    np.shape(random.uniform(key, (3,))),
    random.uniform(key, (3,)).dtype,
    random.randint(key, (2,), 0, 9).dtype,
)
print(jumpy.is_jax_installed, jumpy.index_update(x[0], 1, 7.0), lax.top_k(x[0], 2))
try:
    lax.switch(1, [lambda v: v, lambda v: v / 2], x[0])
except Exception as error:
    print(repr(error)[:60])
