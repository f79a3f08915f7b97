// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package farfield computes scattered intensities at the pixels of a flat detector, as graphs.
//
// Package sim/rsoxs computes images on the grid of q that belongs to the box of voxels, as CyRSoXS does. A detector has pixels at other
// places: q of a pixel depends on the photon energy, on the distance, the centre and the tilts of the detector, and has a component along
// the beam. Here amplitudes are sums over voxels at exactly these q, to the tolerance of a [Volume], and everything is a graph of
// ordinary operations, so that gradients of any order exist with respect to the morphology, the optical constants, the photon energy and
// the geometry.
//
//	d := farfield.Detector{Rows: 96, Columns: 96, PixelY: 0.06, PixelX: 0.06}
//	dir := d.Directions(pose) // unit vectors to the pixels
//	v, err := farfield.NewVolume(farfield.VolumeSettings{Shape: shape, Voxel: 1.8, MaxQ: 0.45, MinK: 1.44})
//	f, err := v.Fields(material)                                            // transformed once for all energies
//	a := v.Amplitude(k, []*farfield.Fields{f}, []farfield.Contrast{c}, 0)   // on the grid of q, at one photon energy
//	images := v.Intensities(a, k, dir)                                      // at the pixels
//
// Lengths of samples are in nm, those of detectors in mm, q in 1/nm, angles in radians. Phases are exp(+i q r) with r from the middle of the box.
package farfield

import "github.com/euryale-dev/euryale/internal/given"

func init() { given.BuildsGraphs() }
