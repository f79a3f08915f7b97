"""Makes blosc2.h5: python make_blosc2.py [FILE].

Datasets packed by the Blosc2 filter (32026), under /packed. Under /plain stands what went in. Chunks of large ones have several blocks.
Made with h5py 3.16.0, HDF5 2.0.0, hdf5plugin 7.1.0, numpy 2.4.6.
"""
import sys
import h5py
import hdf5plugin as p
import numpy as np

filters = {
    **{f"blosc2_{c}_{s}": p.Blosc2(cname=c, clevel=7, filters=s) for c in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for s in (0, 1, 2)},
    "blosc2_delta": p.Blosc2(cname="lz4", filters=p.Blosc2.DELTA), "blosc2_stored": p.Blosc2(clevel=0),
}
r = np.random.default_rng(5)
speckle = r.poisson(r.exponential(0.3, (3, 61)), (5, 3, 61))
data = {"u1": speckle.astype("u1"), "u2": (speckle * 300).astype("<u2"), "i4": (speckle - 1).astype("<i4"), "f8": np.cumsum(speckle, axis=2) / 7,
        "noise": r.integers(0, 256, (5, 61), dtype="u1"), "zeros": np.zeros((5, 61), "<f4"), "sevens": np.full((5, 7, 9), 7, "<i4"), "nan": np.full((5, 40), np.nan),
        "eight": np.arange(6 * 3 * 4 * 2, dtype="u2").reshape(6, 3, 2, 2, 2)}
large = {"large": (np.arange(2 * 310 * 421).reshape(2, 310, 421) // 9973 % 251).astype("<u2"), "wide": (np.arange(3 * 70001).reshape(3, 70001) // 50000).astype("<f8")}
with h5py.File(sys.argv[1] if len(sys.argv) > 1 else "blosc2.h5", "w", libver="latest") as f:
    for k, v in (data | large).items():
        f.create_dataset("plain/" + k, data=v, compression=9, chunks=v.shape)
        for name, how in filters.items():
            if k in data or name in ("blosc2_zstd_1", "blosc2_lz4_2", "blosc2_delta"):
                f.create_dataset(f"packed/{name}/{k}", data=v, chunks=(2,) + v.shape[1:], **how)
