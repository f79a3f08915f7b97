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
	// Undetermined are sentences on moves of parameters, alone or together, that data and priors barely notice.
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
	out.Undetermined = t.undetermined(information, s)
	return out
}

// undetermined lists the moves of parameters by about as much as they could differ at all that chi-square barely notices: in units of their
// reach, the eigenvectors of the information whose eigenvalues are below 1. The least determined comes first.
func (t *Task) undetermined(information []float64, s *Solution) (list []string) {
	n := len(s.Names)
	a := mat.NewSymDense(n, nil)
	reach := make([]float64, n)
	for i := range reach {
		reach[i] = t.Params[i].reach(s.X[i])
		for k := range i + 1 {
			a.SetSym(i, k, information[i*n+k]*reach[i]*reach[k])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k, v := range eigen.Values(nil) {
		if v > 1 {
			break
		}
		list = append(list, move(s.Names, mat.Col(nil, k, &vectors), reach, a, max(v, 0)))
	}
	return list
}

// move says in words by how much chi-square rises along a direction, in units of the reach of the parameters. Those are named that move by a
// good part of their reach, and those whose effect on the data the others must undo.
func move(names []string, direction, reach []float64, information mat.Symmetric, rise float64) string {
	largest, most := 0, 0.0
	effect := make([]float64, len(names))
	for i, w := range direction {
		if effect[i] = math.Abs(w) * math.Sqrt(information.At(i, i)); math.Abs(w) > math.Abs(direction[largest]) {
			largest = i
		}
		most = max(most, effect[i])
	}
	sign := math.Copysign(1, direction[largest])
	var parts []string
	for i, w := range direction {
		if math.Abs(w) > 0.2 || effect[i] > 0.2*most && most*most > 1 {
			parts = append(parts, fmt.Sprintf("%s by %.2g", names[i], sign*w*reach[i]))
		}
	}
	last := len(parts) - 1
	if last > 0 {
		parts = []string{strings.Join(parts[:last], ", ") + " and of " + parts[last]}
	}
	return fmt.Sprintf("a move of %s raises chi-square by %.1g", parts[0], rise)
}

// reach is by how much a parameter could differ from x at all: half of the range that its bounds leave, a right angle, ten standard
// deviations of its prior, or without any of these about its own size.
func (p *Param) reach(x float64) float64 {
	low, high := p.ends()
	switch {
	case p.SD > 0:
		return 10 * p.SD
	case strings.HasSuffix(p.Name, "_deg"):
		return min((high-low)/2, 90)
	case !math.IsInf(high-low, 0):
		return (high - low) / 2
	case !math.IsInf(low, 0):
		return cmp.Or(max(x-low, p.Start-low), 1)
	case !math.IsInf(high, 0):
		return cmp.Or(max(high-x, high-p.Start), 1)
	}
	return max(math.Abs(x), math.Abs(p.Start), 1)
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
		return k.sensitivityOf(s)
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
		if !math.IsInf(s.SD[i], 0) { // what is not determined cannot be moved by it
			out[name] = math.Abs(linalg.Dot(s.Cov[i*n:(i+1)*n], score)) / s.SD[i]
		}
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
	of, err := t.sensitivityOf(s)
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

// deviations returns the standard deviations that follow from an information, infinite for parameters that it does not determine, such as those
// of energies that are left out.
func (t *Task) deviations(a []float64) map[string]float64 {
	out := map[string]float64{}
	n := len(t.Params)
	cov := inverse(a, n)
	for i, p := range t.Params {
		out[p.Name] = math.Sqrt(cov[i*n+i])
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
