// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cyrsoxs reads and writes the files of CyRSoXS, the simulator of
// polarized resonant soft X-ray scattering, and of its Python front end NRSS.
//
// A Morphology is a volume of voxels with the volume fraction and orientation of every material, a
// Material a table of optical constants, a Config the settings of a run, a Pattern the images of one
// energy. These types only hold data; other packages compute with them.
//
//	c, warnings, err := cyrsoxs.ReadConfig("config.txt")
//	m, err := cyrsoxs.ReadMorphology("film.hdf5", cyrsoxs.ReadSettings{})
//	if err := m.Check(0); err != nil { ... }       // names material, voxel and sum
//	all, err := cyrsoxs.ReadMaterials(".")         // Material1.txt, Material2.txt, ...
//	n, warnings, err := cyrsoxs.Optics(all, c.Energies)
//	fmt.Println(m.Shape, m.PhysSize)               // Z, Y, X; nm
//	fmt.Println(n[0][2].BetaPara)                  // of energy 0, material 3
//	vfrac, err := m.Phases[0].Vfrac.Tensor(m.Shape[:]...)    // the same memory
//
// Arrays are in the order Z, Y, X with X fastest, whatever the order in the
// file. Lengths are in nm, energies in eV, angles of orientation in radians,
// rotations of the electric field in degrees.
//
// CyRSoXS: doi 10.1107/S1600576723002790.
package cyrsoxs
