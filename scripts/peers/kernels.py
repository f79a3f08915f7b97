"""Matrix products of NumPy and Fourier transforms of SciPy.

    kernels.py product BATCH M N K true|false float64|float32
    kernels.py fft ROWS COLUMNS
"""

import sys

import numpy as np

from serve import THREADS, serve


def wave(n, step, dtype):
    return np.cos(step * np.arange(n)).astype(dtype)


def product(batch, m, n, k, transposed, dtype):
    batch, m, n, k = int(batch), int(m), int(n), int(k)
    a = wave(batch * m * k, 0.7, dtype)
    b = wave(batch * k * n, 0.3, dtype).reshape(batch, k, n)
    a = a.reshape(batch, k, m).transpose(0, 2, 1) if transposed == "true" else a.reshape(batch, m, k)
    c = np.empty((batch, m, n), dtype)
    if batch == 1:
        a, b, c = a[0], b[0], c[0]

    def work():
        np.matmul(a, b, out=c)
        first = c if batch == 1 else c[0]
        return None, float(np.abs(first[:: m // 4, :: n // 4].astype(float)).sum())

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
