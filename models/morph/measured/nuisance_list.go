// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/infer/dist"
)

// Nuisance is a parameter of the measurement that problem files can name.
type Nuisance struct {
	// Name is that in problem files; an N in it stands for the number of an energy, from 1, and an M for that of a material.
	Name  string
	Unit  string // unit of the parameter; empty for a number without one
	About string // sentence on the effect
	// usual returns what the parameter starts from and its weak prior, where a problem does not say them.
	usual func(g *guess, energy int) Param
}

// within is a Param with bounds and without a prior.
func within(start, low, high float64) Param {
	return Param{Start: start, Bounds: []float64{low, high}}
}

// around is a Param with a Gaussian prior.
func around(mean, sd float64) Param { return Param{Start: mean, Mean: mean, SD: sd} }

// bounded adds bounds.
func (p Param) bounded(low, high float64) Param {
	p.Bounds = []float64{low, high}
	return p
}

// lognormal puts a wide prior on a positive parameter.
func (p Param) lognormal(median, factor float64) Param {
	d := dist.LogNormal(math.Log(median), math.Log(factor))
	p.Prior = &d
	return p
}

var inf = math.Inf(1)

// nuisances are the parameters of the measurement in the order in which they are listed.
var nuisances = []Nuisance{
	{"log_scale", "", "The logarithm of what converts simulated intensities to counts per second.", func(*guess, int) Param { return Param{} }},
	{"scale_N", "", "The logarithm of the flux at energy N relative to that at the first.", func(*guess, int) Param { return around(0, 0.05) }},
	{"exposure_N", "", "The logarithm of the exposure times the flux at energy N relative to what the file says; backgrounds are multiplied, too.", func(*guess, int) Param { return around(0, 0.05) }},
	{"centre_x", "pixels", "The distance along x of the beam's foot from where the file has it.", func(g *guess, _ int) Param { return around(g.centre()[0], 3) }},
	{"centre_y", "pixels", "The distance along y of the beam's foot from where the file has it.", func(g *guess, _ int) Param { return around(g.centre()[1], 3) }},
	{"distance", "mm", "The distance of the detector from the sample.", func(g *guess, _ int) Param { x := g.Geometry.Distance; return around(x, x/100) }},
	{"rot1", "rad", "The rotation of the detector about its vertical axis, as in pyFAI.", func(g *guess, _ int) Param { return around(g.Geometry.Rot1, 0.02) }},
	{"rot2", "rad", "The rotation of the detector about its horizontal axis, as in pyFAI.", func(g *guess, _ int) Param { return around(g.Geometry.Rot2, 0.02) }},
	{"rot3", "rad", "The rotation of the detector about the beam, as in pyFAI.", func(g *guess, _ int) Param { return around(g.Geometry.Rot3, 0.02) }},
	{"resolution", "pixels", "The standard deviation of the blur of images.", func(*guess, int) Param { return within(0.5, 0, 10) }},
	{"purity", "", "The share of the light that is polarised as the file says; the rest is polarised across it.", func(*guess, int) Param { return around(0.98, 0.02).bounded(0.5, 1) }},
	{"energy_shift", "eV", "What the photon energy is above its nominal value.", func(*guess, int) Param { return around(0, 0.2) }},
	{"thickness", "nm", "The thickness of the matrix that absorbs the light.", func(*guess, int) Param { return within(100, 0, inf) }},
	{"background", "counts/s", "A background that is the same in all pixels, and that the sample absorbs.", func(g *guess, _ int) Param { return within(g.dark(-1), 0, inf) }},
	{"background_q4", "counts/s", "A background at q = 0.1 1/nm that falls with the fourth power of q.", func(g *guess, _ int) Param { return within(max(g.dark(-1)/2, 1e-3), 0, inf) }},
	{"background_exponent", "", "The power of q with which that background falls.", func(*guess, int) Param { return around(4, 0.3) }},
	{"fluorescence", "counts/s", "Light of other energies, the same in all pixels, which the sample does not absorb.", func(g *guess, _ int) Param { return within(g.dark(-1)/2, 0, inf) }},
	{"fluorescence_N", "counts/s", "The fluorescence at energy N, which is added to that of all energies.", func(g *guess, e int) Param { return within(g.dark(e)/2, 0, inf) }},
	{"dark", "counts/s", "What a pixel counts in a second without light.", func(g *guess, _ int) Param { return within(max(g.Frames[0].Dark, 1e-3), 0, inf) }},
	{"pedestal", "counts", "What each pixel of a frame holds beside its counts, whatever the exposure.", func(*guess, int) Param { return within(0, -inf, inf) }},
	{"delta_M_N", "", "The relative error of delta of material M at energy N.", func(*guess, int) Param { return around(0, 0.05) }},
	{"beta_M_N", "", "The relative error of beta of material M at energy N.", func(*guess, int) Param { return around(0, 0.05) }},
	{"twist_M", "deg", "The angle by which molecules of material M, whose constants have three axes, are turned about their director.", func(*guess, int) Param { return within(20, -180, 180) }},
	{"noise", "", "The scale of noise that is found from the residuals: a width, or the root of the variance over the mean.", func(*guess, int) Param { return within(1, 0, inf) }},
	{"sigma", "", "The relative error of intensities whose errors are a share of them.", func(*guess, int) Param { return within(0.1, 0, inf) }},
	{"modes", "", "The number of modes of speckle that a pixel sees.", func(*guess, int) Param { return within(100, 0, inf).lognormal(100, 3) }},
}

// Nuisances lists the parameters of the measurement that problem files can name, with their units and a sentence on each.
func Nuisances() []Nuisance { return slices.Clone(nuisances) }

// nuisanceOf returns the nuisance of a name with numbers in it, and the index of its energy and material, -1 for none. ok is false if there
// is none, or if a number is not among those of energies and materials.
func nuisanceOf(name string, energies, materials int) (n Nuisance, energy int, ok bool) {
	for _, n := range nuisances {
		pattern := strings.NewReplacer("_N", `_(?P<N>\d+)`, "_M", `_(?P<M>\d+)`).Replace(n.Name)
		re := regexp.MustCompile("^" + pattern + "$")
		m := re.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		energy = -1
		for i, what := range re.SubexpNames() {
			k, err := strconv.Atoi(m[i])
			switch {
			case what == "":
			case err != nil || k < 1 || what == "N" && k > energies || what == "M" && k > materials:
				return n, -1, false
			case what == "N":
				energy = k - 1
			}
		}
		return n, energy, true
	}
	return n, -1, false
}
