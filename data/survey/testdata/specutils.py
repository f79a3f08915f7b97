"""Makes specutils.zip: spectra as specutils writes them, in its formats wcs1d-fits and tabular-fits, with the numbers that it reads (NAME.json).

Made with specutils 2.4.0, astropy 8.0.2, numpy 2.4.6.
"""
import json
import os
import tempfile
import warnings
import zipfile

import astropy.units as u
import numpy as np
from astropy.nddata import InverseVariance, StdDevUncertainty, VarianceUncertainty
from astropy.wcs import WCS
from specutils import Spectrum

warnings.simplefilter("ignore")
r = np.random.default_rng(2)
n = 40
lam = np.linspace(5000, 5100, n)
flux = 1 + r.normal(0, 0.1, n)
sd = 0.1 + 0.002 * np.arange(n)
mask = np.arange(n) == 7
flam = u.Unit("erg / (s cm2 AA)")


def wcs(kind, unit, value, step):
    w = WCS(naxis=1)
    w.wcs.ctype, w.wcs.cunit, w.wcs.crval, w.wcs.cdelt, w.wcs.crpix = [kind], [unit], [value], [step], [1]
    return w


spectra = {
    "angstrom_tabular.fits": Spectrum(spectral_axis=lam * u.AA, flux=flux * flam, uncertainty=StdDevUncertainty(sd), mask=mask),
    "nm_tabular.fits": Spectrum(spectral_axis=lam / 10 * u.nm, flux=flux * u.Jy, uncertainty=InverseVariance(sd**-2)),
    "variance_tabular.fits": Spectrum(spectral_axis=np.geomspace(5000, 5100, n) * u.AA, flux=flux * u.Jy, uncertainty=VarianceUncertainty(sd**2)),
    "thz_tabular.fits": Spectrum(spectral_axis=(lam * u.AA).to(u.THz, u.spectral()), flux=flux * u.Jy, uncertainty=StdDevUncertainty(sd)),
    "angstrom_wcs1d.fits": Spectrum(wcs=wcs("WAVE", "Angstrom", 5000, 2.5), flux=flux * flam, uncertainty=StdDevUncertainty(sd), mask=mask),
    "nm_wcs1d.fits": Spectrum(wcs=wcs("WAVE", "nm", 500, 0.25), flux=flux * flam, uncertainty=VarianceUncertainty(sd**2)),
    "air_wcs1d.fits": Spectrum(wcs=wcs("AWAV", "Angstrom", 5000, 2.5), flux=flux * flam, uncertainty=InverseVariance(sd**-2)),
    "hertz_wcs1d.fits": Spectrum(wcs=wcs("FREQ", "Hz", 6e14, 1e11), flux=flux * u.Jy),
}
with tempfile.TemporaryDirectory() as dir, zipfile.ZipFile("specutils.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for name, s in spectra.items():
        path = os.path.join(dir, name)
        s.write(path, format="wcs1d-fits" if "wcs1d" in name else "tabular-fits")
        back = Spectrum.read(path)
        e = None
        if s.uncertainty is not None:
            assert back.uncertainty is not None, name
            e = sd.tolist()
        m = None if s.mask is None else np.flatnonzero(s.mask).tolist()
        z.write(path, name)
        z.writestr(name + ".json", json.dumps({"lam": s.spectral_axis.to_value(u.AA, u.spectral()).tolist(), "flux": s.flux.value.tolist(), "err": e, "masked": m}))
