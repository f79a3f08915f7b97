// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package nexus reads and writes result files of X-ray photon correlation
// spectroscopy in the layout of APS beamline 8-ID (HDF5, NeXus flavour).
//
// A Result is one analysed measurement: its times, a QMap that gives the q and phi of each bin, and a
// Multitau or Twotime correlation or both. Bins count from 1, as in labels, files and flags. Images are
// read only when they are asked for.
//
//	r, err := nexus.Open("A003_results.hdf")
//	if err != nil { ... }                        // names file, key and remedy
//	defer r.Close()
//	t := r.Delays()                              // s
//	for _, bin := range r.QMap.Select(0.002, 0.01) {
//		g2, sd := r.Multitau.Bin(bin)
//		fmt.Println(r.QMap.Label(bin), r.QMap.Q(bin), t[0], g2[0], sd[0])
//	}
package nexus
