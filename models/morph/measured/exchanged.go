// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
)

// kindExchanged is the finding that two energies have taken each other's place.
const kindExchanged = "exchanged energies"

// exchanged are fits in which two neighbouring energies change places, in the data or in rows of optical constants. A list of
// energies or rows in another order than the images looks like fluxes and constants that are off at both energies. Fits are those of the pair
// whose exchange lowers the sum of squares most before a fit.
func (t *Task) exchanged(s *Solution) ([]rival, error) {
	energies := slices.Sorted(slices.Values(t.energies()))
	if len(energies) < 2 {
		return nil, nil
	}
	var all []rival
	for i := range len(energies) - 1 {
		a, b := energies[i], energies[i+1]
		add := func(k *Task, what, remedy string) {
			text := fmt.Sprintf("%s of %.6g and %.6g eV that change places would fit better", what, a, b)
			all = append(all, rival{kind: kindExchanged, where: fmt.Sprintf("%.6g and %.6g eV", a, b), task: k, starts: [][]float64{s.X, t.starts()}, say: func(*Solution) (string, string) { return text, remedy }})
		}
		if k, ok := t.altered(func(f *Frame) bool { return f.exchange(a, b) }); ok {
			for _, m := range k.models() {
				m.Numbering = t.energies()
			}
			add(k, "the images", `check the order of "energies" and of the images`)
		}
		if k := t.withRows(a, b); k != nil {
			add(k, "the rows of optical constants", "check the order of the rows of constants: it is that of the energies in the data")
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	for i := range all {
		all[i].before = math.Inf(1)
		for _, x := range all[i].starts {
			cost, err := all[i].task.costAt(&Solution{Names: s.Names, X: x})
			if err != nil {
				return nil, err
			}
			all[i].before = min(all[i].before, cost)
		}
	}
	best := slices.MinFunc(all, func(a, b rival) int { return compare(a.before, b.before) })
	return slices.DeleteFunc(all, func(r rival) bool { return r.where != best.where }), nil
}

// exchange gives a frame of one of two energies in eV the other one. It reports whether frames can be exchanged: bins belong to their energy.
func (f *Frame) exchange(a, b float64) bool {
	switch {
	case math.Abs(f.Energy-a) < sameEnergy:
		f.Energy = b
	case math.Abs(f.Energy-b) < sameEnergy:
		f.Energy = a
	}
	return f.Bins == nil
}

// withRows returns the task with the optical constants of two energies in eV exchanged; nil if they are tables that go on between the energies.
func (t *Task) withRows(a, b float64) *Task {
	k, _ := t.altered(func(*Frame) bool { return true })
	for _, m := range k.models() {
		tables := append(slices.Clone(m.Tables), matrixOf(m)...)
		for i, table := range tables {
			at := func(e float64) int {
				return slices.IndexFunc(table.Energies, func(x float64) bool { return math.Abs(x-e) < sameEnergy })
			}
			u, v := at(a), at(b)
			if len(table.Constants) == 1 { // the same at all energies
				continue
			}
			if u < 0 || v < 0 || len(table.Energies) != len(t.energies()) {
				return nil
			}
			table.Constants = slices.Clone(table.Constants)
			table.Constants[u], table.Constants[v] = table.Constants[v], table.Constants[u]
			if table.Second = slices.Clone(table.Second); table.Second != nil {
				table.Second[u], table.Second[v] = table.Second[v], table.Second[u]
			}
			tables[i] = table
		}
		if m.Matrix != nil {
			last := len(tables) - 1
			m.Matrix, tables = &tables[last], tables[:last]
		}
		m.Tables = tables
	}
	return k
}
