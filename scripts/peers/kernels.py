"""Matrix products of NumPy and Fourier transforms of SciPy.

    kernels.py product SIZE float64|float32
    kernels.py fft ROWS COLUMNS
"""

import sys

import numpy as np

from serve import THREADS, serve


def wave(n, step, dtype):
    return np.cos(step * np.arange(n)).astype(dtype)


def product(size, dtype):
    n = int(size)
    a, b = (wave(n * n, step, dtype).reshape(n, n) for step in (0.7, 0.3))

    def work():
        c = a @ b
        return None, float(np.abs(c[:: n // 4, :: n // 4].astype(float)).sum())

    serve(f"NumPy {np.__version__}", work)


def fft(rows, columns):
    import scipy
    import scipy.fft

    x = wave(int(rows) * int(columns), 0.7, np.float32).reshape(int(rows), int(columns))

    def work():
        f = scipy.fft.rfft2(x, workers=THREADS)
        return None, float(np.abs(f[1, :64].astype(complex)).sum())

    serve(f"SciPy {scipy.__version__}", work)


{"product": product, "fft": fft}[sys.argv[1]](*sys.argv[2:])
