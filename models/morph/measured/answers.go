// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Correlation is that of two parameters.
type Correlation struct {
	A, B  string
	Value float64 // coefficient of correlation, from -1 to 1
}

// Identifiability says how well data determine parameters.
type Identifiability struct {
	// Correlations are those beyond 0.9, the strongest first.
	Correlations []Correlation
	// Prior is the share of the prior in what is known of each parameter that has a Gaussian one, (sd/sd of the prior)^2: 1 where the data
	// say nothing.
	Prior map[string]float64
	// Undetermined are combinations of parameters of which data and priors say next to nothing.
	Undetermined []string
}

// strongCorrelation is that from which on two parameters are named.
const strongCorrelation = 0.9

// Identify says how well the data of a fit determine its parameters.
func (t *Task) Identify(s *Solution) Identifiability {
	n := len(s.Names)
	out := Identifiability{Prior: map[string]float64{}}
	for i := range n {
		for k := range i {
			c := s.Cov[i*n+k] / (s.SD[i] * s.SD[k])
			if math.Abs(c) > strongCorrelation {
				out.Correlations = append(out.Correlations, Correlation{s.Names[k], s.Names[i], c})
			}
		}
		if sd := t.Params[i].SD; sd > 0 {
			out.Prior[s.Names[i]] = min(1, s.SD[i]*s.SD[i]/(sd*sd))
		}
	}
	slices.SortStableFunc(out.Correlations, func(a, b Correlation) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	information := slices.Clone(s.Information)
	t.addPriors(information, s.X)
	out.Undetermined = t.undetermined(information, s.Names)
	return out
}

// undetermined names the parameters without information, and the combinations without it.
func (t *Task) undetermined(information []float64, names []string) (list []string) {
	n := len(names)
	scale := make([]float64, n)
	for i, name := range names {
		scale[i] = math.Sqrt(information[i*n+i])
		if !(scale[i] > 0) {
			list, scale[i] = append(list, name), math.Inf(1)
		}
	}
	a := make([]float64, n*n)
	for i := range n {
		for k := range n {
			a[i*n+k] = information[i*n+k] / (scale[i] * scale[k])
		}
		if math.IsInf(scale[i], 1) {
			a[i*n+i] = 1
		}
	}
	const least = 1e-10 // of the information that a parameter would have alone
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, a), true) {
		return list
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k, v := range eigen.Values(nil) {
		if v > least {
			continue
		}
		var parts []string
		for i, name := range names {
			if w := vectors.At(i, k); math.Abs(w) > 0.1 && !math.IsInf(scale[i], 1) {
				parts = append(parts, fmt.Sprintf("%+.2g %s", w/scale[i], name))
			}
		}
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

// Interpolation returns by how many standard deviations each parameter would move if amplitudes were interpolated a hundred times as
// exactly: the weighted derivatives of the expectations applied to their difference.
func (t *Task) Interpolation(s *Solution) (map[string]float64, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	fine := &Task{Params: slices.Clone(t.Params), Fixed: t.Fixed, Backend: t.Backend, relative: t.relative}
	for i := range fine.Params {
		fine.Params[i].Start = s.X[i]
	}
	for _, m := range t.models() {
		c := *m
		c.Tolerance = max(1e-12, cmp.Or(m.Tolerance, usualTolerance)/100)
		if fine.Model == nil {
			fine.Model = &c
		} else {
			fine.More = append(fine.More, &c)
		}
	}
	of := func(k *Task) (*sensitivity, error) {
		if err := k.prepare(); err != nil {
			return nil, err
		}
		return k.sensitivity(s.X, t.scalesOf(s))
	}
	coarse, err := of(t)
	if err != nil {
		return nil, err
	}
	if err := fine.prepare(); err != nil {
		return nil, err
	}
	var means []float64
	for _, p := range fine.joined.parts {
		v, err := fine.evaluate(s.X, p.expected(fine.rates))
		if err != nil {
			return nil, err
		}
		means = append(means, v[0]...)
	}
	n := len(s.Names)
	score := make([]float64, n)
	for a, i := range coarse.index {
		for k, w := range coarse.weight {
			score[i] += w * coarse.j[a*coarse.m+k] * (means[k] - coarse.mean[k])
		}
	}
	out := map[string]float64{}
	for i, name := range s.Names {
		out[name] = math.Abs(linalg.Dot(s.Cov[i*n:(i+1)*n], score)) / s.SD[i]
	}
	return out, nil
}

// scalesOf returns the scales of noise at a solution.
func (t *Task) scalesOf(s *Solution) map[string]float64 {
	scales := t.scales()
	for i, name := range s.Names {
		if _, ok := scales[name]; ok {
			scales[name] = s.X[i]
		}
	}
	return scales
}

// EnergyInformation says what the data at one energy are worth.
type EnergyInformation struct {
	Energy float64 // photon energy in eV
	// Alone and Without are the standard deviations that the parameters would have from this energy alone, and from all others, with the
	// priors; infinite where they would not be determined.
	Alone, Without map[string]float64
}

// ByEnergy returns what each energy is worth to a fit.
func (t *Task) ByEnergy(s *Solution) ([]EnergyInformation, error) {
	if err := t.prepare(); err != nil {
		return nil, err
	}
	of, err := t.sensitivity(s.X, t.scalesOf(s))
	if err != nil {
		return nil, err
	}
	energies, n := t.energies(), len(s.Names)
	at := t.energyOfPlaces()
	var list []EnergyInformation
	for e, energy := range energies {
		deviations := func(take func(i int) bool) map[string]float64 {
			a := make([]float64, n*n)
			of.information(a, take)
			t.addPriors(a, s.X)
			for i, p := range t.Params { // the scale of noise is known well enough
				if t.isScale(p.Name) {
					a[i*n+i] += s.Information[i*n+i]
				}
			}
			return t.deviations(a)
		}
		list = append(list, EnergyInformation{Energy: energy, Alone: deviations(func(i int) bool { return at[of.place[i]] == e }),
			Without: deviations(func(i int) bool { return at[of.place[i]] != e })})
	}
	return list, nil
}

// deviations returns the standard deviations that follow from an information, without parameters of which it says nothing, such as those of
// energies that are left out.
func (t *Task) deviations(a []float64) map[string]float64 {
	n := len(t.Params)
	var known []int
	for i := range n {
		if a[i*n+i] > 0 {
			known = append(known, i)
		}
	}
	b := make([]float64, len(known)*len(known))
	for i, u := range known {
		for k, v := range known {
			b[i*len(known)+k] = a[u*n+v]
		}
	}
	out := map[string]float64{}
	for _, p := range t.Params {
		out[p.Name] = math.Inf(1)
	}
	cov := inverse(b, len(known))
	for i, u := range known {
		out[t.Params[u].Name] = math.Sqrt(cov[i*len(known)+i])
	}
	return out
}

// energyOfPlaces returns the number of the energy of each place among the rates of all sights.
func (t *Task) energyOfPlaces() (out []int) {
	for _, m := range t.models() {
		sights, _ := m.Data.sights(len(out))
		for _, s := range sights {
			for range m.Data.length(s.frame) {
				out = append(out, m.numberOf(s.frame.Energy)-1)
			}
		}
	}
	return out
}

// FrameUse says what of a frame was compared.
type FrameUse struct {
	File             string
	Energy, Exposure float64 // photon energy in eV and exposure time in s
	Angle            float64 // angle of the electric field in degrees
	Noise            string  // name of the likelihood
	Used             int
	Left             map[string]int // counts of numbers that were left out, by the reason
}

// Used returns what was compared of each frame; it is known after a fit.
func (t *Task) Used() (list []FrameUse) {
	k := 0
	for _, m := range t.models() {
		for _, f := range m.Data.Frames {
			u := t.single.used[k]
			list = append(list, FrameUse{File: f.File, Energy: f.Energy, Exposure: f.Exposure, Angle: f.Angle, Noise: cmp.Or(f.Noise, "poisson"), Used: u.Numbers, Left: u.Left})
			k++
		}
	}
	return list
}
