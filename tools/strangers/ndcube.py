import astropy.units as u
import numpy as np
from astropy.nddata import StdDevUncertainty
from astropy.wcs import WCS
from ndcube import ExtraCoords, NDCollection, NDCube, NDCubeSequence

wcs = WCS(naxis=3)
wcs.wcs.ctype = "WAVE", "HPLT-TAN", "HPLN-TAN"
wcs.wcs.cunit = "Angstrom", "deg", "deg"
wcs.wcs.cdelt = 0.2, 0.5, 0.4
wcs.wcs.crpix = 0, 2, 2
wcs.wcs.crval = 10, 0.5, 1
wcs.wcs.set()
values = np.random.default_rng(18).random((3, 4, 5)).astype(np.float32)
cube = NDCube(values, wcs=wcs, unit=u.ct, uncertainty=StdDevUncertainty(np.sqrt(values)))
print(cube.shape, cube.data.dtype, cube.array_axis_physical_types)
part = cube[1:, :, 2]
print(part.shape, part.uncertainty.array.dtype, np.round((cube * 2).data[0, 0], 4), (cube + 1 * u.ct).unit)
print(cube.axis_world_coords("em.wl")[0].to(u.AA).round(3))
binned = cube.rebin((1, 2, 5), operation=np.mean)
print(
    binned.data.dtype,
    binned.data.round(4)[0],
    np.round(binned.uncertainty.array[0] if binned.uncertainty else 0, 3),
)
cube.extra_coords.add("time", 0, np.arange(3) * u.s)
print(isinstance(cube.extra_coords, ExtraCoords), cube.extra_coords.keys())
many = NDCubeSequence([cube, cube], common_axis=0)
print(many.shape, many.index_as_cube[1:4].shape, NDCollection([("a", cube), ("b", cube)]).keys())
print(cube.squeeze().shape, cube.to("ct").data.dtype, (-cube).data.sum().round(4))
