// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Grid says which q labels the detector pixels and the planes of the transform.
type Grid int

const (
	// CyRSoXSGrid is the grid of CyRSoXS: q_m = -pi/a + 2 pi m/(a(n-1)). It places the centre half a
	// pixel off, also along z, and its last row and column are NaN.
	CyRSoXSGrid Grid = iota
	// ExactGrid is the grid of the discrete transform: q_m = 2 pi (m - floor(n/2))/(n a).
	ExactGrid
)

// Interpolation says how the intensity on the Ewald sphere is read from the planes of the transform.
type Interpolation int

// The interpolations along z are Linear and Nearest.
const (
	Linear  Interpolation = iota // linear interpolation between the two adjacent planes
	Nearest                      // value of the nearest plane; halves are rounded up
)

// Window multiplies the polarization before the transform.
type Window int

// Windows are NoWindow, Hann and SymmetricHann.
const (
	NoWindow      Window = iota
	Hann                 // weights 0.5 (1 - cos(2 pi j/n)) along each axis
	SymmetricHann        // weights 0.5 (1 - cos(2 pi j/(n-1))) along each axis, as in NumPy's hanning
)

// Frame is the frame that the induced polarization is expressed in.
type Frame int

// The frames of the polarization are LabFrame and MaterialFrame.
const (
	LabFrame      Frame = iota
	MaterialFrame       // frame that is rotated back together with the electric field; kept for comparison with CyRSoXS
)

// Case is the geometry of the measurement.
type Case int

// The cases of the geometry are Transmission, BeamDivergence and GrazingIncidence.
const (
	Transmission   Case = iota // light along +Z
	BeamDivergence             // light along each direction of Config.K
	// light along each direction of Config.K, and a detector that faces along Config.Detector
	GrazingIncidence
)

// Angles are rotations of the electric field about the beam, in degrees from +X.
type Angles struct{ Start, Increment, End float64 }

// List returns the angles; there are round((End-Start)/Increment) + 1 of them.
func (a Angles) List() ([]float64, error) {
	switch {
	case !finite(a.Start, a.Increment, a.End):
		return nil, fmt.Errorf("the angles are %g to %g by %g degrees: want finite numbers", a.Start, a.End, a.Increment)
	case a.Start == a.End:
		return []float64{a.Start}, nil
	case a.Start > a.End:
		return nil, fmt.Errorf("the angles start at %g and end at %g degrees: want an ascending range", a.Start, a.End)
	case a.Increment <= 0:
		return nil, fmt.Errorf("the angles go from %g to %g degrees by %g: want an increment above 0", a.Start, a.End, a.Increment)
	}
	n := math.Round((a.End-a.Start)/a.Increment + 1)
	if n > 1e6 {
		return nil, fmt.Errorf("the angles from %g to %g degrees by %g would be %g: want at most 1e6", a.Start, a.End, a.Increment, n)
	}
	list := make([]float64, int(n))
	for i := range list {
		list[i] = a.Start + float64(i)*a.Increment
	}
	return list, nil
}

// Config describes the measurement and how it is computed. Zero values are the defaults.
type Config struct {
	Energies []float64 // photon energies in eV
	Angles   Angles    // angles of the electric field, over which the images are averaged

	Case     Case
	K        [][3]float64 // directions of the light, of any length, used unless Case is Transmission
	Detector [3]float64   // direction in which the detector faces, of any length; zeros mean (0, 0, 1)

	Interpolation Interpolation // interpolation along z. Default Linear.
	Window        Window        // window along each axis. Default NoWindow.
	Frame         Frame         // frame of the induced polarization. Default LabFrame.
	// labels of pixels and planes. Default CyRSoXSGrid, for comparison with published results.
	Grid Grid
	// RotMask averages each pixel over the angles that reach it, and gives 0 if none does. Without
	// it, a pixel that any angle misses is NaN.
	RotMask bool
	// CorrectBaseAngle applies the base angle of the electric field of an oblique beam in degrees.
	// The default is to add it in radians to angles in degrees, as CyRSoXS does, for comparison. It
	// matters only for oblique beams.
	CorrectBaseAngle bool

	// CollapseZ averages the dielectric tensor along Z and scatters from that single slice.
	CollapseZ bool

	// bits of the transforms, 32 or 64; default 64. Everything on the detector is computed in 64
	// bits.
	Precision int
	Workers   int // number of goroutines; default one per CPU. Results do not depend on it.

	// Backend chooses where to compute: autodiff.CUDA on a GPU, autodiff.Several on several of
	// them, autodiff.Auto on one if that is worth it. Default: the CPU. Patterns agree with those
	// of the CPU up to rounding, and have the same bits in every run on one kind of device and on
	// the same number of devices.
	Backend ad.Backend
}

// hc is Planck's constant times the speed of light in eV nm, with the digits of CyRSoXS.
const hc = 1239.84197

// Wavenumber returns 2 pi/wavelength in 1/nm at an energy in eV.
func Wavenumber(energy float64) float64 { return 2 * math.Pi * energy / hc }

// withDefaults returns a checked copy of c.
func (c Config) withDefaults() (Config, error) {
	var bad problems
	for i, e := range c.Energies {
		if !(e > 0) || math.IsInf(e, 0) {
			bad.add("energy %d is %g eV: want more than 0", i, e)
		}
	}
	if len(c.Energies) == 0 {
		bad.add("there are no energies: give at least one")
	}
	_, err := c.Angles.List()
	bad.note(err)
	c.checkNames(&bad)
	c.orient(&bad)
	switch c.Precision {
	case 0:
		c.Precision = 64
	case 32, 64:
	default:
		bad.add("the precision is %d bits: want 32 or 64", c.Precision)
	}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return c, bad.err("rsoxs: config")
}

func (c *Config) checkNames(bad *problems) {
	for _, x := range []struct {
		name     string
		is, most int
	}{
		{"Case", int(c.Case), int(GrazingIncidence)}, {"Interpolation", int(c.Interpolation), int(Nearest)},
		{"Window", int(c.Window), int(SymmetricHann)}, {"Frame", int(c.Frame), int(MaterialFrame)}, {"Grid", int(c.Grid), int(ExactGrid)},
	} {
		if x.is < 0 || x.is > x.most {
			bad.add("%s is %d: want 0 to %d", x.name, x.is, x.most)
		}
	}
}

// orient normalises the directions and fills in the defaults.
func (c *Config) orient(bad *problems) {
	if c.Detector == ([3]float64{}) || c.Case != GrazingIncidence {
		c.Detector = [3]float64{0, 0, 1}
	}
	if c.Case == Transmission {
		c.K = [][3]float64{{0, 0, 1}}
	} else if len(c.K) == 0 {
		bad.add("there are no directions K for case %d: give at least one", c.Case)
	}
	k := make([][3]float64, len(c.K))
	for i, v := range c.K {
		k[i] = direction(bad, fmt.Sprintf("K[%d]", i), v)
	}
	c.K, c.Detector = k, direction(bad, "Detector", c.Detector)
}

func direction(bad *problems, name string, v [3]float64) [3]float64 {
	n := math.Sqrt(dot(v, v))
	if !(n > 0) || math.IsInf(n, 0) {
		bad.add("%s is %v: want a direction, a finite vector other than 0", name, v)
		return v
	}
	v = scale(1/n, v)
	if v[2] <= -1 {
		bad.add("%s is %v, opposite to +Z, from where no smallest rotation leads: choose another direction", name, v)
	}
	return v
}

func finite(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// problems collects everything that is wrong with an input.
type problems struct{ list []error }

func (p *problems) add(format string, a ...any) { p.list = append(p.list, fmt.Errorf(format, a...)) }

func (p *problems) note(err error) {
	if err != nil {
		p.list = append(p.list, err)
	}
}

// err returns the problems as one error, or nil if there are none.
func (p *problems) err(where string) error {
	if len(p.list) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", where, errors.Join(p.list...))
}
