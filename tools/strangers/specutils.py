import astropy.units as u
import numpy as np
from astropy.modeling.models import Gaussian1D
from specutils import SpectralRegion, Spectrum
from specutils.analysis import equivalent_width, line_flux, snr
from specutils.fitting import estimate_line_parameters, fit_generic_continuum
from specutils.manipulation import FluxConservingResampler, extract_region, gaussian_smooth

dice = np.random.default_rng(1)
wavelength = np.linspace(6500, 6630, 80) * u.AA
values = 10 + 4 * np.exp(-(((wavelength.value - 6563) / 6) ** 2)) + dice.normal(0, 0.1, 80)
spectrum = Spectrum(flux=values.astype(np.float32) * u.Jy, spectral_axis=wavelength)
print(spectrum.flux.dtype, spectrum.shape)
smooth = gaussian_smooth(spectrum, stddev=2)
print(np.round(smooth.flux[:5], 3))
line = extract_region(spectrum, SpectralRegion(6540 * u.AA, 6585 * u.AA))
print(
    line.shape, np.round(line_flux(line), 2), np.round(snr(spectrum).value if spectrum.uncertainty else 0, 2)
)
continuum = fit_generic_continuum(spectrum)(wavelength)
print(np.round(continuum[::20], 2), np.round(equivalent_width(spectrum / continuum), 2))
grid = np.linspace(6510, 6620, 7) * u.AA
resampled = FluxConservingResampler()(spectrum, grid)
print(resampled.flux.dtype, np.round(resampled.flux, 3))
print(estimate_line_parameters(spectrum - continuum, Gaussian1D()).parameters.round(2))
