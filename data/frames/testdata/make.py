"""Makes stack.h5: frames as detectors write them, one bitshuffled chunk a frame, the same frames as stack.npy, and master.h5, whose frames are
in part_1.h5 and part_2.h5.

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

# A virtual dataset of the frames of two files.
a = np.arange(6 * 3 * 4, dtype=np.uint16).reshape(6, 3, 4)
layout = h5py.VirtualLayout(a.shape, a.dtype)
for k in range(2):
    with h5py.File(f"part_{k + 1}.h5", "w", libver="latest") as f:
        f["frames"] = a[3 * k : 3 * k + 3]
    layout[3 * k : 3 * k + 3] = h5py.VirtualSource(f"part_{k + 1}.h5", "frames", (3, 3, 4))
with h5py.File("master.h5", "w", libver="latest") as f:
    f.create_virtual_dataset("/entry/data/data", layout, fillvalue=7)

# Frames packed by ZFP, which are refused (hdf5plugin 7.1).
with h5py.File("zfp.h5", "w", libver="latest") as f:
    f.create_dataset("entry/data/data", data=np.arange(2 * 3 * 4, dtype="f4").reshape(2, 3, 4), chunks=(1, 3, 4), **hdf5plugin.Zfp(reversible=True))
