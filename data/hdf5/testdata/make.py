"""Makes the seeds beside this file: python make.py [DIR] [big].

pages.h5.gz has chunk indices so long that they come in pages.
earliest.h5, v108.h5, v110.h5 and latest.h5 have the same content in the file versions of
those names; other.h5 is what their external links point to. With "big" the
chunk indices get deep enough for every kind of block; the test that wants
those runs this script itself, they are not committed.

Numbers under /numbers and /layout follow a rule the Go test knows: element i is
i % mod + add, with the attributes mod (default 100) and add (default 0).
Made with h5py 3.16.0, HDF5 2.0.0, numpy 2.4.6.
"""
import gzip
import io
import sys
import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t


def rule(shape, dtype="f8", mod=100, add=0):
    return (np.arange(int(np.prod(shape))) % mod + add).reshape(shape).astype(dtype)


def put(g, name, shape, dtype="f8", mod=100, add=0, **kw):
    if "chunks" in kw and np.prod(shape) == 0:
        d = g.create_dataset(name, shape=shape, dtype=dtype, **kw)
    else:
        d = g.create_dataset(name, data=rule(shape, dtype, mod, add), **kw)
    d.attrs["mod"], d.attrs["add"] = mod, add
    return d


def numbers(g):
    for t in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
        add = -7 if t[0] != "u" else 3
        put(g, t, (3, 5), "<" + t, add=add)
        if t[1] != "1":
            put(g, t + "be", (3, 5), ">" + t, add=add)
    put(g, "scalar", (), "f4", add=5)
    put(g, "rank5", (2, 1, 3, 2, 2), "i2")


def low(g, name, shape, chunk, dtype=h5t.IEEE_F64LE, **kw):
    """A dataset with a creation property list made by hand."""
    p = h5p.create(h5p.DATASET_CREATE)
    if chunk:
        p.set_chunk(chunk)
    if kw.get("early"):
        p.set_alloc_time(h5d.ALLOC_TIME_EARLY)
    if kw.get("compact"):
        p.set_layout(h5d.COMPACT)
    if "gzip" in kw:
        p.set_deflate(kw["gzip"])
    s = h5s.create_simple(shape, kw.get("max", shape))
    d = h5py.Dataset(h5d.create(g.id, name.encode(), dtype, s, p))
    d[...] = rule(shape)
    d.attrs["mod"], d.attrs["add"] = 100, 0


def layout(g, big):
    n = 10 if not big else 300
    put(g, "contiguous", (7, 9))
    low(g, "compact", (4, 3), None, compact=True)
    low(g, "early", (10, 7), (4, 3), early=True)
    put(g, "single", (5, 6), chunks=(5, 6))
    put(g, "single_gzip", (5, 6), chunks=(5, 6), compression="gzip")
    put(g, "fixed", (n, 13), chunks=(4, 5))
    put(g, "fixed_gzip", (n, 13), chunks=(4, 5), compression="gzip", shuffle=True)
    put(g, "grow", (n, 13), chunks=(4, 5), maxshape=(None, 13))
    put(g, "grow_last", (13, n), chunks=(5, 4), maxshape=(13, None))
    put(g, "grow_mid", (3, n, 5), "i4", chunks=(2, 3, 4), maxshape=(3, None, 9))
    put(g, "grow_gzip", (n, 13), chunks=(4, 5), maxshape=(None, 20), compression="gzip")
    put(g, "grow_both", (n, n + 3), chunks=(4, 5), maxshape=(None, None))
    put(g, "grow_both_gzip", (n, n + 3), chunks=(4, 5), maxshape=(None, None), compression="gzip", fletcher32=True)
    put(g, "larger_max", (6, 7), chunks=(2, 3), maxshape=(20, 30))
    put(g, "lzf", (40, 9), "i4", chunks=(16, 5), compression="lzf")
    put(g, "lzf_shuffle", (40, 9), "f4", chunks=(16, 5), compression="lzf", shuffle=True, fletcher32=True)
    put(g, "fletcher", (5, 3), "u1", chunks=(5, 3), fletcher32=True)
    put(g, "shuffle", (9, 4), "i8", chunks=(2, 4), shuffle=True)
    put(g, "all", (30, 20), "i4", chunks=(7, 8), shuffle=True, compression="gzip", compression_opts=9, fletcher32=True)
    put(g, "empty", (0, 3))
    put(g, "empty_chunked", (0, 3), chunks=(2, 3), maxshape=(None, 3))
    if big:
        put(g, "fixed_paged", (50000,), "u1", chunks=(10,))
        put(g, "fixed_paged_gzip", (50000,), "u1", chunks=(10,), compression="gzip")
        put(g, "grow_deep", (60000,), "u1", chunks=(4,), maxshape=(None,))
        put(g, "grow_deep_gzip", (9000, 3), "u1", chunks=(1, 3), maxshape=(None, 3), compression="gzip")
    else:
        put(g, "fixed_some", (60,), "u1", chunks=(2,))


def deep(g):
    """Super blocks whose data blocks come in pages begin near chunk 131,000."""
    for name, kw in (("plain", {}), ("gzip", {"compression": "gzip"})):
        d = g.create_dataset(name, (2000000,), "u1", chunks=(10,), maxshape=(None,), **kw)
        d[1600000:1600005] = [7, 8, 9, 10, 11]
        d[25] = 3


def fill(g):
    d = g.create_dataset("sparse", (20, 20), "i4", chunks=(5, 5), fillvalue=-3, compression="gzip")
    d[6:8, 6:8] = 1
    g.create_dataset("none", (4, 5), "f8", fillvalue=2.5)
    g.create_dataset("zero", (4, 5), "f8", chunks=(2, 2))


def text(g):
    g["fixed"] = np.array([b"ab", b"cde", b""])
    g.create_dataset("vlen", data=["héllo", "", "world " * 30], dtype=h5py.string_dtype())
    g.create_dataset("ascii", data=[b"one", b"two"], dtype=h5py.string_dtype("ascii"))
    g["scalar"] = "a string"
    g.create_dataset("chunked", data=[f"s{i}" for i in range(25)], dtype=h5py.string_dtype(), chunks=(10,), compression="gzip")
    for name, pad in (("nullterm", h5t.STR_NULLTERM), ("nullpad", h5t.STR_NULLPAD), ("space", h5t.STR_SPACEPAD)):
        t = h5t.C_S1.copy()
        t.set_size(6)
        t.set_strpad(pad)
        d = h5d.create(g.id, name.encode(), t, h5s.create_simple((2,)))
        b = {"space": b"ab    c d   "}.get(name, b"ab\0\0\0\0c d\0\0\0")
        d.write(h5s.ALL, h5s.ALL, np.frombuffer(b, "S6"), t)
    g.create_dataset("never", (3,), dtype=h5py.string_dtype())


def types(g):
    g["bool"] = np.array([True, False, True])
    e = h5py.enum_dtype({"RED": 0, "GREEN": 1, "BLUE": 42}, basetype="i2")
    g.create_dataset("enum", data=np.array([42, 0, 1], "i2"), dtype=e)
    dt = np.dtype([("name", "S8"), ("x", ">f8"), ("n", "i4"), ("v", "f4", (3,)), ("in", [("a", "u1"), ("b", "i2")])])
    r = np.zeros(3, dt)
    r["name"], r["x"], r["n"], r["v"] = [b"a", b"bb", b"ccc"], [1, 2, 3], [4, 5, 6], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    r["in"]["a"], r["in"]["b"] = [1, 2, 3], [-1, -2, -3]
    g["compound"] = r
    mixed = np.zeros(2, np.dtype([("s", h5py.string_dtype()), ("x", "f4")]))
    mixed["s"], mixed["x"] = ["first", "second"], [1.5, 2.5]
    g["mixed"] = mixed
    g["complex"] = np.array([1 + 2j, 3 - 4j])
    d = g.create_dataset("array", (2, 3), dtype=np.dtype(("i4", (4,))))
    d[...] = rule((2, 3, 4), "i4")
    g["opaque"] = np.array([b"\x01\x02\x03"], "V3")
    d = g.create_dataset("vlen", (3,), dtype=h5py.vlen_dtype("i4"))
    d[0], d[1] = [1, 2, 3], []
    d[2] = [4, 5]
    g.create_dataset("refs", data=[g["bool"].ref, g.ref], dtype=h5py.ref_dtype)
    g["named"] = np.dtype("i4")
    g.create_dataset("committed", data=[1, 2, 3], dtype=g["named"])
    g["null"] = h5py.Empty("f4")
    t = h5t.STD_I32LE.copy()
    t.set_precision(12)
    t.set_offset(4)
    d = h5d.create(g.id, b"bits12", t, h5s.create_simple((3,)))
    d.write(h5s.ALL, h5s.ALL, np.array([-2048, 5, 2047], "i4"), h5t.NATIVE_INT32)
    t = h5t.IEEE_F32LE.copy()
    t.set_fields(15, 7, 8, 0, 7)
    t.set_precision(16)
    t.set_size(2)
    t.set_ebias(127)
    d = h5d.create(g.id, b"bfloat16", t, h5s.create_simple((4,)))
    d.write(h5s.ALL, h5s.ALL, np.array([1.5, -2, 0, np.inf], "f4"), h5t.NATIVE_FLOAT)


def links(f):
    g = f.create_group("links")
    f["target"] = rule((4,))
    g["soft"] = h5py.SoftLink("/target")
    g["relative"] = h5py.SoftLink("sub/x")
    g.create_group("sub")["x"] = 7
    g["dangling"] = h5py.SoftLink("/nowhere")
    g["loop"] = h5py.SoftLink("/links/loop")
    g["hard"] = f["target"]
    g["root"] = f["/"]
    x = f.create_group("far")
    x["data"] = h5py.ExternalLink("other.h5", "/x/y")
    x["group"] = h5py.ExternalLink("other.h5", "/x")
    x["missing"] = h5py.ExternalLink("absent.h5", "/x")


def many(f, big):
    g = f.create_group("many")
    for i in range(60 if not big else 3000):
        g[f"child{i:04d}"] = h5py.SoftLink(f"/number/{i}") if i % 2 else f["target"]
    g = f.create_group("attributes")
    for i in range(12 if not big else 400):
        g.attrs[f"a{i:03d}"] = i
    g = f.create_group("attributes2")
    g.attrs["text"], g.attrs["list"], g.attrs["names"] = "Å⁻¹", [1.0, 2.0, 3.0], ["a", "bc"]
    g.attrs["bool"], g.attrs["empty"], g.attrs["fixed"] = True, h5py.Empty("f4"), np.bytes_(b"fix")
    if big and f.libver[0] != "earliest":
        g.attrs["large"] = np.arange(9000.0)  # more than a header message holds


def scales(f):
    g = f.create_group("scales")
    g["x"], g["data"] = np.arange(3.0), rule((3, 2))
    g["x"].make_scale("x axis")
    g["data"].dims[0].attach_scale(g["x"])
    g["data"].dims[0].label = "x"


def pages(dir):
    """A few numbers far apart: of the pages of a chunk index, most were never written."""
    with gzip.open(f"{dir}/pages.h5.gz", "wb") as out:
        b = io.BytesIO()
        with h5py.File(b, "w", libver="latest") as f:
            for name, longest in (("grow", None), ("fixed", 1400000)):
                d = f.create_dataset(name, (1400000,), "i1", chunks=(8,), maxshape=(longest,), fillvalue=-1)
                for i in (0, 5, 40000, 330000, 1399990, 1399999):
                    d[i] = i % 100
        out.write(b.getvalue())


def tiny(dir):
    """Small files of one feature each, for the fuzz target to start from."""
    def two(name, write):
        for lib in ("earliest", "latest"):
            with h5py.File(f"{dir}/{name}_{lib}.h5", "w", libver=lib) as f:
                write(f)

    two("plain", lambda f: (put(f, "x", (3,), "i2"), f.create_group("g").create_group("h")))
    two("compact", lambda f: low(f, "c", (2,), None, compact=True))
    two("chunks", lambda f: put(f, "x", (5, 4), "u1", chunks=(2, 3), compression="gzip", shuffle=True, fletcher32=True))
    two("lzf", lambda f: put(f, "x", (50,), "u1", chunks=(50,), compression="lzf"))
    two("early", lambda f: low(f, "x", (4, 3), (2, 2), early=True))
    two("grow", lambda f: put(f, "x", (30,), "u1", chunks=(2,), maxshape=(None,)))
    two("grow_both", lambda f: put(f, "x", (5, 4), "u1", chunks=(2, 3), maxshape=(None, None)))
    two("fill", lambda f: f.create_dataset("x", (4,), "i2", chunks=(2,), fillvalue=7))
    two("text", lambda f: (f.create_dataset("v", data=["ab", "c"], dtype=h5py.string_dtype()), f.create_dataset("f", data=np.array([b"a", b"bc"]))))
    two("types", lambda f: types(f))
    two("links", lambda f: [f.__setitem__(f"l{i}", h5py.SoftLink(f"/l{i + 1}")) for i in range(12)] + [f.__setitem__("e", h5py.ExternalLink("o.h5", "/x"))])
    two("attrs", lambda f: [f.attrs.__setitem__(f"a{i}", i) for i in range(10)])
    two("large", lambda f: f.attrs.create("big", np.zeros(9000)) if f.libver[0] != "earliest" else None)


def main(dir=".", big=False):
    with h5py.File(f"{dir}/other.h5", "w", libver="earliest") as f:
        f["x/y"] = rule((3,), add=40)
        f["x/back"] = h5py.ExternalLink("earliest.h5", "/target")
        f["x/loop"] = h5py.ExternalLink("other.h5", "/x/loop")
    for lib in ("earliest", "v108", "v110", "latest"):
        ver = (lib, lib) if lib != "earliest" else ("earliest", "v108")
        with h5py.File(f"{dir}/{lib}.h5", "w", libver=ver, userblock_size=512 if lib == "v108" else 0) as f:
            numbers(f.create_group("numbers"))
            layout(f.create_group("layout"), big)
            fill(f.create_group("fill"))
            if big:
                deep(f.create_group("deep"))
            text(f.create_group("text"))
            types(f.create_group("types"))
            links(f)
            many(f, big)
            scales(f)


if __name__ == "__main__":
    if "big" not in sys.argv:
        tiny("tiny")
        pages(".")
    main(*(sys.argv[1:2] or ["."]), big="big" in sys.argv)
