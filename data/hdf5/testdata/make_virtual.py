"""Makes the folder virtual beside this file and tiny/virtual_*.h5: python make_virtual.py [DIR].

earliest.h5 and latest.h5 in it hold virtual datasets, the other files their
sources; want.h5 holds what the HDF5 library reads through them, under the same
names. The two differ in the versions of selections and of the list of mappings.
Made with h5py 3.16.0, HDF5 2.0.0, numpy 2.4.6.
"""
import os
import sys
import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

U = h5s.UNLIMITED


def rule(shape, dtype="i4", add=0):
    return (np.arange(int(np.prod(shape))) % 100 + add).reshape(shape).astype(dtype)


def space(shape, limits=None, slabs=None):
    """A dataspace of which slabs (start, count, stride, block) are selected, all if None."""
    s = h5s.create_simple(shape, limits or shape)
    for k, (start, count, stride, block) in enumerate(slabs or []):
        s.select_hyperslab(start, count, stride, block, op=h5s.SELECT_OR if k else h5s.SELECT_SET)
    return s


def one(start, shape):
    return [(start, (1,) * len(shape), None, shape)]


def virtual(f, name, shape, maps, dtype="<i4", limits=None, fill=-1):
    p = h5p.create(h5p.DATASET_CREATE)
    t = dtype if isinstance(dtype, h5t.TypeID) else h5t.py_create(np.dtype(dtype))
    if fill is not None:
        p.set_fill_value(np.asarray(fill, "<i4"))
    for to, file, path, source in maps:
        p.set_virtual(to, file.encode(), path.encode(), source)
    h5d.create(f.id, name.encode(), t, h5s.create_simple(shape, limits or shape), p)


def sources(dir):
    os.makedirs(f"{dir}/sub", exist_ok=True)
    with h5py.File(f"{dir}/a.h5", "w") as f:
        f["plain"] = rule((6, 8))
        f.create_dataset("chunked", data=rule((6, 8), "<i4", 200), chunks=(4, 3), compression="gzip")
        f.create_dataset("big", data=rule((6, 8), ">i2", -50))
        f.create_dataset("float", data=rule((6, 8), "<f8", -50) * 1.5)
        f.create_dataset("huge", data=np.array([1e30, -1e30, 3.99, -3.99, 0, 2**31, -2**31, 7], "<f8"))
        f.create_dataset("i8", data=np.array([2**40, -2**40, 3, -3, 0, 2**31, -2**31, 7], "<i8"))
        f.create_dataset("u8", data=np.array([2**64 - 1, 2**63, 300, 7, 0, 1, 2**40, 255], ">u8"))
        f["scalar"] = np.int32(77)
        f.create_dataset("text", data=["a", "bc"], dtype=h5py.string_dtype())
        f["soft"] = h5py.SoftLink("/plain")
        f["far"] = h5py.ExternalLink("sub/b.h5", "/x")
    with h5py.File(f"{dir}/sub/b.h5", "w") as f:
        f["x"] = rule((6, 8), add=400)
        f["up"] = h5py.ExternalLink("../../other.h5", "/x/y")
        virtual(f, "v", (6, 8), [(space((6, 8)), "../a.h5", "plain", space((6, 8)))])
    with open(f"{dir}/text.txt", "w") as f:
        f.write("This is no HDF5 file.\n")
    for i in range(3):
        with h5py.File(f"{dir}/part_{i}.h5", "w") as f:
            f["x"] = rule((2, 5), add=100 * i)
            f.create_dataset("grow", data=rule((3 + i, 5), add=100 * i), maxshape=(None, 5), chunks=(2, 5))
    with h5py.File(f"{dir}/part_4.h5", "w") as f:
        f["x"] = rule((2, 5), add=900)


def datasets(f):
    a = (6, 8)
    f["own"] = rule(a, add=600)
    for i in range(4):
        f[f"block{i}"] = rule((2, 3), add=10 * i)
    virtual(f, "whole", a, [(space(a), "a.h5", "plain", space(a))])
    virtual(f, "chunked", a, [(space(a), "a.h5", "/chunked", space(a))])
    virtual(f, "same", a, [(space(a), ".", "own", space(a))])
    virtual(f, "soft", a, [(space(a), "a.h5", "soft", space(a))])
    virtual(f, "far", a, [(space(a), "a.h5", "far", space(a))])
    virtual(f, "nested", a, [(space(a), ".", "stack", space((3,) + a, None, one((1, 0, 0), (1,) + a)))])
    virtual(f, "deep", a, [(space(a), "sub/b.h5", "v", space(a))])
    stack = (3,) + a
    virtual(f, "stack", stack, [(space(stack, None, one((i, 0, 0), (1,) + a)), file, path, space(a))
                                for i, (file, path) in enumerate([("a.h5", "plain"), ("a.h5", "chunked"), ("sub/b.h5", "x")])])
    virtual(f, "absent", (4, 8), [
        (space((4, 8), None, one((0, 0), (1, 8))), "nofile.h5", "x", space((8,))),
        (space((4, 8), None, one((1, 0), (1, 8))), "a.h5", "nothing", space((8,))),
        (space((4, 8), None, one((2, 0), (1, 8))), "a.h5", "plain", space(a, None, one((3, 0), (1, 8))))])
    virtual(f, "strided", (5, 9), [
        (space((5, 9), None, [((1, 1), (2, 2), (2, 4), (1, 3))]), "a.h5", "chunked", space(a, None, [((0, 0), (3, 4), (2, 2), (1, 1))])),
        (space((5, 9), None, [((0, 0), (3, 3), (2, 4), (1, 1))]), "a.h5", "plain", space(a, None, [((1, 2), (1, 1), None, (3, 3))]))])
    virtual(f, "turned", (48,), [(space((48,)), "a.h5", "plain", space(a))])
    virtual(f, "odd", (7, 7), [
        (space((7, 7), None, [((0, 0), (1, 1), None, (2, 3)), ((1, 4), (1, 1), None, (4, 2)), ((5, 1), (1, 1), None, (1, 4)), ((6, 6), (1, 1), None, (1, 1))]),
         "a.h5", "plain", space(a, None, [((0, 1), (1, 1), None, (3, 4)), ((4, 0), (1, 1), None, (1, 7))]))])
    virtual(f, "scalar", (3,), [(space((3,), None, one((1,), (1,))), "a.h5", "scalar", h5s.create(h5s.SCALAR))])
    virtual(f, "overlap", (8,), [(space((8,), None, one((0,), (6,))), "a.h5", "plain", space(a, None, one((0, 0), (1, 6)))),
                                 (space((8,), None, one((4,), (4,))), "a.h5", "plain", space(a, None, one((1, 0), (1, 4))))])
    virtual(f, "empty", (4,), [])
    for kind, t in (("i4", "<i4"), ("u1", "u1"), ("f4", ">f4"), ("f8", "<f8"), ("i8", ">i8")):
        for path in ("big", "float"):
            virtual(f, f"as_{kind}_{path}", a, [(space(a), "a.h5", path, space(a))], t, fill=None)
        for path in ("huge", "i8", "u8"):
            virtual(f, f"as_{kind}_{path}", (8,), [(space((8,)), "a.h5", path, space((8,)))], t, fill=None)
    virtual(f, "grow", (0, 5), [(space((0, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))]), "part_1.h5", "grow",
                                 space((4, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))]))], limits=(U, 5))
    virtual(f, "weave", (0, 5), [(space((0, 5), (U, 5), [((i, 0), (U, 1), (3, 1), (1, 5))]), f"part_{i}.h5", "grow",
                                  space((3 + i, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))])) for i in range(3)], limits=(U, 5))
    virtual(f, "weave2", (1, 5), [(space((0, 5), (U, 5), [((2 * i + 1, 0), (U, 1), (7, 1), (2, 5))]), f"part_{i}.h5", "grow",
                                   space((3 + i, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))])) for i in range(3)], limits=(20, 5))
    virtual(f, "last", (5, 1), [(space((5, 1), (5, U), [((0, 0), (1, 1), None, (5, U))]), "part_2.h5", "grow",
                                 space((5, 5), (U, 5), [((0, 0), (1, 1), None, (U, 5))]))], limits=(5, U))
    virtual(f, "parts", (0, 5), [(space((0, 5), (U, 5), [((0, 0), (U, 1), (2, 1), (2, 5))]), "part_%b.h5", "x", space((2, 5)))], limits=(U, 5))
    virtual(f, "blocks", (2, 0), [(space((2, 0), (2, U), [((0, 1), (1, U), (1, 4), (2, 3))]), ".", "block%b", space((2, 3)))], limits=(2, U))
    virtual(f, "blocks_max", (2, 5), [(space((2, 5), (2, 12), [((0, 0), (1, U), (1, 3), (2, 3))]), ".", "/block%b", space((2, 3)))], limits=(2, 12))
    virtual(f, "noparts", (0, 5), [(space((0, 5), (U, 5), [((2, 0), (U, 1), (2, 1), (2, 5))]), "none_%b.h5", "x", space((2, 5)))], limits=(U, 5))
    virtual(f, "grow_fixed", (8, 5), [(space((8, 5), (U, 5), one((7, 0), (1, 5))), "part_1.h5", "x", space((2, 5), None, one((0, 0), (1, 5)))),
                                      (space((0, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))]), "part_0.h5", "grow",
                                       space((3, 5), (U, 5), [((0, 0), (U, 1), (1, 1), (1, 5))]))], limits=(U, 5))
    long = "a_rather_long_group_name/another_rather_long_name/x"
    f[long] = rule((4,), add=5)
    virtual(f, "shared", (8, 4), [(space((8, 4), None, one((i, 0), (1, 4))), ".", long, space((4,))) for i in range(8)])
    virtual(f, "percent", (4,), [(space((4,)), ".", "100%%", space((4,)))])
    f["100%"] = rule((4,), add=8)


def refused(f):
    """What the tests expect an error of."""
    g = f.create_group("refused")
    virtual(g, "self", (4,), [(space((4,)), ".", "refused/self", space((4,)))])
    virtual(g, "ping", (4,), [(space((4,)), ".", "refused/pong", space((4,)))])
    virtual(g, "pong", (4,), [(space((4,)), ".", "refused/ping", space((4,)))])
    virtual(g, "parent", (6, 8), [(space((6, 8)), "../outside.h5", "x", space((6, 8)))])
    virtual(g, "absolute", (6, 8), [(space((6, 8)), "/nowhere/outside.h5", "x", space((6, 8)))])
    virtual(g, "link", (3,), [(space((3,)), "sub/b.h5", "up", space((3,)))])
    virtual(g, "short", (9,), [(space((9,)), "a.h5", "huge", space((9,), None, one((0,), (9,))))])
    virtual(g, "rank", (8,), [(space((8,)), "a.h5", "plain", space((8,)))])
    virtual(g, "text", (2,), [(space((2,)), "a.h5", "text", space((2,)))], h5t.py_create(h5py.string_dtype(), logical=True), fill=None)
    virtual(g, "type", (2,), [(space((2,)), "a.h5", "text", space((2,)))])
    virtual(g, "nofile", (2,), [(space((2,)), "text.txt", "x", space((2,)))])
    virtual(g, "near", (6, 8), [(space((6, 8)), "/nowhere/a.h5", "plain", space((6, 8)))])


def main(dir="virtual", small="tiny"):
    sources(dir)
    for lib in ("earliest", "latest"):
        with h5py.File(f"{dir}/{lib}.h5", "w", libver=lib) as f:
            datasets(f)
            refused(f)
    with h5py.File(f"{dir}/latest.h5") as f, h5py.File(f"{dir}/earliest.h5") as e, h5py.File(f"{dir}/want.h5", "w", libver="latest") as w:
        for name, d in f.items():
            if isinstance(d, h5py.Dataset) and d.is_virtual:
                try:
                    v = d[()]
                except OSError as err:
                    print("ERR", name, err)
                    continue
                assert np.array_equal(v, e[name][()]), (name, v, e[name][()])
                w.create_dataset(name, data=v)
                print(name, d.shape, v.reshape(-1)[:12])
    for lib in ("earliest", "latest"):
        def tiny(name, write):
            with h5py.File(f"{small}/virtual_{name}_{lib}.h5", "w", libver=lib) as f:
                write(f)

        tiny("plain", lambda f: (f.__setitem__("x", rule((4, 3))), virtual(f, "v", (4, 3), [(space((4, 3)), ".", "x", space((4, 3)))]),
                                 virtual(f, "w", (4, 3), [(space((4, 3)), "virtual_plain_latest.h5", "v", space((4, 3)))])))
        tiny("blocks", lambda f: ([f.__setitem__(f"x{i}", rule((2,))) for i in range(3)],
                                  virtual(f, "v", (0,), [(space((0,), (U,), [((0,), (U,), (2,), (2,))]), ".", "x%b", space((2,)))], limits=(U,))))
        tiny("odd", lambda f: (f.__setitem__("x", rule((4, 4))), virtual(f, "v", (4, 4), [
            (space((4, 4), None, [((0, 0), (1, 1), None, (2, 2)), ((1, 3), (1, 1), None, (2, 1))]), ".", "x", space((4, 4), None, [((0, 0), (3, 2), (1, 2), (1, 1))]))])))
        tiny("grow", lambda f: (f.create_dataset("x", data=rule((4, 2)), maxshape=(None, 2)), virtual(f, "v", (0, 2), [
            (space((0, 2), (U, 2), [((0, 0), (U, 1), (2, 1), (1, 2))]), ".", "x", space((4, 2), (U, 2), [((0, 0), (U, 1), (1, 1), (1, 2))]))], limits=(U, 2))))
        tiny("shared", lambda f: (f.__setitem__("a_long_name_of_a_source/" * 3 + "x", rule((2,))), virtual(f, "v", (6,), [
            (space((6,), None, one((2 * i,), (2,))), ".", "a_long_name_of_a_source/" * 3 + "x", space((2,))) for i in range(3)])))
        tiny("loop", lambda f: virtual(f, "v", (4,), [(space((4,)), ".", "v", space((4,)))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
