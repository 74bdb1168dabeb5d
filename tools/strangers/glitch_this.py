import numpy as np
from glitch_this import ImageGlitcher
from PIL import Image

dice = np.random.default_rng(3)
picture = Image.fromarray(dice.integers(0, 256, (40, 60, 3), dtype=np.uint8))
glitcher = ImageGlitcher()
for amount in (1, 3.5, 8):
    made = glitcher.glitch_image(picture, amount, seed=7, color_offset=True, scan_lines=amount > 3)
    values = np.asarray(made)
    print(amount, made.mode, values.dtype, values.shape, values.sum(), values[5, :4].tolist())
frames = glitcher.glitch_image(picture, 2, glitch_change=0.5, seed=1, gif=True, frames=3)
print(len(frames), [int(np.asarray(frame).sum()) for frame in frames])
frames[0].save("frames.gif", save_all=True, append_images=frames[1:], duration=100)
try:
    glitcher.glitch_image(picture, 50)
except ValueError as error:
    print(repr(error))
