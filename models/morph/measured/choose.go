// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Plan is a choice of photon energies.
type Plan struct {
	Energies []float64 // photon energies in eV, ascending
	Exposure float64   // exposure time in s at each
	Names    []string  // names of the parameters of the morphology that are searched for
	// SD are the standard deviations of those that the measurement would have, and Without those without each energy.
	SD      map[string]float64
	Without []map[string]float64
}

// mostCandidates bounds the energies among which is chosen.
const mostCandidates = 60

// numbered are names of parameters that belong to an energy of the data, which a plan has not.
var numbered = regexp.MustCompile(`_\d+(@\d+)?$`)

// Choose returns the photon energies, of those in the tables of optical constants, at which counts would tell most of the parameters of the
// morphology in a time in s: by the determinant of their Fisher information once the nuisances are searched for, too, energy by energy and
// then by exchange. The detector, its mask and the flux are those of the data, the parameters those of the start; parameters of single
// energies are held.
func (t *Task) Choose(n int, time float64) (*Plan, error) {
	if t.Model.Data.Fan != nil {
		return nil, errors.New(`measured: energies are chosen for a detector, which is not known: give "geometry"`)
	}
	candidates := t.candidates()
	if n < 1 || len(candidates) < n || !(time > 0) {
		return nil, fmt.Errorf("measured: %d energies in %g s cannot be chosen among %d of the tables: want at least one and at most as many, and a time above 0", n, time, len(candidates))
	}
	planned := &Task{Fixed: map[string]float64{}, Backend: t.Backend}
	for name, x := range t.Fixed {
		planned.Fixed[name] = x
	}
	var x []float64
	for _, p := range t.Params {
		switch {
		case t.isScaleName(p.Name):
		case numbered.MatchString(p.Name) && !slices.Contains(t.Model.Morphology, p.Name):
			planned.Fixed[p.Name] = p.Start
		default:
			planned.Params, x = append(planned.Params, p), append(x, p.Start)
		}
	}
	total := make([][]float64, len(candidates))
	for i, e := range candidates { // one by one, so that memory does not grow with the number
		a, err := planned.informationAt(t.Model, e, time/float64(n), x)
		if err != nil {
			return nil, err
		}
		total[i] = a
	}
	c := &choice{task: planned, each: total, prior: make([]float64, len(x)*len(x)), morphology: t.Model.Morphology}
	planned.addPriors(c.prior, x)
	best := c.search(n)
	slices.Sort(best)
	out := &Plan{Exposure: time / float64(n), SD: c.deviations(best, -1)}
	for _, p := range planned.Params {
		if slices.Contains(t.Model.Morphology, p.Name) {
			out.Names = append(out.Names, p.Name)
		}
	}
	for k, i := range best {
		out.Energies = append(out.Energies, candidates[i])
		out.Without = append(out.Without, c.deviations(best, k))
	}
	return out, nil
}

// isScaleName reports whether a name is that of a scale of noise.
func (t *Task) isScaleName(name string) bool {
	for _, n := range noises {
		if n.scale != "" && t.bare(name) == n.scale {
			return true
		}
	}
	return false
}

// candidates are the energies of the tables that all materials have, thinned to a number that is soon computed.
func (t *Task) candidates() (list []float64) {
	tables := append(slices.Clone(t.Model.Tables), matrixOf(t.Model)...)
	longest := Table{}
	low, high := math.Inf(-1), math.Inf(1)
	for _, table := range tables {
		if len(table.Energies) == 0 {
			continue
		}
		low, high = max(low, table.Energies[0]), min(high, table.Energies[len(table.Energies)-1])
		if len(table.Energies) > len(longest.Energies) {
			longest = table
		}
	}
	if _, shifted := t.start("energy_shift"); shifted {
		low, high = low+reach, high-reach
	}
	for _, e := range longest.Energies {
		if e >= low && e <= high {
			list = append(list, e)
		}
	}
	if k := (len(list) + mostCandidates - 1) / mostCandidates; k > 1 {
		for i := range len(list) / k {
			list[i] = list[i*k]
		}
		list = list[:len(list)/k]
	}
	return list
}

// informationAt returns the Fisher information of counts at an energy on the detector of a model.
func (t *Task) informationAt(m *Model, energy, exposure float64, x []float64) ([]float64, error) {
	model, d := *m, *m.Data
	k := 0
	for i, f := range d.Frames { // the flux and the dark counts are those of the nearest energy
		if math.Abs(f.Energy-energy) < math.Abs(d.Frames[k].Energy-energy) {
			k = i
		}
	}
	f := d.Frames[k]
	d.Frames = []Frame{{Energy: energy, Angle: f.Angle, Exposure: exposure, Flux: f.Flux, Transmission: f.Transmission, Dark: f.Dark, Counts: make([]float64, d.pixels())}}
	model.Data, model.Numbering, model.Suffix = &d, nil, ""
	t.Model, t.mean = &model, nil
	if err := t.prepare(); err != nil {
		return nil, err
	}
	return t.information(x, nil)
}

// choice is the search for energies.
type choice struct {
	task       *Task
	each       [][]float64 // information of each candidate
	prior      []float64
	morphology []string
}

// sum adds the information of a set without the one at a place, -1 for none.
func (c *choice) sum(set []int, without int) []float64 {
	a := slices.Clone(c.prior)
	for k, i := range set {
		if k != without {
			for j, v := range c.each[i] {
				a[j] += v
			}
		}
	}
	return a
}

func (c *choice) deviations(set []int, without int) map[string]float64 {
	return c.task.deviations(c.sum(set, without))
}

// worth is minus the logarithm of the determinant of the covariance of the parameters of the morphology. A little information keeps it
// finite while there are too few energies.
func (c *choice) worth(set []int) float64 {
	n := len(c.task.Params)
	a := c.sum(set, -1)
	var all []float64
	for _, e := range c.each {
		for i := range n {
			if len(all) < n {
				all = append(all, 0)
			}
			all[i] = max(all[i], e[i*n+i])
		}
	}
	for i := range n {
		a[i*n+i] += 1e-9*all[i] + 1e-300
	}
	cov := inverse(a, n)
	var of []int
	for i, p := range c.task.Params {
		if slices.Contains(c.morphology, p.Name) {
			of = append(of, i)
		}
	}
	b := make([]float64, len(of)*len(of))
	for i, u := range of {
		for k, v := range of {
			b[i*len(of)+k] = cov[u*n+v]
		}
	}
	if row, _ := linalg.Cholesky(b, len(of)); row >= 0 {
		return math.Inf(-1)
	}
	sum := 0.0
	for i := range of {
		sum -= 2 * math.Log(b[i*len(of)+i])
	}
	return sum
}

// search takes the candidate that adds most, one after another, and then exchanges single ones as long as that helps.
func (c *choice) search(n int) (set []int) {
	better := func(k int) bool { // at place k
		before, worth := set[k], c.worth(set)
		kept := before
		for i := range c.each {
			if slices.Contains(set, i) {
				continue
			}
			set[k] = i
			if w := c.worth(set); w > worth+1e-9 || kept < 0 {
				kept, worth = i, w
			}
			set[k] = kept
		}
		set[k] = kept
		return kept != before
	}
	for range n {
		first, most := -1, math.Inf(-1)
		for i := range c.each {
			if !slices.Contains(set, i) {
				if w := c.worth(append(slices.Clone(set), i)); w > most || first < 0 {
					first, most = i, w
				}
			}
		}
		set = append(set, first)
	}
	for changed := true; changed; {
		changed = false
		for k := range set {
			changed = better(k) || changed
		}
	}
	return set
}
