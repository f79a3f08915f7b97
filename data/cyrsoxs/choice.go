// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import "fmt"

// CaseType is the geometry of beam and detector.
type CaseType int

// The geometries, numbered as in the file.
const (
	NormalIncidence  CaseType = iota // beam and detector along z
	BeamDivergence                   // beams along KVectors, detector along z
	GrazingIncidence                 // beams along KVectors, detector along Detector
)

// String returns the name of the geometry.
func (c CaseType) String() string {
	return named(int(c), "normal incidence", "beam divergence", "grazing incidence")
}

// MorphologyType says how orientation is stored.
type MorphologyType int

// The types, numbered as in the file.
const (
	Euler  MorphologyType = iota // volume fraction, order parameter and two angles
	Vector                       // alignment vectors and an unaligned fraction
)

// String returns the name of the type.
func (t MorphologyType) String() string { return named(int(t), "Euler angles", "vector") }

// Interpolation says how the Ewald sphere is read from the Fourier volume.
type Interpolation int

// The interpolations, numbered as in the file.
const (
	Nearest Interpolation = iota // value of the nearest plane in z
	Linear                       // linear in z, which CyRSoXS calls trilinear
)

// String returns the name of the interpolation.
func (i Interpolation) String() string { return named(int(i), "nearest neighbour", "trilinear") }

// Window is the window function that multiplies the polarization before the Fourier transform.
type Window int

// The windows, numbered as in the file.
const (
	NoWindow Window = iota
	Hann
)

// String returns the name of the window.
func (w Window) String() string { return named(int(w), "none", "Hann") }

// Algorithm says whether CyRSoXS saves communication or memory. The results are equal, except that
// CyRSoXS ignores the window with MinMemory.
type Algorithm int

// The algorithms, numbered as in the file.
const (
	MinCommunication Algorithm = iota
	MinMemory
)

// String returns the name of the algorithm.
func (a Algorithm) String() string {
	return named(int(a), "communication minimising", "memory minimising")
}

// ScatterApproach says where the intensity is computed. The results are equal.
type ScatterApproach int

// The approaches, numbered as in the file.
const (
	Partial ScatterApproach = iota // intensity on the pixels of the detector only
	Full                           // intensity in the whole Fourier volume
)

// String returns the name of the approach.
func (a ScatterApproach) String() string { return named(int(a), "partial", "full") }

// ReferenceFrame is the frame in which the polarization is expressed.
type ReferenceFrame int

// The frames, numbered as in the file.
const (
	MaterialFrame ReferenceFrame = iota // frame that is rotated back together with the electric field
	LabFrame
)

// String returns the name of the frame.
func (f ReferenceFrame) String() string { return named(int(f), "material", "lab") }

func named(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("%d (unknown)", i)
	}
	return names[i]
}
