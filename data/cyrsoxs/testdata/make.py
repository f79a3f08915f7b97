"""Makes the morphologies beside this file: python make.py [DIR].

Voxel i (Z, Y, X order, 2 x 3 x 4 voxels) has Vfrac 1 - i/32 and i/32, S i/64
for material 1, Theta i/8, Psi -i/4; material 2 has no S. Every number is exact
in float32. latest.h5 has superblock 3, new groups and contiguous float64; v108.h5 superblock
2, chunks and gzip;
earliest.h5 superblock 0, X, Y, Z order, chunks, gzip, shuffle and float32.
vector.h5 has the same volume as vectors along z: unaligned Vfrac - (i/64)^2.
Made with h5py 3.16.0, HDF5 2.0.0, numpy 2.4.6.
"""
import os
import sys
import h5py
import numpy as np

shape = (2, 3, 4)
i = np.arange(24, dtype="f8").reshape(shape)
fields = {"Mat_1_Vfrac": 1 - i / 32, "Mat_1_S": i / 64, "Mat_1_Theta": i / 8, "Mat_1_Psi": -i / 4, "Mat_2_Vfrac": i / 32}


def write(name, libver, group, fields, order, dtype, **kw):
    with h5py.File(os.path.join(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(__file__) or ".", name), "w", libver=libver) as f:
        for key, v in fields.items():
            if order == "XYZ":
                v = np.moveaxis(v, [0, 1, 2], [2, 1, 0])
            d = f.create_dataset(f"{group}/{key}", data=v.astype(dtype), **kw)
            for axis, label in enumerate(order):
                d.dims[axis].label = label
        p = f.create_group("Morphology_Parameters")
        p["PhysSize"], p["NumMaterial"] = 2.5, 2
        p["creation_date"], p["name"], p["morphology_creator"] = "01/02/2026, 03:04:05", "ramp", "make.py"
        p["film_normal"] = np.array([1.0, 0, 0])


along = np.zeros(shape + (3,))
along[..., 2] = i / 64
vectors = {"Mat_1_alignment": along, "Mat_1_unaligned": 1 - i / 32 - (i / 64) ** 2,
           "Mat_2_alignment": 0 * along, "Mat_2_unaligned": i / 32}
write("latest.h5", "latest", "Euler_Angles", fields, "ZYX", "f8")
write("v108.h5", ("v108", "v108"), "Euler_Angles", fields, "ZYX", "f8", chunks=(1, 3, 4), compression="gzip")
write("earliest.h5", "earliest", "Euler_Angles", fields, "XYZ", "f4", chunks=(2, 3, 2), compression="gzip", shuffle=True)
write("vector.h5", "earliest", "Vector_Morphology", vectors, "XYZ", "f8", chunks=True)
