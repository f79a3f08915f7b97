// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// The conventions of q in transmission, with k = 2 pi / wavelength and the scattering angle 2
// theta, are Exact, SinTwo and ViewerSin.
const (
	Exact     = "exact"     // momentum transfer 2 k sin(theta); the default
	SinTwo    = "sin2theta" // approximation k sin(2 theta), larger by a relative theta^2/2 at small angles
	ViewerSin = "viewer"    // approximation k sin(2 theta) with hc = 12.398 keV angstrom
)

// The orientation of the detector in reflection says where its upper edge points.
const (
	North = "north" // upright detector; the default
	West  = "west"  // detector turned by 90 degrees
	South = "south" // detector turned by 180 degrees
	East  = "east"  // detector turned by 270 degrees
)

// hc is Planck's constant times the speed of light in keV angstrom (CODATA 2018); the viewer of
// 8-ID result files rounds it.
const (
	hc       = 12.39841984
	viewerHC = 12.398
)

// Geometry is the position of a detector relative to sample and beam. Lengths are in m; only the
// ratio of PixelSize and Distance matters, so any other unit common to both serves as well.
type Geometry struct {
	Height, Width        int     // size of the detector in pixels
	CenterRow, CenterCol float64 // position of the direct beam, in pixels counted from 0; it may lie outside the detector
	PixelSize            float64 // edge of a pixel (m)
	Distance             float64 // distance from the sample to the detector (m)
	Energy               float64 // photon energy (keV)

	Convention string // convention of q in transmission: Exact, SinTwo or ViewerSin. Default Exact

	// SwingHorizontal and SwingVertical turn the detector about the sample, in radians. The centre
	// is then the pixel that the direct beam hits when both angles are 0. They apply to
	// transmission only. Default 0.
	SwingHorizontal, SwingVertical float64

	// Roll turns the detector about the direct beam, after the swings, in radians: in transmission it adds to phi and turns qx and
	// qy, and no q changes. In reflection it turns the direction that is up, in addition to Orientation. Default 0.
	Roll float64

	// Reflection says that the beam is reflected from a surface instead of going through the
	// sample.
	Reflection  bool
	Incidence   float64 // angle between beam and surface in reflection (rad). Default DefaultIncidence
	Orientation string  // orientation in reflection: North, West, South or East. Default North
}

// DefaultIncidence is the angle of incidence in reflection if none is given (rad).
const DefaultIncidence = 0.14 * math.Pi / 180

// complete returns the geometry with its defaults, or an error that lists all that is wrong with it.
func (g Geometry) complete() (Geometry, error) {
	var missing, bad []string
	positive := func(name string, v float64) {
		switch {
		case v == 0:
			missing = append(missing, name)
		case !(v > 0) || math.IsInf(v, 0):
			bad = append(bad, fmt.Sprintf("%s is %g: want a positive number", name, v))
		}
	}
	if g.Height == 0 || g.Width == 0 {
		missing = append(missing, "shape (Height, Width)")
	}
	if g.Height < 0 || g.Width < 0 || float64(g.Height)*float64(g.Width) > 1<<31 {
		bad = append(bad, fmt.Sprintf("the shape is %d x %d pixels: want at least 1 x 1 and at most 2^31 pixels", g.Height, g.Width))
	}
	positive("Energy (keV)", g.Energy)
	positive("PixelSize (m)", g.PixelSize)
	positive("Distance (m)", g.Distance)
	for name, v := range map[string]float64{"CenterRow": g.CenterRow, "CenterCol": g.CenterCol,
		"SwingHorizontal": g.SwingHorizontal, "SwingVertical": g.SwingVertical, "Roll": g.Roll, "Incidence": g.Incidence} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			bad = append(bad, fmt.Sprintf("%s is %g: want a finite number", name, v))
		}
	}
	if g.Convention == "" {
		g.Convention = Exact
	}
	if g.Orientation == "" {
		g.Orientation = North
	}
	if g.Incidence == 0 {
		g.Incidence = DefaultIncidence
	}
	if err := known("Convention", g.Convention, Exact, SinTwo, ViewerSin); err != "" {
		bad = append(bad, err)
	}
	if err := known("Orientation", g.Orientation, North, West, South, East); err != "" {
		bad = append(bad, err)
	}
	if g.Reflection && (g.SwingHorizontal != 0 || g.SwingVertical != 0) {
		bad = append(bad, "swing angles and reflection exclude each other: set the swing angles to 0")
	}
	if missing != nil {
		bad = append(bad, "missing: "+strings.Join(missing, ", "))
	}
	if bad != nil {
		return g, errors.New("xpcs: geometry: " + strings.Join(bad, "; "))
	}
	return g, nil
}

// known returns what is wrong with a name, or "".
func known(what, got string, names ...string) string {
	for _, n := range names {
		if got == n {
			return ""
		}
	}
	return fmt.Sprintf("%s %q is not known: want %s%s", what, got, strings.Join(names, ", "), meant(got, names))
}

// K0 returns the wave number 2 pi / wavelength in 1/angstrom.
func (g Geometry) K0() float64 {
	if g.Convention == ViewerSin {
		return 2 * math.Pi * g.Energy / viewerHC
	}
	return 2 * math.Pi * g.Energy / hc
}

// DisplayCenter returns where the direct beam would hit the plane of a detector that is turned by the
// swing angles, in pixels; viewers mark it. Without swing angles it is the centre.
func (g Geometry) DisplayCenter() (row, col float64) {
	d := g.Distance / g.PixelSize
	return g.CenterRow + d*math.Tan(g.SwingVertical), g.CenterCol + d*math.Tan(g.SwingHorizontal)
}

func meant(name string, names []string) string {
	if m := spelling.Meant(name, names); m != "" {
		return "; did you mean " + m + "?"
	}
	return ""
}
