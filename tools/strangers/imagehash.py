import imagehash
import numpy as np
from PIL import Image, ImageFilter

dice = np.random.default_rng(7)
coarse = Image.fromarray(dice.integers(0, 256, (12, 12, 3), dtype=np.uint8))
picture = coarse.resize((120, 90), Image.Resampling.BICUBIC)
blurred = picture.filter(ImageFilter.GaussianBlur(2))
for name in ("average_hash", "phash", "phash_simple", "dhash", "dhash_vertical", "colorhash"):
    function = getattr(imagehash, name)
    one, two = function(picture), function(blurred)
    print(name, one, one - two, one == two, one.hash.dtype, one.hash.shape)
wavelets = imagehash.whash(picture, hash_size=8)
print(repr(wavelets.hash[0]), len(wavelets), imagehash.hex_to_hash(str(wavelets)) == wavelets)
parts = imagehash.crop_resistant_hash(picture, min_segment_size=100, segmentation_image_size=60)
print(parts, parts.matches(imagehash.crop_resistant_hash(blurred, min_segment_size=100)))
try:
    imagehash.average_hash(picture, hash_size=1)
except ValueError as error:
    print(repr(error))
