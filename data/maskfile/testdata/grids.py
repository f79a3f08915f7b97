"""Makes mask.edf, mask.npz and several.npz: a mask of 2 x 3 pixels as pyFAI (1 for bad pixels) and NumPy users (1 for good ones) save it.

Made with fabio 2026.6, numpy 2.4.
"""
import fabio
import numpy as np

good = np.array([[1, 0, 1], [1, 1, 0]], dtype="i1")
fabio.edfimage.EdfImage(data=1 - good).write("mask.edf")
np.savez("mask.npz", mask=good.astype(bool), other=good, q=np.arange(3.0))
np.savez_compressed("several.npz", good=good, other=1 - good)
