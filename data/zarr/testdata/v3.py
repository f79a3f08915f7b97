"""Makes v3.zip: stores of Zarr version 3 as xarray, ArviZ 1 and zarr-python write them, one in each folder, with the values that
TestVersion3 computes.

Made with zarr 3.1.6, xarray 2026.9.0, arviz-base 0.8.2 (the part of ArviZ 1 that writes), numpy 2.4.
"""
import os
import shutil
import tempfile
import warnings
import zipfile

import arviz_base
import numpy as np
import xarray as xr
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

warnings.simplefilter("ignore")
top = tempfile.mkdtemp()
mu = np.arange(2 * 30, dtype=float).reshape(2, 30) / 8
theta = np.arange(2 * 30 * 3, dtype=float).reshape(2, 30, 3) / 16
post = xr.Dataset({"mu": (("chain", "draw"), mu), "theta": (("chain", "draw", "school"), theta), "ok": (("chain", "draw"), np.arange(60).reshape(2, 30) % 3 == 0)},
                  coords={"chain": np.arange(2), "draw": np.arange(30), "school": ["a", "bb", "ccc"]})
xr.DataTree.from_dict({"posterior": post}).to_zarr(top + "/xarray", zarr_format=3)
arviz_base.from_dict({"posterior": {"mu": mu, "theta": theta}}, dims={"theta": ["school"]}, coords={"school": ["a", "bb", "ccc"]}).to_zarr(top + "/arviz", zarr_format=3)

root = zarr.create_group(top + "/codecs")
g = root.create_group("posterior")


def add(name, data, **how):
    a = zarr.create(store=top + "/codecs", path="posterior/" + name, shape=data.shape, dtype=data.dtype, zarr_format=3, dimension_names=["chain", "draw"], **how)
    a[...] = data


add("zstd", mu, chunks=(1, 7), codecs=[BytesCodec(), ZstdCodec(level=3, checksum=True)])
add("gzip", mu, chunks=(2, 8), codecs=[BytesCodec(endian="big"), GzipCodec(level=5), Crc32cCodec()])
add("blosc", mu, chunks=(1, 30), codecs=[BytesCodec(), BloscCodec(cname="lz4", typesize=8, shuffle="shuffle")])
add("turned", mu, chunks=(2, 7), codecs=[TransposeCodec(order=(1, 0)), BytesCodec(), Crc32cCodec()])
add("shards", mu, chunks=(2, 12), codecs=[ShardingCodec(chunk_shape=(1, 4), codecs=[BytesCodec(), ZstdCodec()])])
add("shards_begin", mu.astype("f4"), chunks=(2, 12), codecs=[ShardingCodec(chunk_shape=(2, 3), codecs=[TransposeCodec(order=(1, 0)), BytesCodec(endian="big")], index_codecs=[BytesCodec()], index_location="start")])
add("dots", mu.astype("i2"), chunks=(1, 9), codecs=[BytesCodec()], chunk_key_encoding=("v2", "."))
filled = zarr.create(store=top + "/codecs", path="posterior/filled", shape=(2, 30), dtype="f8", zarr_format=3, chunks=(1, 10), fill_value=7.5, dimension_names=["chain", "draw"])
filled[0, :10] = 1
words = zarr.create(store=top + "/codecs", path="posterior/words", shape=(2, 30), dtype=str, zarr_format=3, chunks=(2, 7), dimension_names=["chain", "draw"])
words[...] = np.array([f"w{i}" for i in range(60)]).reshape(2, 30)

out = zipfile.ZipFile("v3.zip", "w", zipfile.ZIP_DEFLATED)
for folder, _, files in sorted(os.walk(top)):
    for f in sorted(files):
        p = os.path.join(folder, f)
        info = zipfile.ZipInfo(os.path.relpath(p, top), (2026, 1, 1, 0, 0, 0))
        out.writestr(info, open(p, "rb").read(), zipfile.ZIP_DEFLATED)
out.close()
shutil.rmtree(top)
