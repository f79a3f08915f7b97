"""Makes others.zip: detector images as fabio and tifffile write them, each with its numbers as they read it (NAME.npy).

Made with fabio 2026.6.0, tifffile 2026.3.3, imagecodecs 2026.3.6, numpy 2.4.6.
"""
import io
import os
import tempfile
import zipfile

import fabio
import numpy as np
import tifffile

r = np.random.default_rng(4)
counts = r.poisson(r.exponential(40, (37, 53)))
counts[3, 5], counts[20, 30] = 65000, 0
real = np.where(counts > 3, np.sqrt(counts), np.nan)
pages = r.poisson(5, (3, 37, 53)).astype("u2")


def tiff(**more):
    return lambda name, x: tifffile.imwrite(name, x, **more)


tile = (16, 16)
files = {
    "tiled_deflate_u2.tif": (counts.astype("u2"), tiff(tile=tile, compression="zlib", predictor=2)),
    "tiled_lzw_i4.tif": (counts.astype("i4") - 7, tiff(tile=tile, compression="lzw", predictor=True, byteorder=">")),
    "zstd_f4.tif": (real.astype("f4"), tiff(compression="zstd", predictor=3, rowsperstrip=8)),
    "zstd_u4.tif": (counts.astype("u4") * 50000, tiff(compression="zstd", tile=tile)),
    "deflate_f8.tif": (real, tiff(compression="adobe_deflate", predictor=3, byteorder=">")),
    "half.tif": (real.astype("f2"), tiff()),
    "packbits_u1.tif": ((counts % 256).astype("u1"), tiff(compression="packbits", rowsperstrip=5)),
    "big_i8.tif": (counts.astype("i8") - 2**40, tiff(bigtiff=True)),
    "big_tiled_u2.tif": (counts.astype("u2"), tiff(bigtiff=True, tile=tile, compression="zlib", predictor=True, byteorder=">")),
    "ome_u2.ome.tif": (counts.astype("u2"), tiff(ome=True, metadata={"axes": "YX"})),
    "imagej_f4.tif": (real.astype("f4"), tiff(imagej=True)),
    "pages_u2.tif": (pages, tiff(photometric="minisblack")),
    "truth.tif": (counts > 30, tiff(compression="deflate")),
    "fabio_i4.tif": (counts.astype("i4"), lambda name, x: fabio.tifimage.TifImage(data=x).write(name)),
    "fabio_f4.tif": (real.astype("f4"), lambda name, x: fabio.tifimage.TifImage(data=x).write(name)),
    "fabio_u2.edf": (counts.astype("u2"), lambda name, x: fabio.edfimage.EdfImage(data=x, header={"title": "a = b ; {c"}).write(name)),
    "fabio_f8.edf": (real, lambda name, x: fabio.edfimage.EdfImage(data=x).write(name)),
    "fabio_i8.edf": (counts.astype("i8"), lambda name, x: fabio.edfimage.EdfImage(data=x).write(name)),
    "packed_u2.edf.gz": (counts.astype("u2"), lambda name, x: fabio.edfimage.EdfImage(data=x).write(name)),
    "offsets.cbf": (counts.astype("i4") * 40 - 9, lambda name, x: fabio.cbfimage.CbfImage(data=x).write(name)),
    "wide.cbf": (np.where(counts > 60, 10**7, -counts).astype("i4"), lambda name, x: fabio.cbfimage.CbfImage(data=x, header={"_array_data.header_contents": "# Detector: PILATUS\r\n# Exposure_time 1 s"}).write(name)),
}
with tempfile.TemporaryDirectory() as dir, zipfile.ZipFile("others.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
    for name, (x, write) in files.items():
        path = os.path.join(dir, name)
        write(path, x)
        read = fabio.open(path).data if "fabio" in name or name.endswith(("gz", "cbf")) else tifffile.imread(path)
        assert np.array_equal(read, x, equal_nan=x.dtype.kind == "f"), name
        z.write(path, name)
        values = io.BytesIO()
        np.save(values, x.astype("f8"))
        z.writestr(name + ".npy", values.getvalue())
