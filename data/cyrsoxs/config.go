// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"math"
	"slices"
)

// Config holds the settings of config.txt. NewConfig returns the defaults given beside the fields.
type Config struct {
	CaseType       CaseType       // geometry of the beam and the detector; required
	Energies       []float64      // photon energies in eV, in the order of the file; required
	EAngleRotation [3]float64     // first angle, step and last angle of the electric field in degrees; required
	MorphologyType MorphologyType // representation of the orientation; required
	KVectors       [][3]float64   // directions of the beam (x, y, z), normalised when read; default (0, 0, 1)
	Detector       [3]float64     // normal of the detector (x, y, z), normalised when read; default (0, 0, 1)

	Interpolation Interpolation // interpolation of the Ewald sphere; default Linear
	Window        Window        // window before the transform; default NoWindow
	// RotMask averages every pixel over the angles that see it, rather than only pixels that all angles
	// see; default false.
	RotMask         bool
	Algorithm       Algorithm       // resource that CyRSoXS saves; default MinCommunication
	MaxStreams      int             // number of streams of MinMemory; default 1
	ScatterApproach ScatterApproach // place where the intensity is computed; default Partial
	ReferenceFrame  ReferenceFrame  // frame of the polarization; default LabFrame
	// DumpMorphology also writes the morphology as the simulation sees it; default false.
	DumpMorphology bool
	NumThreads     int    // number of threads; default 4
	HDF5Dir        string // folder of the results; default HDF5
}

// NewConfig returns the defaults, for one image at 270 eV.
func NewConfig() *Config {
	return &Config{
		Energies:       []float64{270},
		EAngleRotation: [3]float64{0, 1, 0},
		KVectors:       [][3]float64{{0, 0, 1}},
		Detector:       [3]float64{0, 0, 1},
		Interpolation:  Linear,
		MaxStreams:     1,
		ReferenceFrame: LabFrame,
		NumThreads:     4,
		HDF5Dir:        "HDF5",
	}
}

// maxAngles is far more than anyone averages; it bounds the memory used.
const maxAngles = 1 << 20

// Angles lists the rotations of the electric field in degrees: the first angle plus whole steps,
// round((last-first)/step + 1) of them. So [0, 15, 179.9] ends at 180, and [0, 15, 360] contains
// both 0 and 360.
func (c *Config) Angles() ([]float64, error) {
	var bad mistakes
	n := bad.angles(c.EAngleRotation)
	if bad != nil {
		return nil, bad.in("")
	}
	angles := make([]float64, n)
	for i := range angles {
		angles[i] = c.EAngleRotation[0] + float64(i)*c.EAngleRotation[1]
	}
	return angles, nil
}

// Doubts says which settings look as if they were in other units.
func (c *Config) Doubts() (told []string) {
	if first, step, last := c.EAngleRotation[0], c.EAngleRotation[1], c.EAngleRotation[2]; first >= 0 && last > first && last <= 2*math.Pi*1.001 && step != math.Round(step) {
		told = append(told, fmt.Sprintf("EAngleRotation goes from %g to %g in steps of %g, which are taken as degrees: if they are radians, write [%.4g, %.4g, %.4g]", first, last, step, first*180/math.Pi, step*180/math.Pi, last*180/math.Pi))
	}
	return told
}

// angles returns the number of rotations.
func (m *mistakes) angles(rotation [3]float64) int {
	const key = "EAngleRotation"
	first, step, last := rotation[0], rotation[1], rotation[2]
	n := math.Round((last-first)/step + 1)
	switch {
	case !finite(first, step, last):
		m.add(key, "give finite angles in degrees", "[%v, %v, %v] is not finite", first, step, last)
	case first > last:
		m.add(key, "give the first angle, the step and the last angle in this order", "it begins at %v degrees, after its end at %v", first, last)
	case first == last:
		return 1
	case step <= 0:
		m.add(key, "give a positive step", "the step is %v from %v to %v degrees", step, first, last)
	case n > maxAngles:
		m.add(key, "choose a larger step", "there are %.0f angles, want at most %d", n, maxAngles)
	}
	return int(n)
}

// Check returns everything that is wrong with the settings, joined, or nil if they can be used.
func (c *Config) Check() error { return c.mistakes().in("") }

func (c *Config) mistakes() mistakes {
	var m mistakes
	choices := []struct {
		key   string
		value int
		n     int
		which string
	}{
		{"CaseType", int(c.CaseType), 3, "0 normal incidence, 1 beam divergence or 2 grazing incidence"},
		{"MorphologyType", int(c.MorphologyType), 2, "0 Euler angles or 1 vector"},
		{"EwaldsInterpolation", int(c.Interpolation), 2, "0 nearest or 1 linear"},
		{"WindowingType", int(c.Window), 2, "0 none or 1 Hann"},
		{"Algorithm", int(c.Algorithm), 2, "0 communication minimising or 1 memory minimising"},
		{"ScatterApproach", int(c.ScatterApproach), 2, "0 partial or 1 full"},
		{"ReferenceFrame", int(c.ReferenceFrame), 2, "0 material or 1 lab"},
	}
	for _, s := range choices {
		if s.value < 0 || s.value >= s.n {
			m.add(s.key, "choose "+s.which, "there is no choice %d", s.value)
		}
	}
	if c.MaxStreams < 1 {
		m.add("MaxStreams", "choose 1 or more", "it is %d", c.MaxStreams)
	}
	if c.NumThreads < 1 {
		m.add("NumThreads", "choose 1 or more", "it is %d", c.NumThreads)
	}
	m.energies(c.Energies)
	m.angles(c.EAngleRotation)
	if c.CaseType == BeamDivergence || c.CaseType == GrazingIncidence {
		if len(c.KVectors) == 0 {
			m.add("listKVectors", "add listKVectors = ({ k = [0.0, 0.0, 1.0]; });", "it is needed for %s", c.CaseType).Err = ErrIncomplete
		}
		for _, k := range c.KVectors {
			m.direction("listKVectors", k)
		}
	}
	if c.CaseType == GrazingIncidence {
		m.direction("DetectorCoordinates", c.Detector)
	}
	return m
}

func (m *mistakes) energies(all []float64) {
	const key = "Energies"
	if len(all) == 0 {
		m.add(key, "give at least one, in eV", "it is empty").Err = ErrIncomplete
	}
	sorted := slices.Sorted(slices.Values(all))
	for i, e := range sorted {
		switch {
		case !finite(e) || e <= 0:
			m.add(key, "give energies in eV", "%v is not a positive number", e)
		case i > 0 && e == sorted[i-1]:
			m.add(key, "keep one of them", "%v eV appears twice", e)
		}
	}
}

// direction checks a vector onto which z is rotated.
func (m *mistakes) direction(key string, k [3]float64) {
	switch length := math.Hypot(math.Hypot(k[0], k[1]), k[2]); {
	case !finite(length) || length == 0:
		m.add(key, "give a finite vector (x, y, z) that is not zero", "the vector %v has no direction", k)
	case k[0] == 0 && k[1] == 0 && k[2] < 0:
		m.add(key, "turn the sample instead", "%v points against z, so the rotation that takes z there is not unique", k)
	}
}

func finite(all ...float64) bool {
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
