// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

// Settings say what a file does not say itself, and what to take of it. The zero value is the default.
type Settings struct {
	// Energies are the photon energies to take, in eV, matched within 0.01 eV; default: all. Files that do not say their energies have these,
	// in this order.
	Energies []float64
	// Bin is the number of pixels along each side that are added up to one. Default 1.
	Bin int
	// Pedestal is subtracted from every pixel. Default 0, and 100 for the TIFF folders of SST-1; NoPedestal subtracts nothing from those.
	Pedestal   float64
	NoPedestal bool
	// Saturation is the count from which on a pixel is left out. Default: only the largest numbers of 16 and 32 bits.
	Saturation float64
	// Exposure in s and Polarization in degrees replace those of the file; 0 and nil keep them.
	Exposure     float64
	Polarization *float64
	// Geometry replaces what the file says of the detector, part by part.
	Geometry GeometrySettings
	// Unplaced takes images of which the file does not say where the detector stands; their Geometry is zero.
	Unplaced bool
	// QUnit is that of q in the file, "1/nm" or "1/A", if the file does not say it.
	QUnit string
	// Masks are united with each other and with that of the file.
	Masks []Mask
	// Variable names the array to read if several could be meant. Default: the only one, or the one called I.
	Variable string
}

func (s Settings) bin() int { return max(1, s.Bin) }

// GeometrySettings are parts of a Geometry that replace those of a file. Zero stands for what the file says, and nil for 0 where it says
// nothing.
type GeometrySettings struct {
	Distance float64 `json:"distance,omitempty"` // distance from the sample to the detector in mm
	Pixel    float64 `json:"pixel,omitempty"`    // edge of a pixel of the file in mm
	// Beam is the foot of the perpendicular from the sample in pixels of the file, x (column) first, counted from the corner of the first
	// pixel: the middle of that is 0.5.
	Beam *[2]float64 `json:"beam,omitempty"`
	// Rot are rot1, rot2 and rot3 of pyFAI in rad.
	Rot *[3]float64 `json:"rot,omitempty"`
	// Shape is the number of rows and columns of the detector from which reduced data come, which their files do not say. Default: that of
	// the first mask.
	Shape *[2]int `json:"shape,omitempty"`
}
