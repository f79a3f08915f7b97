// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	mathbits "math/bits"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/labels"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	ownTries  = 3   // places at which it is tried which terms change
	ownValues = 200 // values of a discrete parameter that are tried at each
)

// trial evaluates the terms at random places.
type trial struct {
	e      *elimination
	params int
	first  int // number of the input of the first latent
	s      *ad.State
	random tensor.Stream
}

// newTrial compiles the terms.
func (e *elimination) newTrial(p *Posterior, m *Model, f free) (*trial, error) {
	inputs := slices.Clone(f.u)
	var given [][]float64
	for _, d := range m.data {
		inputs, given = append(inputs, d.node), append(given, d.values)
	}
	if p.data != nil {
		given = p.data
	}
	outputs := make([]*ad.Node, len(e.terms))
	for i, t := range e.terms {
		outputs[i] = t.node
	}
	first := len(inputs)
	for _, l := range e.latents {
		inputs = append(inputs, l.node)
	}
	prog, err := m.program(ad.CPU{Threads: 1}, ad.Substitute(outputs, f.leaves, f.y), inputs)
	if err != nil {
		return nil, err
	}
	e.direct = prog
	return &trial{e, len(f.u), first, graph.State(prog, len(f.u), given), tensor.NewStream(0, purposeLabels, 0)}, nil
}

// place moves to a random place, which is near 0 where far is negative and far place number far otherwise, and gives the discrete parameters random values.
func (t *trial) place(far int) {
	graph.Place(t.s, t.params, far, &t.random)
	for i := range t.e.latents {
		l, z := &t.e.latents[i], t.s.Input(t.first+i)
		for j := range z {
			z[j] = l.low + math.Floor(t.random.Float64()*float64(l.count))
		}
	}
}

// run returns the bits of all terms, in which all that is not a number is the same.
func (t *trial) run() ([][]uint64, error) {
	if err := t.s.Run(); err != nil {
		return nil, err
	}
	out := make([][]uint64, len(t.e.terms))
	for i := range out {
		for _, v := range t.s.Output(i) {
			if math.IsNaN(v) {
				v = math.NaN()
			}
			out[i] = append(out[i], math.Float64bits(v))
		}
	}
	return out, nil
}

// own finds the elements to which the elements of all terms belong.
func (e *elimination) own(p *Posterior, m *Model, f free) error {
	t, err := e.newTrial(p, m, f)
	if err != nil {
		return err
	}
	for i := range e.terms {
		e.terms[i].owner = make([][]int, len(e.latents))
	}
	for k := range e.latents {
		if err := t.owners(k); err != nil {
			return err
		}
	}
	return nil
}

// owners finds which element of discrete parameter k the elements of the terms belong to: they change when elements do whose number has a binary digit, or
// lacks it.
func (t *trial) owners(k int) error {
	l := &t.e.latents[k]
	if l.node.Size() == 1 {
		for i := range t.e.terms {
			if term := &t.e.terms[i]; graph.Reads(term.node, l.node) {
				term.owner[k] = make([]int, term.node.Size())
			}
		}
		return nil
	}
	n, digits := l.node.Size(), mathbits.Len(uint(l.node.Size()-1))
	changed := t.unchanged()
	fails := 0
	for try := range ownTries + graph.FarPlaces(t.params) {
		far := try - ownTries
		values := min(l.count, ownValues)
		if far >= 0 {
			values = 1
		}
		t.place(far)
		for v := range values {
			from := v
			if l.count > values {
				from = int(t.random.Float64() * float64(l.count))
			}
			low, high := l.low+float64(from), l.low+float64((from+1)%l.count)
			here, err := t.compare(k, low, high, digits, far >= 0)
			switch {
			case err != nil && far >= 0: // there may be nothing so far out
			case err != nil:
				if fails++; fails > 50 {
					return fmt.Errorf("the terms that depend on %s cannot be evaluated: %w", l.name, err)
				}
			default:
				merge(changed, here)
			}
		}
	}
	for i := range t.e.terms {
		if err := t.decode(i, k, n, digits, changed[i]); err != nil {
			return err
		}
	}
	return nil
}

// unchanged returns room for the digits for which each element of each term changes, [term][element][side].
func (t *trial) unchanged() [][][2]uint64 {
	out := make([][][2]uint64, len(t.e.terms))
	for i, term := range t.e.terms {
		out[i] = make([][2]uint64, term.node.Size())
	}
	return out
}

func merge(to, from [][][2]uint64) {
	for i := range to {
		for j := range to[i] {
			to[i][j][0] |= from[i][j][0]
			to[i][j][1] |= from[i][j][1]
		}
	}
}

// compare finds the digits for which elements of terms change when elements of discrete parameter k have one value in place of another, where they are finite if that is asked for:
// far from 0 a sum over all elements may be NaN for one of them.
func (t *trial) compare(k int, low, high float64, digits int, finite bool) ([][][2]uint64, error) {
	z, changed := t.s.Input(t.first+k), t.unchanged()
	fill(z, low)
	before, err := t.run()
	if err != nil {
		return nil, err
	}
	known := func(bits uint64) bool { return !finite || linalg.Finite(math.Float64frombits(bits)) }
	for b := range digits {
		for side := range 2 {
			for j := range z {
				if z[j] = low; j>>b&1 == side {
					z[j] = high
				}
			}
			after, err := t.run()
			if err != nil {
				return nil, err
			}
			for i := range after {
				for j, v := range after[i] {
					if v != before[i][j] && known(v) && known(before[i][j]) {
						changed[i][j][side] |= 1 << b
					}
				}
			}
		}
	}
	return changed, nil
}

func fill(z []float64, v float64) {
	for i := range z {
		z[i] = v
	}
}

// decode turns the digits for which elements of term i changed into the elements of discrete parameter k.
func (t *trial) decode(i, k, n, digits int, changed [][2]uint64) error {
	term, l := &t.e.terms[i], &t.e.latents[k]
	owner, any := make([]int, len(changed)), false
	all := uint64(1)<<digits - 1
	for j, c := range changed {
		switch {
		case c[0]|c[1] == 0:
			owner[j] = -1
		case c[0]&c[1] == 0 && c[0]|c[1] == all && int(c[1]) < n:
			owner[j], any = int(c[1]), true
		default:
			return latentFault("%s[%d] depends on more than one element of the discrete parameter %s, which is summed out (the elements of a term must depend on one element each, or %s be a single number or a MarkovChain)", term.name, j, l.name, l.name)
		}
	}
	if any {
		term.owner[k] = owner
	}
	return nil
}

// split finds units of elements that share terms. Single numbers that would join units are tried one value after the other.
func (e *elimination) split() error {
	inner := make([]bool, len(e.latents))
	for i := range inner {
		inner[i] = true
	}
	for {
		unit := e.joined(inner)
		a, err := e.conflict(inner, unit)
		if err != nil {
			return err
		}
		if a < 0 {
			return e.group(inner, unit)
		}
		inner[a] = false
		e.outer = append(e.outer, a)
	}
}

// joined numbers the units: it returns for each element of each inner parameter the unit to which it belongs.
func (e *elimination) joined(inner []bool) [][]int {
	first, total := make([]int, len(e.latents)), 0
	for i, l := range e.latents {
		first[i] = total
		total += l.node.Size()
	}
	parent := others(nil, total)
	var root func(i int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	for _, t := range e.terms {
		for j := range t.node.Size() {
			at := -1
			for i, owner := range t.owner {
				if !inner[i] || owner == nil || owner[j] < 0 {
					continue
				}
				if r := root(first[i] + owner[j]); at < 0 {
					at = r
				} else {
					parent[r] = at
				}
			}
		}
	}
	out := make([][]int, len(e.latents))
	for i, l := range e.latents {
		for j := range l.node.Size() {
			out[i] = append(out[i], root(first[i]+j))
		}
	}
	return out
}

// conflict returns a single number that joins two elements of one parameter, -1 if no elements are joined.
func (e *elimination) conflict(inner []bool, unit [][]int) (int, error) {
	for i := range e.latents {
		if !inner[i] {
			continue
		}
		seen := map[int]int{}
		for j, u := range unit[i] {
			other, twice := seen[u]
			if seen[u] = j; !twice {
				continue
			}
			for k, l := range e.latents {
				if inner[k] && k != i && l.node.Size() == 1 && !l.chain() && unit[k][0] == u {
					return k, nil
				}
			}
			return -1, latentFault("elements %d and %d of the discrete parameter %s share a term of the log density with others, so that they cannot be summed out one by one", other, j, e.latents[i].name)
		}
	}
	return -1, nil
}

// group collects the parameters whose elements share units.
func (e *elimination) group(inner []bool, unit [][]int) error {
	of := map[int]int{} // group of each unit
	for i := range e.latents {
		if !inner[i] {
			continue
		}
		at := -1
		for _, u := range unit[i] {
			if k, known := of[u]; known {
				at = k
			}
		}
		if at < 0 {
			at = len(e.groups)
			e.groups = append(e.groups, latentGroup{})
		}
		for _, u := range unit[i] {
			if k, known := of[u]; known && k != at { // two groups are one
				for v, old := range of {
					if old == k {
						of[v] = at
					}
				}
				e.groups[at].latents, e.groups[k].latents = append(e.groups[at].latents, e.groups[k].latents...), nil
			}
			of[u] = at
		}
		e.groups[at].latents = append(e.groups[at].latents, i)
	}
	e.groups = slices.DeleteFunc(e.groups, func(g latentGroup) bool { return len(g.latents) == 0 })
	numbers := map[int]int{} // number of each unit in its group
	for k := range e.groups {
		if err := e.arrange(k, unit, numbers); err != nil {
			return err
		}
	}
	for i := range e.terms {
		e.terms[i].assign(e, inner, unit, numbers)
	}
	return nil
}

// arrange numbers the units of group k and finds the elements of each.
func (e *elimination) arrange(k int, unit [][]int, numbers map[int]int) error {
	g := &e.groups[k]
	slices.SortStableFunc(g.latents, func(a, b int) int {
		switch chain := e.latents[a].chain(); {
		case chain == e.latents[b].chain():
			return a - b
		case chain:
			return -1
		}
		return 1
	})
	made := labels.Group{Chain: e.latents[g.latents[0]].chain()}
	for _, i := range g.latents {
		made.Counts = append(made.Counts, e.latents[i].count)
		for _, u := range unit[i] {
			if _, known := numbers[u]; !known {
				numbers[u] = made.Units
				made.Units++
			}
		}
	}
	for _, i := range g.latents {
		place := make([]int, made.Units)
		fillInts(place, -1)
		for j, u := range unit[i] {
			place[numbers[u]] = j
		}
		g.place = append(g.place, place)
	}
	if made.Chain && (made.Units != e.latents[g.latents[0]].node.Size() || len(g.latents) > 1 && e.latents[g.latents[1]].chain()) {
		return latentFault("the discrete parameters %s depend on each other, but only one of them may be a Markov chain, and each of the others must belong to one of its states", e.names(g.latents))
	}
	e.sum.Groups = append(e.sum.Groups, made)
	return nil
}

func fillInts(x []int, v int) {
	for i := range x {
		x[i] = v
	}
}

// assign finds the units of the elements of a term.
func (t *latentTerm) assign(e *elimination, inner []bool, unit [][]int, numbers map[int]int) {
	t.group, t.unit = -1, make([]int, t.node.Size())
	fillInts(t.unit, -1)
	for i, owner := range t.owner {
		if !inner[i] || owner == nil {
			continue
		}
		t.group = slices.IndexFunc(e.groups, func(g latentGroup) bool { return slices.Contains(g.latents, i) })
		for j, at := range owner {
			if at >= 0 {
				t.unit[j] = numbers[unit[i][at]]
			}
		}
	}
}
