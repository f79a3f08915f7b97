"""Reads a file written by TestH5pyReadsWhatWeWrite and fails on any surprise."""
import sys
import h5py
import numpy as np

f = h5py.File(sys.argv[1], "r")
count = 0


def rule(name, d):
    global count
    if not isinstance(d, h5py.Dataset) or "mod" not in d.attrs:
        return
    want = (np.arange(d.size) % d.attrs["mod"] + d.attrs["add"]).reshape(d.shape).astype(d.dtype)
    assert np.array_equal(d[()], want), (name, d[()], want)
    count += 1


f.visititems(rule)
assert count >= 30, count
assert [str(f["t/" + k].dtype) for k in ("i8", "u16", "f32", "f64", "c64", "c128", "bool")] == \
    ["int8", "uint16", "float32", "float64", "complex64", "complex128", "bool"]
assert f["t/c128"][1] == 3 - 4j
assert f["t/bool"][()].tolist() == [True, False]
assert f["t/text"].asstr()[()].tolist() == ["Å⁻¹", "", "x" * 100000], f["t/text"][()]
assert f["t/text"].dtype == h5py.string_dtype()
assert f["t/one"].asstr()[()] == "scalar"
assert f["t/fixed"][()].tolist() == [b"ab", b"cde"], f["t/fixed"][()]
assert f["t/chunked"].asstr()[()].tolist() == [f"s{i}" for i in range(1000)]
assert f["t/refs"][0] and f[f["t/refs"][0]].name == "/t/bool", f["t/refs"][0]
assert f["t/scalar"][()] == 2.5 and f["t/scalar"].shape == ()
assert f["t/empty"].shape == (0, 3)
assert len(f["many"]) == 5000 and list(f["many"])[-1] == "c4999"
assert f["many/c1234"][()] == 1234
a = f["t"].attrs
assert a["text"] == "µm" and a["n"] == 3 and a["list"].tolist() == [1.5, 2.5] and a["names"].tolist() == ["a", "b"]
assert a["yes"] == True and a["yes"].dtype == bool and a["fixed"] == b"FIX"
assert f["link"][()] == 2.5 and f.get("link", getlink=True).path == "/t/scalar"
assert f.get("far/out", getlink=True).filename == "other.h5"
assert f["far/near"][()] == 7 and f["far/soft"][()] == 2.5
assert f["grow"].maxshape == (None, 4) and f["grow"].chunks == (2, 4)
d = f["scales/data"]
assert d.dims[0][0].name == "/scales/x" and f["scales/x"].is_scale and d.dims[0].keys() == ["q"], d.dims[0].keys()
f.close()
f = h5py.File(sys.argv[1], "r+")  # the library must be able to go on writing
f["many/new"] = 1
f["t/more"] = "text"
f["grow"].resize(5, axis=0)
f["grow"][4] = 9
f["t"].attrs["another"] = 1
del f["many/c0000"]
f.close()
f = h5py.File(sys.argv[1], "r")
assert f["grow"][4, 0] == 9 and len(f["many"]) == 5000 and f["t/more"].asstr()[()] == "text"
