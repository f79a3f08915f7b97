"""Makes szip.h5, scale.h5, nbit.h5 and their like in tiny: python make_filters.py [DIR] [big].

Datasets that the HDF5 library packed with szip, n-bit and scale-offset, under
/packed. Under /plain stands what the library reads back, without filters, so
that lossy packing too is compared with the library's own result. With "big"
there are more kinds of numbers and greater shapes; the test that wants those
runs this script itself, they are not committed.
Made with h5py 3.16.0, HDF5 2.0.0 (szip by libaec), numpy 2.4.6.
"""
import sys
import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t, h5z

EC, NN = 4, 32
BIG = "big" in sys.argv


def values(kind, n, dtype):
    """Numbers of several characters, the same on every run."""
    r = np.random.default_rng(n + len(kind))
    t = np.dtype(dtype)
    if kind == "mixed":  # packs as a whole, but not every part of it
        v = values("smooth", n, dtype)
        v[n // 2:n // 2 + n // 5] = values("noise", n, dtype)[:n // 5]
        return v
    if t.kind == "f":
        v = {"smooth": np.sin(np.arange(n) / 9) * 40, "noise": r.normal(size=n) * 1e3, "flat": np.full(n, 2.5),
             "zeros": np.where(np.arange(n) % 97 == 5, 1.5, 0)}[kind]
        return v.astype(t)
    lo, hi = np.iinfo(t).min, np.iinfo(t).max
    if kind == "smooth":
        return (np.sin(np.arange(n) / 9) * 50 + (60 if lo == 0 else 0)).astype(t)
    if kind == "noise":
        return r.integers(lo, hi, n, dtype=t.newbyteorder("="), endpoint=True).astype(t)
    if kind == "wide":
        return r.integers(0, min(hi, 40000), n).astype(t)
    if kind == "zeros":
        return np.where(np.arange(n) % 97 == 5, 3, 0).astype(t)
    return np.full(n, 7).astype(t)


def make(f, name, shape, chunk, dtype, kind, setup, filetype=None, fill=None):
    p = h5p.create(h5p.DATASET_CREATE)
    p.set_chunk(chunk)
    if fill is not None:
        p.set_fill_value(np.asarray(fill, dtype))
    setup(p)
    t = filetype or h5t.py_create(np.dtype(dtype))
    d = h5py.Dataset(h5d.create(f.require_group("packed").id, name.encode(), t, h5s.create_simple(shape), p))
    v = kind if isinstance(kind, np.ndarray) else values(kind, int(np.prod(shape)), dtype).reshape(shape)
    if fill is not None and v.dtype.kind in "iuf":
        v.reshape(-1)[::7] = fill
    d[...] = v
    return name


def plain(f):
    for name, d in f["packed"].items():
        f.create_dataset("plain/" + name, data=d[()])


def szip(options, block):
    return lambda p: p.set_szip(options, block)


def scale(kind, factor):
    return lambda p: p.set_scaleoffset(kind, factor)


def nbit(p):
    p.set_filter(h5z.FILTER_NBIT, h5z.FLAG_OPTIONAL, ())


def chain(*steps):
    def all(p):
        for s in steps:
            s(p)
    return all


def shuffle(p):
    p.set_shuffle()


def gzip(p):
    p.set_deflate(9)


def fletcher(p):
    p.set_fletcher32()


def integer(base, precision, offset):
    t = base.copy()
    t.set_precision(precision)
    t.set_offset(offset)
    return t


INTS = [o + k + s for k in "iu" for s in "1248" for o in ("<", ">") if not (o == ">" and s == "1")]
SHAPE, CHUNK = ((13, 30), (5, 20)) if BIG else ((5, 9), (3, 8))


def few(all, *some):
    """all in big files, else some."""
    return all if BIG else some


def szips(f):
    for t in INTS + ["<f4", ">f4", "<f8", ">f8"]:
        n = t.replace(">", "be").replace("<", "")
        for kind in few(("smooth", "mixed", "noise", "zeros"), *(("mixed",) if t in ("<u2", ">i4", "<i8") else ("smooth",))):
            make(f, f"nn_{n}_{kind}", SHAPE, CHUNK, t, kind, szip(NN, 8))
        if BIG or t in ("<u2", ">i4", "<u1"):
            make(f, f"ec_{n}", SHAPE, CHUNK, t, "mixed", szip(EC, 8))
            make(f, f"ec_{n}_zeros", SHAPE, CHUNK, t, "zeros", szip(EC, 8))
    for block in few((2, 4, 10, 32), 2, 10):
        make(f, f"nn_block{block}", (50,), (33,), "<u2", "smooth", szip(NN, block))
        make(f, f"ec_block{block}", (50,), (33,), "<u2", "zeros", szip(EC, block))
    for block in few((2, 4, 10, 32), 4):
        make(f, f"flat{block}", (3000,), (3000,), "<u1", "flat", szip(NN, block))
        make(f, f"zeros{block}", (3000,), (3000,), "<u1", "zeros", szip(EC, block))
    make(f, "mixed", (200,), (200,), "<u2", "mixed", szip(NN, 4))
    make(f, "line", (40, 70), (40, 70), "<i1", "flat", szip(NN, 32))
    for bits in few((3, 7, 12, 20, 24), 3, 12, 20):
        dtype = "<u4" if bits > 16 else "<u2" if bits > 8 else "<u1"
        t = integer(h5t.py_create(np.dtype(dtype)), bits, 0)
        v = (values("noise", int(np.prod(SHAPE)), "<u4") % (1 << bits)).reshape(SHAPE).astype(dtype)
        make(f, f"bits{bits}", SHAPE, CHUNK, dtype, v, szip(NN, 8), t)
    make(f, "chain", (20, 10), (16, 8), "<i4", "smooth", chain(shuffle, szip(NN, 8), fletcher))
    make(f, "gzip", (20, 10), (16, 8), "<i4", "smooth", chain(szip(NN, 8), gzip))


def scales(f):
    for t in INTS:
        n = t.replace(">", "be").replace("<", "")
        for kind in few(("smooth", "noise", "flat", "zeros"), *(("smooth", "noise") if t in ("<i4", ">u8") else ("smooth",))):
            make(f, f"{n}_{kind}", SHAPE, CHUNK, t, kind, scale(h5z.SO_INT, 0))
        if BIG or t in ("<i1", ">i2", "<u4", ">i8", "<i8"):
            make(f, f"{n}_fill", SHAPE, CHUNK, t, "smooth", scale(h5z.SO_INT, 0), fill=99)
        if BIG or t in ("<i4", ">u8"):
            make(f, f"{n}_flat", SHAPE, CHUNK, t, "flat", scale(h5z.SO_INT, 0)) if not BIG else None
            make(f, f"{n}_allfill", SHAPE, CHUNK, t, "flat", scale(h5z.SO_INT, 0), fill=7)
            make(f, f"{n}_full", (10,), (8,), t, "noise", scale(h5z.SO_INT, 8 * int(t[2])))
    make(f, "bits", (60,), (50,), "<i4", "smooth", scale(h5z.SO_INT, 9))
    make(f, "fewbits", (60,), (50,), "<i4", "smooth", scale(h5z.SO_INT, 5))
    for t in ("<f4", ">f4", "<f8", ">f8"):
        n = t.replace(">", "be").replace("<", "")
        for kind in few(("smooth", "noise", "flat"), "smooth"):
            for digits in few((0, 2, 5, 14), 2):
                make(f, f"{n}_{kind}_{digits}", SHAPE, CHUNK, t, kind, scale(h5z.SO_FLOAT_DSCALE, digits))
        make(f, f"{n}_fill", SHAPE, CHUNK, t, "smooth", scale(h5z.SO_FLOAT_DSCALE, 3), fill=-4.25)
    make(f, "f4_whole", (10,), (8,), "<f4", "noise", scale(h5z.SO_FLOAT_DSCALE, 9))
    make(f, "f8_whole", (10,), (8,), ">f8", "noise", scale(h5z.SO_FLOAT_DSCALE, 17))
    make(f, "chain", (20, 10), (16, 8), "<i4", "smooth", chain(scale(h5z.SO_INT, 0), shuffle, gzip, fletcher))
    make(f, "sparse", (20, 10), (16, 8), "<i4", np.zeros((20, 10), "i4"), scale(h5z.SO_INT, 0), fill=-3)


def nbits(f):
    for name, base, precision, offset, dtype in (
            ("i1", h5t.STD_I8LE, 5, 1, "i1"), ("i2", h5t.STD_I16LE, 11, 3, "i2"), ("i2be", h5t.STD_I16BE, 11, 3, "i2"),
            ("i4", h5t.STD_I32LE, 17, 5, "i4"), ("i4be", h5t.STD_I32BE, 17, 5, "i4"), ("i4whole", h5t.STD_I32LE, 32, 0, "i4"),
            ("i8", h5t.STD_I64LE, 33, 20, "i8"), ("i8be", h5t.STD_I64BE, 33, 20, "i8"), ("u1", h5t.STD_U8LE, 3, 0, "u1"),
            ("u2", h5t.STD_U16LE, 9, 7, "u2"), ("u4be", h5t.STD_U32BE, 8, 8, "u4"), ("u8", h5t.STD_U64LE, 1, 63, "u8")):
        v = (values("noise", int(np.prod(SHAPE)), dtype).astype("i8" if dtype != "u8" else "u8") >> (8 * int(dtype[1]) - precision)).astype(dtype)
        make(f, "" + name, SHAPE, CHUNK, dtype, v.reshape(SHAPE), nbit, integer(base, precision, offset))
    for name, base in (("f4", h5t.IEEE_F32LE), ("f4be", h5t.IEEE_F32BE)):
        t = base.copy()
        t.set_fields(26, 20, 6, 7, 13)
        t.set_offset(7)
        t.set_precision(20)
        t.set_ebias(31)
        make(f, "" + name, SHAPE, CHUNK, "f4", "smooth", nbit, t)
    make(f, "f8", SHAPE, CHUNK, "f8", "smooth", nbit)
    t = integer(h5t.STD_I32LE, 12, 4)
    make(f, "array", (7, 5), (3, 4), "i4", values("wide", 210, "i4").reshape(7, 5, 2, 3) % 2000, nbit, h5t.array_create(t, (2, 3)))
    c = h5t.create(h5t.COMPOUND, 24)
    c.insert(b"a", 0, integer(h5t.STD_I32LE, 12, 4))
    c.insert(b"b", 5, integer(h5t.STD_U16BE, 7, 2))
    c.insert(b"s", 8, h5t.py_create(np.dtype("S3")))
    c.insert(b"x", 12, h5t.IEEE_F64LE)
    c.insert(b"v", 20, h5t.array_create(integer(h5t.STD_U8LE, 4, 0), (3,)))
    v = np.zeros(20, [("a", "i4"), ("b", "u2"), ("s", "S3"), ("x", "f8"), ("v", "u1", (3,))])
    v["a"], v["b"], v["s"], v["x"], v["v"] = np.arange(20) - 10, np.arange(20) * 5, b"xyz", np.arange(20) / 3, np.arange(60).reshape(20, 3) % 16
    make(f, "compound", (20,), (6,), v.dtype, v, nbit, c)
    make(f, "chain", (40, 30), (16, 16), "<i4", (values("wide", 1200, "i4") % 2000).reshape(40, 30), chain(nbit, gzip, fletcher), integer(h5t.STD_I32LE, 12, 0))


def main(dir="."):
    kinds = ("szip", szips), ("scale", scales), ("nbit", nbits)
    for name, write in kinds:
        with h5py.File(f"{dir}/{name}.h5", "w", libver="latest") as f:
            write(f)
            plain(f)
    if BIG:
        return
    for lib in ("earliest", "latest"):  # for the fuzz target to start from
        def tiny(name, *a, **kw):
            with h5py.File(f"{dir}/tiny/{name}_{lib}.h5", "w", libver=lib) as f:
                make(f, "x", *a, **kw)

        tiny("szip", (30,), (20,), "<u2", "smooth", szip(NN, 8))
        tiny("szip_ec", (30,), (20,), ">i4", "zeros", szip(EC, 4))
        tiny("scale", (30,), (20,), "<i4", "smooth", scale(h5z.SO_INT, 0), fill=99)
        tiny("scale_float", (30,), (20,), ">f4", "smooth", scale(h5z.SO_FLOAT_DSCALE, 2))
        tiny("nbit", (30,), (20,), "i4", "smooth", nbit, integer(h5t.STD_I32BE, 12, 4))
        t = h5t.create(h5t.COMPOUND, 12)
        t.insert(b"a", 0, integer(h5t.STD_I32LE, 12, 4))
        t.insert(b"b", 5, h5t.array_create(integer(h5t.STD_U16BE, 7, 2), (3,)))
        tiny("nbit_compound", (8,), (5,), [("a", "i4"), ("b", "u2", (3,))], np.ones(8, [("a", "i4"), ("b", "u2", (3,))]), nbit, t)


if __name__ == "__main__":
    main(*[a for a in sys.argv[1:2] if a != "big"])
