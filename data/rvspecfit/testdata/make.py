"""Makes files.db, a database like that of rvs_read_grid with long names, an extra parameter and more
rows than fit a page, and dict.h5, all kinds of values of rvspecfit's dictionaries.

Run in this folder: python make.py
"""
import os
import sqlite3
import h5py
import numpy as np

if os.path.exists("files.db"):
    os.unlink("files.db")
db = sqlite3.connect("files.db")
db.execute("pragma page_size = 512")
db.execute("CREATE TABLE grid_parameters(id int, name varchar, explanation varchar)")
names = ["teff", "logg", "feh", "alpha", "vmic"]
for i, k in enumerate(names):
    db.execute("INSERT INTO grid_parameters (id, name) values (?, ?)", (i, k))
db.execute("""CREATE TABLE files (filename varchar,
            teff real,
            logg real,
            feh real,
            alpha real,
            vmic real,
            id int,
            bad bool);""")
for i in range(200):
    name = "Z%d/" % i + ("x" * 2000 if i == 77 else "lte") + ".fits"
    db.execute("insert into files (filename, id, bad, teff, logg, feh, alpha, vmic) values (?,?,?,?,?,?,?,?)", (name, i, i % 10 == 3, 2300 + 100 * i, i % 6 * 0.5, -4 + i * 0.25, i % 3 * 0.2, i / 7))
db.commit()
db.execute("create index teff_idx on files(teff)")
db.commit()
db.close()

with h5py.File("dict.h5", "w") as f:
    f.attrs["version"] = 1
    def put(key, data, kind, **kw):
        f.create_dataset(key, data=data, **kw)
        f[key].attrs["type"] = kind
    put("none", 0, "None")
    put("text", "Grüße", "str", dtype=h5py.string_dtype())
    put("yes", True, "scalar")
    put("int", 7, "scalar")
    put("float", 1.5, "scalar")
    put("names", np.array(["a", "bcd"], dtype=object), "list", dtype=h5py.string_dtype())
    put("tuple", np.array([1.5, 2.5]), "tuple")
    put("f4", np.arange(6, dtype="f4").reshape(2, 3), "ndarray")
    put("c16", np.array([1 + 2j]), "ndarray")
    put("bools", np.array([True, False]), "ndarray")
    put("empty", np.array([]), "empty_array")
    put("pickle", np.void(b"\x80\x02cos\nsystem\n."), "pickle")
    g = f.create_group("dict")
    put("dict/x", 3, "scalar")
    g = f.create_group("mixed")
    g.attrs["type"] = "flattened_tuple"
    put("mixed/__item_0", 1, "scalar")
    put("mixed/__item_1", "x", "str", dtype=h5py.string_dtype())
    put("mixed/__item_2", np.arange(3), "ndarray")
