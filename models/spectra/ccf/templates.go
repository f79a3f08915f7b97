// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// Templates holds templates for cross-correlation in the arms of an instrument, with the same stars
// in all arms.
type Templates struct {
	arms   []*arm
	names  []string // of the parameters
	params [][]float64
	vsini  []float64 // km/s
}

// arm holds the templates of one arm.
type arm struct {
	name         string
	points       int
	logL0, logL1 float64   // natural logarithms of the first and the last wavelength in Angstrom
	lam          []float64 // wavelengths of the pixels, in Angstrom
	continuum    bool      // whether the continuum is divided out
	nodeStep     float64   // distance of the continuum's nodes, km/s
	models       []float32 // (template, pixel)
}

// Load reads templates for some arms from a folder, in the files of rvspecfit: ccf_<arm>.h5 and, beside it,
// ccfmod_<arm>.npy or ccfdat_<arm>.npz. continuum chooses the templates whose continuum is divided out; the names of
// the others begin with ccf_nocont_.
func Load(dir string, arms []string, continuum bool) (*Templates, error) {
	var list []*rvspecfit.CCF
	for _, name := range arms {
		c, err := rvspecfit.LoadCCF(dir, name, continuum)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return NewTemplates(list...)
}

// NewTemplates makes Templates from the contents of files or from what Build makes, one for each
// arm. Template i must be the same star in all arms. Files without rotations count as templates of
// stars that do not rotate.
func NewTemplates(arms ...*rvspecfit.CCF) (*Templates, error) {
	if len(arms) == 0 {
		return nil, errors.New("ccf: there are no templates: give those of at least one arm")
	}
	t := &Templates{}
	for i, c := range arms {
		if c == nil || c.Params == nil || len(c.Params.Shape()) != 2 || len(c.ParNames) != c.Params.Shape()[1] {
			return nil, fmt.Errorf("ccf: the templates of arm %d have no table of parameters with a name for each column: make them again with Build", i)
		}
		n, dim := c.Params.Shape()[0], c.Params.Shape()[1]
		if n == 0 {
			return nil, fmt.Errorf("ccf: there are no templates for arm %s: make them with Build", c.Setup)
		}
		flat := c.Params.Float64s()
		rows := make([][]float64, n)
		for k := range rows {
			rows[k] = slices.Clone(flat[k*dim : (k+1)*dim])
		}
		vsini := make([]float64, n)
		if c.VSini != nil {
			if len(c.VSini) != n {
				return nil, fmt.Errorf("ccf: %s has %s, but %s: make the templates again with Build", c.Setup, errtext.Count(n, "template"), errtext.Count(len(c.VSini), "rotation"))
			}
			for k, v := range c.VSini {
				vsini[k] = max(0, v) // -1 stands for none
			}
		}
		if i == 0 {
			t.names, t.params, t.vsini = slices.Clone(c.ParNames), rows, vsini
		} else if err := t.same(c, arms[0].Setup, rows, vsini); err != nil {
			return nil, err
		}
		a, err := newArm(c, n)
		if err != nil {
			return nil, err
		}
		if t.find(a.name) != nil {
			return nil, fmt.Errorf("ccf: the templates of arm %s appear twice: give them once", a.name)
		}
		t.arms = append(t.arms, a)
	}
	return t, nil
}

// same says whether the templates of an arm are of the same stars as those of the first.
func (t *Templates) same(c *rvspecfit.CCF, first string, rows [][]float64, vsini []float64) error {
	const remedy = "make those of all arms from the same library with the same settings"
	switch {
	case !slices.Equal(c.ParNames, t.names):
		return fmt.Errorf("ccf: the templates of arm %s have the parameters %s, but those of %s have %s: %s", c.Setup, strings.Join(c.ParNames, ", "), first, strings.Join(t.names, ", "), remedy)
	case len(rows) != len(t.params):
		return fmt.Errorf("ccf: arm %s has %s, but %s has %d: %s", c.Setup, errtext.Count(len(rows), "template"), first, len(t.params), remedy)
	}
	for k := range rows {
		if !slices.Equal(rows[k], t.params[k]) || vsini[k] != t.vsini[k] {
			return fmt.Errorf("ccf: template %d of arm %s is a star with %v and vsini %g km/s, but that of %s is one with %v and %g: %s", k, c.Setup, rows[k], vsini[k], first, t.params[k], t.vsini[k], remedy)
		}
	}
	return nil
}

func newArm(c *rvspecfit.CCF, count int) (*arm, error) {
	a := &arm{name: c.Setup, points: c.Points, logL0: c.LogL0, logL1: c.LogL1, continuum: c.Continuum, nodeStep: c.Step}
	if nodes := c.Nodes; a.continuum && a.nodeStep == 0 { // written as the integer 1000 where that is the larger
		if nodes < 1 {
			nodes = continuumNodes
		}
		a.nodeStep = nodeStep(c.LogL0, c.LogL1, nodes)
	}
	if c.Points < 2 || !(c.LogL1 > c.LogL0) || math.IsInf(c.LogL1-c.LogL0, 0) || a.continuum && !(a.nodeStep > 0) {
		return nil, fmt.Errorf("ccf: the templates of arm %s have %s from exp(%g) to exp(%g) Angstrom and %g km/s between continuum nodes: want at least two pixels, ascending wavelengths and a positive distance", c.Setup, errtext.Count(c.Points, "pixel"), c.LogL0, c.LogL1, a.nodeStep)
	}
	a.lam = make([]float64, c.Points)
	for i := range a.lam {
		a.lam[i] = math.Exp(a.logLam(i))
	}
	switch {
	case c.Models != nil:
		a.models = float32s(c.Models.Float64s())
	case c.FFT != nil:
		a.models = inverse(c.FFT, c.Points)
	default:
		return nil, fmt.Errorf("ccf: arm %s has neither templates nor their transforms: the file ccfmod_%s.npy or ccfdat_%s.npz is missing: copy it beside ccf_%s.h5, or build the templates again", c.Setup, c.Setup, c.Setup, c.Setup)
	}
	if len(a.models) != count*c.Points {
		return nil, fmt.Errorf("ccf: arm %s has %s for %s of %s: make the templates again with Build", c.Setup, errtext.Count(len(a.models), "number"), errtext.Count(count, "template"), errtext.Count(c.Points, "pixel"))
	}
	for i, v := range a.models {
		if v != v || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("ccf: template %d of arm %s is %v at %.2f Angstrom: want finite numbers; make the templates again", i/c.Points, c.Setup, v, a.lam[i%c.Points])
		}
	}
	return a, nil
}

// logLam returns the logarithm of the wavelength of a pixel.
func (a *arm) logLam(i int) float64 {
	return a.logL0 + (a.logL1-a.logL0)*float64(i)/float64(a.points-1)
}

// inverse returns templates of their transforms.
func inverse(transforms *tensor.Tensor, points int) []float32 {
	half := points/2 + 1
	x := transforms.Convert(tensor.Complex128).Compact().Data().([]complex128)
	plan, work := kernels.NewFFT(points), new(kernels.FFTWorkspace)
	out := make([]float32, 0, len(x)/half*points)
	row := make([]float64, points)
	for k := 0; k+half <= len(x); k += half {
		plan.RealInverse64(row, x[k:k+half], work)
		for _, v := range row {
			out = append(out, float32(v/float64(points)))
		}
	}
	return out
}

func float32s(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

func (t *Templates) find(name string) *arm {
	for _, a := range t.arms {
		if a.name == name {
			return a
		}
	}
	return nil
}

// Arms returns the names of the arms.
func (t *Templates) Arms() []string {
	var names []string
	for _, a := range t.arms {
		names = append(names, a.name)
	}
	return names
}

// Len returns the number of templates of each arm.
func (t *Templates) Len() int { return len(t.params) }

// Names returns the names of the parameters.
func (t *Templates) Names() []string { return slices.Clone(t.names) }

// Params returns the parameters of template i, in the order of Names, and its rotation in km/s.
func (t *Templates) Params(i int) (params []float64, vsini float64) {
	return slices.Clone(t.params[i]), t.vsini[i]
}
