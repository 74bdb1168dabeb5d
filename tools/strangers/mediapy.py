import mediapy
import numpy as np

dice = np.random.default_rng(22)
picture = dice.random((24, 32, 3)).astype(np.float32)
print(mediapy.to_uint8(picture).dtype, mediapy.to_float01(mediapy.to_uint8(picture)).dtype)
mediapy.write_image("picture.png", picture)
back = mediapy.read_image("picture.png")
print(back.dtype, back.shape, int(back.sum()))
shown = mediapy.to_rgb(picture[..., 0], vmin=0.2, vmax=0.9, cmap="viridis")
print(shown.dtype, shown.shape, np.round(shown[0, 0], 4))
small = mediapy.resize_image(picture, (12, 16))
print(small.dtype, small.shape, np.round(small.mean(), 5))
ramp = mediapy.color_ramp((4, 6))
print(ramp.dtype, np.round(ramp[1, 2], 4), mediapy.moving_circle((8, 8), 3).shape)
print(len(mediapy.compress_image(mediapy.to_uint8(picture))), mediapy.to_type(picture, np.uint16).max())
for wrong in (np.zeros((3, 3), complex), np.full((2, 2), 7.0)):
    try:
        print(mediapy.to_uint8(wrong).max())
    except Exception as error:
        print(repr(error)[:70])
