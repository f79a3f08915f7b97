// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package scatter reads what beamlines and reduction programs leave of a scattering measurement, in one form for all of them.
//
// A [Set] holds the images of a detector by photon energy, polarisation and exposure, with the geometry, the mask and what is known of the
// beam; or reduced data: I(q), I(q, chi), A(q), or maps over qx and qy. [Open] tells the form of a file from its content. A reader of a form
// is in a file of its own, which registers it.
//
//	set, err := scatter.Open("scan.nc", scatter.Settings{Bin: 4, Masks: []scatter.Mask{{File: "mask.npy"}}})
//	if err != nil { ... }       // names the file, what is wrong, the numbers, and what to try
//	fmt.Println(set.Summary())  // scan.nc: counts [energy 3, exposure 2, y 24, x 24], geometry from poni, ...
//	for _, f := range set.Frames {
//		fmt.Println(f.Energy, f.Exposure, len(f.Counts)) // eV, s, pixels row by row
//	}
//	table, err := scatter.Constants("core.txt") // optical constants, columns in any order
//
// Lengths of the detector are in mm, q in 1/nm, energies in eV, times in s, angles of the field in degrees from +x towards +y, and angles of
// the detector in rad. The row index points upwards, and pixel i has its middle at i + 0.5 from the corner, as in pyFAI.
package scatter
