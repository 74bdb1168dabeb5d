import astropy.units as u
import numpy as np
from astropy.coordinates import SkyCoord
from sunpy.coordinates import frames, get_earth, sun
from sunpy.image.resample import resample, reshape_image_to_4d_superpixel
from sunpy.image.transform import affine_transform
from sunpy.time import TimeRange, parse_time

point = SkyCoord(
    np.array([100, -200, 300]) * u.arcsec,
    [50, 400, -300] * u.arcsec,
    obstime="2020-01-01",
    observer="earth",
    frame=frames.Helioprojective,
)
turned = point.transform_to(frames.HeliographicStonyhurst)
print(
    turned.lon.dtype, turned.lon.round(4), turned.lat.round(4), repr(get_earth("2020-01-01").radius.round(5))
)
print(
    sun.B0("2020-01-01").round(4),
    sun.angular_radius("2020-01-01").round(3),
    sun.carrington_rotation_number("2020-01-01"),
)
values = np.random.default_rng(14).random((30, 40)).astype(np.float32)
for method in ("nearest", "linear", "spline"):
    less = resample(values, [15, 10], method=method)
    print(method, less.dtype, less.shape, np.round(less[3, :3], 4))
print(reshape_image_to_4d_superpixel(values, [5, 4], [0, 0]).shape)
rotation = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
moved = affine_transform(values, rotation, order=1, scale=1.2, missing=0.0, method="scipy")
print(moved.dtype, moved.shape, np.round(moved[12, 10:13], 4))
span = TimeRange("2020-01-01", 6 * u.hour)
print(span.split(3)[1].center, parse_time("2020-01-01T00:00:01").jd.round(6), span.hours)
