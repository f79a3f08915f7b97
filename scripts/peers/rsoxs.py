"""The direct algorithm of polarized resonant scattering in NumPy and float32.

For every energy and angle: the polarization of the voxels of a volume, 32 x 512 x 512
or those of three arguments (Z, Y, X), of three materials, one of them aligned, its three transforms, the cut with the Ewald sphere
and the rotation of the image, as CyRSoXS does it. FFTW plans its transforms
(pyfftw, MEASURE) if pyfftw is installed, SciPy's pocketfft does them otherwise. A unit
of work is one energy and angle. What is in the volume does not matter to the time.
"""

import sys

import numpy as np
import scipy.fft
from scipy.ndimage import affine_transform

from serve import THREADS, serve

try:
    import pyfftw
except ImportError:
    pyfftw = None

SHAPE, SIZE, ENERGY = tuple(int(n) for n in sys.argv[1:4]) or (32, 512, 512), 2.5, 284.7
HC = 1239.84197


def volume():
    r = np.random.default_rng(1)
    uniform = lambda top: (top * r.random(SHAPE, dtype=np.float32)).astype(np.float32)
    v = [uniform(1) for _ in range(3)]
    return v, uniform(1), uniform(np.pi), uniform(2 * np.pi)


def permittivity(delta_para, beta_para, delta_perp, beta_perp):
    """e_i - 1, e_o - e_i, e_p - e_o without cancellation."""
    p, o = complex(-delta_para, beta_para), complex(-delta_perp, beta_perp)
    i = (p + 2 * o) / 3
    return [np.complex64(c) for c in (i * (2 + i), (o - i) * (2 + o + i), (p - o) * (2 + p + o))]


OPTICS = [permittivity(1e-3, 2e-3, 1e-3, 2e-3), permittivity(2e-3, 3e-3, 5e-4, 1e-3), permittivity(3e-3, 1e-3, 3e-3, 1e-3)]


def polarization(fields, e, out):
    v, order, theta, psi = fields
    st = np.sin(theta)
    s = (np.cos(psi) * st, np.sin(psi) * st, np.cos(theta))
    pa = v[1] * order
    iso = sum(o[0] * f for o, f in zip(OPTICS, v)) + OPTICS[1][1] * pa
    along = OPTICS[1][2] * (pa * (s[0] * np.float32(e[0]) + s[1] * np.float32(e[1])))
    for i in range(3):
        out[i][...] = (iso * np.float32(e[i]) + along * s[i]) * np.float32(1 / (4 * np.pi))


class Transform:
    """Three complex transforms in place."""

    def __init__(self):
        if pyfftw:
            self.arrays = [pyfftw.empty_aligned(SHAPE, "complex64") for _ in range(3)]
            plan = lambda a: pyfftw.FFTW(a, a, axes=(0, 1, 2), threads=THREADS, flags=("FFTW_MEASURE",))
            self.plans = [plan(a) for a in self.arrays]
        else:
            self.arrays = [np.empty(SHAPE, np.complex64) for _ in range(3)]

    def run(self):
        for i, a in enumerate(self.arrays):
            if pyfftw:
                self.plans[i].execute()
            else:
                self.arrays[i] = scipy.fft.fftn(a, workers=THREADS, overwrite_x=True)


def cut(f):
    """The image on the Ewald sphere, linear between planes of the intensity."""
    nz, ny, nx = SHAPE
    k = 2 * np.pi * ENERGY / HC
    axis = lambda n: -np.pi / SIZE + 2 * np.pi / (SIZE * (n - 1)) * np.arange(n)
    qz, qy, qx = axis(nz), axis(ny)[:, None], axis(nx)[None, :]
    rest = k * k - qx**2 - qy**2
    z = (np.sqrt(np.maximum(rest, 0)) - k + np.pi / SIZE) / (qz[1] - qz[0])
    z0 = np.clip(np.floor(z).astype(int), 0, nz - 2)
    w = z - z0
    iy, ix = ((ny // 2 - np.arange(ny)) % ny)[:, None], ((nx // 2 - np.arange(nx)) % nx)[None, :]
    image = np.zeros((ny, nx))
    for plane, weight in ((z0, 1 - w), (z0 + 1, w)):
        a = [g[(nz // 2 - plane) % nz, iy, ix] for g in f]
        kappa = (qx, qy, k + qz[plane])
        dot = sum(c * g for c, g in zip(kappa, a))
        image += weight * sum(np.abs(k * k * g - c * dot) ** 2 for c, g in zip(kappa, a))
    image[rest < 0] = np.nan
    return image


def turned(image, angle):
    s, c = np.sin(angle), np.cos(angle)
    m, centre = np.array([[c, s], [-s, c]]), np.array(image.shape) / 2
    return affine_transform(image, m, offset=centre - m @ centre, order=1, cval=np.nan)


fields, transform, angle = volume(), Transform(), 0.0


def work():
    global angle
    angle += 0.1
    polarization(fields, (np.cos(angle), np.sin(angle), 0), transform.arrays)
    transform.run()
    turned(cut(transform.arrays), angle)
    return None, None


library = f"pyfftw {pyfftw.__version__}" if pyfftw else f"SciPy {scipy.__version__}"
serve(f"NumPy {np.__version__} with {library}", work)
