import numpy as np
from color_operations import parse_operations
from color_operations.colorspace import ColorSpace, convert_arr, saturate_rgb
from color_operations.operations import gamma, sigmoidal
from color_operations.utils import math_type, scale_dtype, to_math_type

values = np.random.default_rng(17).integers(0, 256, (3, 6, 8), dtype=np.uint8)
real = to_math_type(values)
print(real.dtype, math_type, real.shape, np.round(real[:, 0, 0], 4))
for made in (sigmoidal(real, contrast=10, bias=0.15), gamma(real, 1.85), saturate_rgb(real, 1.1)):
    print(made.dtype, made.shape, np.round(made[:, 1, 2], 5))
for step in parse_operations("gamma g 1.85, gamma b 1.95, sigmoidal rgb 35 0.13, saturation 1.15"):
    real = step(np.clip(real, 0, 1))
    print(getattr(step, "__name__", "step"), real.dtype, np.round(real.mean(), 5))
lab = convert_arr(real, ColorSpace.rgb, ColorSpace.lab)
print(lab.dtype, np.round(lab[:, 0, 0], 3), scale_dtype(np.clip(real, 0, 1), np.uint16).dtype)
for wrong in ("gamma x 1", "blur r 2", "gamma r -1"):
    try:
        print(len(parse_operations(wrong)), [step(real).shape for step in parse_operations(wrong)])
    except (ValueError, KeyError) as error:
        print(repr(error)[:70])
