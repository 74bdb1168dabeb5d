"""MLX: the module of its dtypes."""

DTYPE_MODULE = "mlx.core"
