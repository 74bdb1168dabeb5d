import numpy as np
from rasterio.io import MemoryFile
from rasterio.transform import from_bounds
from rio_cogeo.cogeo import cog_info, cog_translate, cog_validate
from rio_cogeo.profiles import cog_profiles

values = np.random.default_rng(15).integers(0, 256, (3, 300, 400), dtype=np.uint8)
profile = {
    "driver": "GTiff",
    "dtype": "uint8",
    "count": 3,
    "height": 300,
    "width": 400,
    "crs": "EPSG:4326",
    "transform": from_bounds(10, 47, 12, 49, 400, 300),
}
with MemoryFile() as memory:
    with memory.open(**profile) as written:
        written.write(values)
    with memory.open() as source:
        options = {**cog_profiles.get("deflate"), "blockxsize": 128, "blockysize": 128}
        cog_translate(source, "out.tif", options, in_memory=True, quiet=True, overview_level=1)
print(cog_validate("out.tif", quiet=True))
info = cog_info("out.tif")
print(info.Profile.Dtype, info.Profile.Width, info.GEO.CRS, [level.Width for level in info.IFD])
print(sorted(cog_profiles)[:4])
