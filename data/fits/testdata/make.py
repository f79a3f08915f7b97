"""Makes the files of this folder with astropy; the numbers in them are those that the tests compute.

Run in this folder: python make.py
"""
import warnings

import astropy
import numpy as np
from astropy.io import fits

warnings.simplefilter("error")
n = np.arange(12)

# header.fits: all kinds of values, long strings, hierarchical keywords, comments
h = fits.Header()
h["STR"] = ("it's", "a string")
h["EMPTY"] = ""
h["INT"] = (-42, "an integer")
h["BIG"] = 2**62
h["FLOAT"] = 1.5e-300
h["YES"] = True
h["NO"] = (False, "no / a slash")
h["CPLX"] = 1.5 - 2j
h["UNDEF"] = fits.card.UNDEFINED
h["LONG"] = ("x" * 100 + "'" + "y" * 50, "with a comment")
h["HIERARCH ESO DET ID"] = (7, "hierarchical")
h["HIERARCH ESO NAME"] = "abc"
h.add_comment("first comment")
h.add_comment("second comment")
h.add_history("history")
h.add_blank("blank")
primary = fits.PrimaryHDU(header=h)
hdus = [primary]
a = n.reshape(3, 4)
for name, x in [("U1", a.astype("u1")), ("I1", (a - 6).astype("i1")), ("I2", (a - 6).astype("i2")), ("U2", (a + 65000).astype("u2") ), ("I4", (a * 1000000 - 6).astype("i4")),
                ("U4", (a + 4294967000).astype("u4")), ("I8", (a - 6).astype("i8") * 2**50), ("U8", a.astype("u8") + np.uint64(2**63)),
                ("F4", (a / 3).astype("f4")), ("F8", a / 3)]:
    hdus.append(fits.ImageHDU(x, name=name))
scaled = fits.ImageHDU((a - 6).astype("i2"), name="SCALED")
scaled.header["BSCALE"], scaled.header["BZERO"], scaled.header["BLANK"] = 0.5, 10.0, -6
hdus.append(scaled)
fits.HDUList(hdus).writeto("header.fits", overwrite=True, checksum=True)

# table.fits: every type of binary tables
def list_of(dtype):
    out = np.empty(12, dtype=object)
    for i in range(12):
        out[i] = np.arange(i % 4).astype(dtype) + i
    return out
cols = [
    fits.Column("L", "L", array=n % 3 == 0), fits.Column("X", "11X", array=(n[:, None] + np.arange(11)) % 2 == 1),
    fits.Column("B", "B", array=n.astype("u1")), fits.Column("I", "I", null=3, array=n.astype("i2")), fits.Column("J", "J", unit="s", array=(n * 1000).astype("i4")),
    fits.Column("K", "K", array=n * 2**40), fits.Column("E", "E", unit="km / s", array=(n / 3).astype("f4")), fits.Column("D", "D", array=np.where(n == 5, np.nan, n / 7)),
    fits.Column("C", "C", array=(n + 1j * n / 4).astype("c8")), fits.Column("M", "M", array=n - 1j * n / 8), fits.Column("A", "6A", array=np.array(["s%d" % i if i != 4 else "" for i in n])),
    fits.Column("AA", "8A", dim="(4,2)", array=np.array([["a%d" % i, "b%d" % i] for i in n])), fits.Column("E2", "6E", dim="(3,2)", array=(n[:, None, None] + np.arange(6).reshape(2, 3)).astype("f4")),
    fits.Column("PE", "PE()", array=list_of("f4")), fits.Column("QK", "QK()", array=list_of("i8")), fits.Column("PA", "PA()", array=np.array(["z" * (i % 5) for i in n], dtype=object)),
    fits.Column("UJ", "J", bzero=2**31, array=(n + 3000000000).astype("u4")),
]
fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(cols, name="T")]).writeto("table.fits", overwrite=True, checksum=True)

# ascii.fits
cols = [fits.Column("N", "I5", ascii=True, array=n * 10 - 5), fits.Column("X", "E15.7", ascii=True, array=n / 3), fits.Column("F", "F8.3", ascii=True, array=n / 4), fits.Column("S", "A5", ascii=True, array=np.array(["t%d" % i for i in n]))]
fits.HDUList([fits.PrimaryHDU(), fits.TableHDU.from_columns(cols, name="T")]).writeto("ascii.fits", overwrite=True)

# compressed.fits.fz: images of 20 rows of 30 pixels, (37 i^2 + 11 j) mod 1000 and the like
i, j = np.mgrid[:20, :30]
x = (37 * i * i + 11 * j) % 1000
f = 100 + 10 * np.sin(i + j / 5.0) + ((i * 31 + j * 17) % 23) / 7
hdus = [fits.PrimaryHDU()]
for name, data, kw in [
    ("RICE2", x.astype("i2"), dict(compression_type="RICE_1")), ("RICE4", (x * 100000 - 7).astype("i4"), dict(compression_type="RICE_1", tile_shape=(7, 8))),
    ("RICE1", (x % 250).astype("u1"), dict(compression_type="RICE_1")), ("GZ1", x.astype("i4"), dict(compression_type="GZIP_1")), ("GZ2", x.astype("i2"), dict(compression_type="GZIP_2", tile_shape=(20, 30))),
    ("LOSSLESS", f.astype("f4"), dict(compression_type="GZIP_2", quantize_level=0)), ("NODITHER", f.astype("f4"), dict(compression_type="RICE_1", quantize_level=16, quantize_method=-1)),
    ("DITHER1", f.astype("f4"), dict(compression_type="RICE_1", quantize_level=16, quantize_method=1, dither_seed=9999)), ("DITHER2", np.where((i + j) % 9 == 0, 0, f), dict(compression_type="GZIP_1", quantize_level=16, quantize_method=2, dither_seed=5, tile_shape=(20, 30))),
    ("NANS", np.where((i + j) % 9 == 0, np.nan, f).astype("f4"), dict(compression_type="RICE_1", quantize_level=16, quantize_method=1, dither_seed=17)),
    ("CUBE", (np.arange(4 * 6 * 10).reshape(4, 6, 10) % 97).astype("i4"), dict(compression_type="RICE_1", tile_shape=(3, 4, 7))), ("U2", (x + 60000).astype("u2"), dict(compression_type="RICE_1")),
    ("HCOMPRESS", x.astype("i4"), dict(compression_type="HCOMPRESS_1")),
]:
    hdus.append(fits.CompImageHDU(data, name=name, **kw))
fits.HDUList(hdus).writeto("compressed.fits.fz", overwrite=True, checksum=True)
with fits.open("compressed.fits.fz") as back:
    for name in ["NODITHER", "DITHER1", "DITHER2", "NANS"]:
        np.save(name.lower() + ".npy", back[name].data.astype("f8"))
print("made with astropy", astropy.__version__, "NumPy", np.__version__)
