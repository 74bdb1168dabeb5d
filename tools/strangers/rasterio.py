import numpy as np
import rasterio
from rasterio.features import rasterize, shapes
from rasterio.fill import fillnodata
from rasterio.transform import from_origin
from rasterio.warp import Resampling, calculate_default_transform, reproject, transform_bounds
from rasterio.windows import Window

values = np.random.default_rng(20).random((2, 30, 40)).astype(np.float32)
place = from_origin(500000, 5300000, 30, 30)
with rasterio.open(
    "field.tif",
    "w",
    driver="GTiff",
    height=30,
    width=40,
    count=2,
    dtype="float32",
    crs="EPSG:32633",
    transform=place,
    nodata=-9999,
) as file:
    file.write(values)
    file.set_band_description(1, "red")
with rasterio.open("field.tif") as file:
    print(file.profile, file.bounds, file.descriptions)
    part = file.read(1, window=Window(5, 5, 4, 3))
    print(part.dtype, part.shape, part.mean().round(4), file.read(masked=True).dtype)
    print(next(file.sample([(500100, 5299900)])), file.index(500100, 5299900))
    less = file.read(out_shape=(2, 10, 10), resampling=Resampling.average)
    print(less.dtype, less.shape, less.std().round(4))
    where, width, height = calculate_default_transform(file.crs, "EPSG:4326", 40, 30, *file.bounds)
    print(width, height, transform_bounds(file.crs, "EPSG:4326", *file.bounds))
    made = np.zeros((height, width), np.float64)
    reproject(rasterio.band(file, 1), made, dst_transform=where, dst_crs="EPSG:4326")
    print(made.dtype, made.mean().round(4))
high = (values[0] > 0.9).astype(np.uint8)
found = list(shapes(high, mask=high == 1, transform=place))
print(len(found), found[0][1], rasterize([found[0][0]], (30, 40), transform=place).sum())
print(fillnodata(values[0].copy(), mask=1 - high).mean().round(4))
try:
    rasterio.open("nothing.tif")
except rasterio.errors.RasterioIOError as error:
    print(repr(error))
