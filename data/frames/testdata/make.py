"""Makes stack.h5: frames as detectors write them, one bitshuffled chunk a frame, and the same frames as stack.npy.

Made with h5py 3.16.0, HDF5 2.0.0, hdf5plugin 7.1.0, numpy 2.4.6.
"""
import h5py
import hdf5plugin
import numpy as np

r = np.random.default_rng(3)
x = r.poisson(r.exponential(3, (24, 20)), (11, 24, 20)).astype("u2")
np.save("stack.npy", x)
with h5py.File("stack.h5", "w") as f:
    d = f.create_dataset("entry/data/data", shape=x.shape, dtype="u2", chunks=(1, 24, 20), **hdf5plugin.Bitshuffle(cname="lz4"))
    for i, frame in enumerate(x):
        d[i] = frame
