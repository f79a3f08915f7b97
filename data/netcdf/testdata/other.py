"""Makes other.nc, which has user-defined types, labels of characters, unequal lengths along a dimension without a limit, and packed
numbers, and the same numbers in files of the classic format: classic1.nc, classic2.nc (64-bit offset) and classic5.nc (64-bit data).

Made with netCDF4 1.7.5, netCDF 4.9, numpy 2.4.
"""
import netCDF4
import numpy as np

mu = np.arange(8, dtype="f8").reshape(2, 4) / 8
with netCDF4.Dataset("other.nc", "w") as f:
    g = f.createGroup("posterior")
    g.createDimension("chain", 2)
    g.createDimension("draw", None)
    g.createDimension("school", 2)
    g.createDimension("string3", 3)
    g.createVariable("mu", "f8", ("chain", "draw"))[:] = mu
    g.createVariable("short", "f4", ("chain", "draw"))[:, :3] = mu[:, :3]
    g.createVariable("n", "i4", ("chain", "draw"))[:, :2] = [[1, 2], [3, 4]]
    packed = g.createVariable("packed", "i2", ("chain", "draw"), fill_value=-32768)
    packed.scale_factor, packed.add_offset = 0.125, 1.0
    packed.set_auto_maskandscale(False)
    packed[:] = [[0, 1, 2, 3], [4, 5, 6, -32768]]
    g.createVariable("school", "S1", ("school", "string3"))[:] = np.array([list("ab\0"), list("cde")], dtype="S1")
    g.createVariable("theta", "f8", ("chain", "draw", "school"))[:] = np.arange(16.0).reshape(2, 4, 2)
    flag = g.createEnumType(np.uint8, "flag", {"no": 0, "yes": 1})
    above = g.createVariable("above", flag, ("chain", "draw"), fill_value=255)
    above[:] = [[0, 1, 0, 1], [1, 1, 0, 0]]
    many = g.createVLType(np.int32, "many")
    ragged = g.createVariable("ragged", many, ("chain",))
    ragged[0], ragged[1] = np.array([1, 2], "i4"), np.array([3], "i4")
    pair = g.createCompoundType(np.dtype([("re", "f8"), ("im", "f8")]), "pair")
    g.createVariable("complex", pair, ("chain",))

for name, form in {"classic1": "NETCDF3_CLASSIC", "classic2": "NETCDF3_64BIT_OFFSET", "classic5": "NETCDF3_64BIT_DATA"}.items():
    with netCDF4.Dataset(name + ".nc", "w", format=form) as f:
        f.inference_library, f.seeds = "none", np.array([1, 2], "i4")
        f.createDimension("draw", None)
        f.createDimension("chain", 2)
        f.createDimension("school", 2)
        f.createDimension("string3", 3)
        f.createVariable("mu", "f8", ("draw", "chain"))[:] = mu.T
        f.createVariable("n", "i2", ("draw", "chain"), fill_value=-9)[:] = np.array([[1, 2], [3, -9], [5, 6], [7, 8]], "i2")
        packed = f.createVariable("packed", "i1", ("draw", "chain"), fill_value=-128)
        packed.scale_factor, packed.add_offset = 0.125, 1.0
        packed.set_auto_maskandscale(False)
        packed[:] = np.array([[0, 4], [1, 5], [2, 6], [3, -128]], "i1")
        f.createVariable("school", "S1", ("school", "string3"))[:] = np.array([list("ab\0"), list("cde")], dtype="S1")
        f.createVariable("theta", "f4", ("draw", "chain", "school"))[:] = np.arange(16.0).reshape(2, 4, 2).transpose(1, 0, 2)
        f.createVariable("tau", "f8", ())[:] = 2.5
