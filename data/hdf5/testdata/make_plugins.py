"""Makes plugin.h5: python make_plugins.py [FILE].

Datasets packed by plugins of the HDF5 library, under /packed. Under /plain stands what went in.
Made with h5py 3.16.0, HDF5 2.0.0, hdf5plugin 7.1.0 (c-blosc 1.21.7, bitshuffle 0.5.2), numpy 2.4.6.
"""
import sys
import h5py
import hdf5plugin as p
import numpy as np

filters = {
    "bitshuffle_lz4": p.Bitshuffle(cname="lz4"), "bitshuffle_zstd": p.Bitshuffle(cname="zstd"),
    "bitshuffle_none": p.Bitshuffle(cname="none"), "bitshuffle_block": p.Bitshuffle(nelems=64, cname="lz4"),
    "lz4": p.LZ4(), "lz4_block": p.LZ4(nbytes=300), "zstd": p.Zstd(), "bzip2": p.BZip2(),
    **{f"blosc_{c}_{s}": p.Blosc(cname=c, clevel=9, shuffle=s) for c in ("blosclz", "lz4", "zlib", "zstd") for s in (0, 1, 2)},
}
r = np.random.default_rng(5)
speckle = r.poisson(r.exponential(0.3, (3, 61)), (5, 3, 61))
data = {"u1": speckle.astype("u1"), "u2": (speckle * 300).astype("<u2"), "i4": (speckle - 1).astype("<i4"), "f8": np.cumsum(speckle, axis=2) / 7,
        "noise": r.integers(0, 256, (5, 61), dtype="u1"), "text": np.tile(np.arange(300, dtype=">u2") % 37, (3, 5))}
with h5py.File(sys.argv[1] if len(sys.argv) > 1 else "plugin.h5", "w", libver="latest") as f:
    for k, v in data.items():
        f.create_dataset("plain/" + k, data=v)
        for name, how in filters.items():
            f.create_dataset(f"packed/{name}/{k}", data=v, chunks=(2,) + v.shape[1:], **how)
