"""How operands and their sum are written in each framework's own code; nothing here imports one."""
from __future__ import annotations

from dataclasses import dataclass

from typelattice.facts.dtypes import Kind
from typelattice.operands.operand import Operand


@dataclass(frozen=True, slots=True)
class Form:
    """Templates: `{}` stands for a dtype's name, or for parts.

    `add` puts two values together, `many` several at once where `add` one after another would be another question;
    `meet` asks where two dtypes meet, without values; `truth` is what bool is called; `small`: whether
    it computes with dtypes of less than a byte.
    """

    setup: str = ""
    array: str = "{}"
    zero_d: str = "{}:0d"
    add: str = "{} + {}"
    many: str = ""
    dtype: str = ""
    meet: str = ""
    truth: str = "bool"
    small: bool = False


PLAIN = Form(many="result_type({})")
FORMS = {  # by the name of a system, or the first word of its `library`
    "numpy": Form(
        "import numpy as np", "np.ones(1, '{}')", "np.ones((), '{}')", "{} + {}", "np.result_type({})",
        "np.dtype('{}')", "np.promote_types({}, {})",
    ),
    "numpy-ml-dtypes": Form(
        "import numpy as np, ml_dtypes", "np.ones(1, '{}')", "np.ones((), '{}')", "{} + {}", "np.result_type({})",
        "np.dtype('{}')", "np.promote_types({}, {})", small=True,
    ),
    "dask": Form(
        "import dask.array as da", "da.ones(1, dtype='{}')", "da.ones((), dtype='{}')", "{} + {}", "da.result_type({})",
    ),
    "cupy": Form("import cupy as cp", "cp.ones(1, '{}')", "cp.ones((), '{}')", "{} + {}", "cp.result_type({})"),
    "array-api-strict": Form(
        "import array_api_strict as xp", "xp.ones(1, dtype=xp.{})", "xp.ones((), dtype=xp.{})", "{} + {}",
        "xp.result_type({})", "xp.{}", "xp.result_type({}, {})",
    ),
    "jax": Form(
        "import jax, jax.numpy as jnp; jax.config.update('jax_enable_x64', True)",
        "jnp.ones(1, '{}')", "jnp.ones((), '{}')", "{} + {}", "jnp.result_type({})",
        "jnp.dtype('{}')", "jnp.promote_types({}, {})",
    ),
    "jax-x32": Form(
        "import jax, jax.numpy as jnp; jax.config.update('jax_enable_x64', False)",
        "jnp.ones(1, '{}')", "jnp.ones((), '{}')", "{} + {}", "jnp.result_type({})",
    ),
    "jax-strict": Form(
        "import jax, jax.numpy as jnp; jax.config.update('jax_enable_x64', True); "
        "jax.config.update('jax_numpy_dtype_promotion', 'strict')",
        "jnp.ones(1, '{}')", "jnp.ones((), '{}')", "{} + {}", "jnp.result_type({})",
        "jnp.dtype('{}')", "jnp.promote_types({}, {})",
    ),
    "jax-lax": Form(
        "import jax, jax.numpy as jnp; jax.config.update('jax_enable_x64', True)",
        "jnp.ones(1, '{}')", "jnp.ones((), '{}')", "jax.lax.add({}, {})",
    ),
    "torch": Form(
        "import torch", "torch.ones(1, dtype=torch.{})", "torch.ones((), dtype=torch.{})", "{} + {}", "",
        "torch.{}", "torch.promote_types({}, {})",
    ),
    "tensorflow": Form("import tensorflow as tf", "tf.ones(1, tf.{})", "tf.ones((), tf.{})", "tf.add({}, {})"),
    **{
        f"tensorflow-{mode}": Form(
            "import tensorflow as tf; tnp = tf.experimental.numpy; "
            f"tnp.experimental_enable_numpy_behavior(False, '{mode}')",
            "tf.ones(1, tf.{})", "tf.ones((), tf.{})", add,
        )
        for mode, add in (("legacy", "tnp.add({}, {})"), ("safe", "tf.add({}, {})"), ("all", "tf.add({}, {})"))
    },
    "mlx": Form("import mlx.core as mx", "mx.ones(1, mx.{})", "mx.ones((), mx.{})", truth="bool_"),
    "keras": Form(  # with the KERAS_BACKEND that the system is named after; `+` would be the backend's own
        "import keras", "keras.KerasTensor((1,), '{}')", "keras.KerasTensor((), '{}')", "keras.ops.add({}, {})", "",
        "'{}'", "keras.backend.result_type({}, {})",
    ),
    "ndonnx": Form("import ndonnx as ndx", "ndx.ones(1, dtype=ndx.{})", "ndx.ones((), dtype=ndx.{})"),
    "arrow-unify": Form(
        "import pyarrow as pa", "pa.schema([pa.field('x', '{}')])",
        add="pa.unify_schemas([{}, {}], promote_options='permissive')",
    ),
    "pyarrow": Form(
        "import pyarrow as pa, pyarrow.compute as pc",
        "pc.cast(pa.array([1]), '{}')", "pc.cast(pa.scalar(1), '{}')", "pc.add({}, {})",
    ),
    "python": Form(array="", zero_d=""),
}  # fmt: skip
SCALARS = {"int": "1", "float": "1.0", "complex": "1j"}


def form(names: tuple[str, ...]) -> Form:
    """The first of these that has a form, or the plain one: dtypes' names and `+`."""
    return next((FORMS[name] for name in names if name in FORMS), PLAIN)


def operand_text(form: Form, o: Operand, as_dtype: bool) -> str:
    """An operand in a framework's code; in no framework's, its operand string."""
    if o.tier == "scalar":
        return str(o) if form is PLAIN else SCALARS.get(str(o), str(o))
    if form is PLAIN or o.weak:
        return str(o)
    template = form.dtype if as_dtype else form.zero_d if o.tier == "0d" else form.array
    return template.format(form.truth if o.kind is Kind.BOOL else o.dtype)
