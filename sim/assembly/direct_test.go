// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// direct is a brain of whole areas written plainly: dense matrices, sums, sorts. It
// judges the other.
type direct struct {
	set     Settings
	areas   []Area
	weights map[string][][]float64 // by fibre: [source][target], 0 where there is no synapse
	beta    map[string]float64
	winners map[string][]int32
	fixed   map[string]bool
	frozen  bool
}

// project runs one step of fibres.
func (d *direct) project(fibres []string) {
	next, driven := map[string][]int32{}, map[string]bool{}
	for _, a := range d.areas {
		x, reached := make([]float64, a.N), false
		for _, f := range fibres {
			from, to, _ := strings.Cut(f, ">")
			if to != a.Name {
				continue
			}
			driven[to] = true
			for _, i := range d.firing(from) {
				reached = true
				for j, w := range d.weights[f][i] {
					x[j] += w
				}
			}
		}
		switch {
		case d.fixed[a.Name] || !driven[a.Name] || !reached && d.set.Activity == Sticky && !d.set.EmptyIfSilent:
			next[a.Name] = d.winners[a.Name]
			if !d.fixed[a.Name] && d.set.Activity == Silent {
				next[a.Name] = nil
			}
		case reached:
			next[a.Name] = d.best(x, a.K)
		}
	}
	for _, f := range fibres {
		from, to, _ := strings.Cut(f, ">")
		for _, i := range d.firing(from) {
			for _, j := range next[to] {
				if w := &d.weights[f][i][j]; *w != 0 && !d.frozen {
					*w *= 1 + d.beta[f]
					if d.set.MaxWeight > 0 {
						*w = min(*w, d.set.MaxWeight)
					}
				}
			}
		}
	}
	d.winners = next
}

// firing returns the source neurons that fire; all of a stimulus.
func (d *direct) firing(name string) []int32 {
	if name == "S" {
		return []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	return d.winners[name]
}

// best sorts by input, to nine digits, and then by number.
func (d *direct) best(x []float64, k int) []int32 {
	order := make([]int32, len(x))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if math.Abs(x[a]-x[b]) <= 1e-9*math.Max(math.Abs(x[a]), 1) {
			return 0
		}
		return cmp.Compare(x[b], x[a])
	})
	return order[:k]
}

// Random experiments with whole areas go the same way, neuron for neuron, however they
// are computed: with copies, snapshots and small caches on the way.
func TestAgainstTheDirectWay(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		d := &direct{set: Settings{P: []float64{0.05, 0.2, 0.6}[r.IntN(3)], Seed: seed, Activity: Activity(r.IntN(2)), EmptyIfSilent: r.IntN(4) == 0,
			MaxWeight: []float64{0, 1.5}[r.IntN(2)], Cache: []int{0, 500}[r.IntN(2)], Threads: 1 + r.IntN(3), NoSelf: r.IntN(3) == 0},
			weights: map[string][][]float64{}, beta: map[string]float64{}, winners: map[string][]int32{}, fixed: map[string]bool{}}
		b := New(d.set)
		check(t, b.AddStimulus("S", 10))
		for _, name := range []string{"A", "B", "C"} {
			a := Area{Name: name, N: 20 + r.IntN(80), K: 1 + r.IntN(15), Beta: []float64{0, 0.1, 0.37}[r.IntN(3)]}
			check(t, b.AddArea(a))
			d.areas = append(d.areas, a)
		}
		d.connect(t, b)
		for step := range 25 {
			b = d.disturb(t, b, r)
			fibres := slices.DeleteFunc(slices.Clone(allFibres), func(string) bool { return r.IntN(3) > 0 })
			if len(fibres) == 0 {
				continue
			}
			anyway(t, b, 1, strings.Join(fibres, " "))
			d.project(fibres)
			d.compare(t, b, seed, step)
			if t.Failed() {
				return
			}
		}
	}
}

// anyway runs a plan whatever fires.
func anyway(t *testing.T, b *Brain, steps int, fibres string) [][]Round {
	p, err := b.Plan(fibres)
	check(t, err)
	trace, err := b.Continue(p, steps)
	check(t, err)
	return trace
}

var allFibres = strings.Fields("S>A S>B A>A A>B A>C B>A B>B B>C C>A C>B C>C")

// connect takes the connections of b.
func (d *direct) connect(t *testing.T, b *Brain) {
	for _, f := range allFibres {
		from, to, _ := strings.Cut(f, ">")
		g, err := b.fibre(from, to)
		check(t, err)
		sources := 10
		if from != "S" {
			sources = g.from.N
		}
		for i := range sources {
			row := make([]float64, g.target.N)
			for _, j := range b.connect(nil, g, i) {
				row[j] = 1
			}
			d.weights[f] = append(d.weights[f], row)
		}
		d.beta[f] = g.beta
	}
}

// disturb does something beside projecting, or nothing.
func (d *direct) disturb(t *testing.T, b *Brain, r *rand.Rand) *Brain {
	a := d.areas[r.IntN(3)]
	switch r.IntN(9) {
	case 0:
		anyway(t, b.Clone(), 2, "S>A A>A A>B") // changes nothing here
	case 1:
		return b.Clone()
	case 2:
		var file bytes.Buffer
		check(t, b.Save(&file))
		c, err := Load(&file, nil)
		check(t, err)
		return c
	case 3:
		d.frozen = !d.frozen
		b.Learn(!d.frozen)
	case 4:
		d.fixed[a.Name] = !d.fixed[a.Name]
		check(t, b.Fix(a.Name, d.fixed[a.Name]))
	case 5:
		if a.N/a.K > 0 {
			i := r.IntN(a.N / a.K)
			check(t, b.Activate(a.Name, i))
			d.winners[a.Name], _ = b.Winners(a.Name)
		}
	case 6:
		beta := []float64{0, 0.05, 0.5}[r.IntN(3)]
		check(t, b.SetBeta("A", a.Name, beta))
		d.beta["A>"+a.Name] = beta
	}
	return b
}

func (d *direct) compare(t *testing.T, b *Brain, seed uint64, step int) {
	for _, a := range d.areas {
		if got := winners(t, b, a.Name); !slices.Equal(got, d.winners[a.Name]) {
			t.Errorf("brain %d, step %d: area %s fires %v, want %v", seed, step, a.Name, got, d.winners[a.Name])
		}
	}
	f := allFibres[(int(seed)+step)%len(allFibres)]
	from, to, _ := strings.Cut(f, ">")
	if from == "S" {
		return
	}
	for i, row := range d.weights[f] {
		for j, w := range row {
			if got, err := b.Weight(from, to, i, j); err != nil || math.Abs(got-w) > 1e-12*w {
				t.Errorf("brain %d, step %d: weight %d, %d of %s is %v, want %v (%v)", seed, step, i, j, f, got, w, err)
				return
			}
		}
	}
}
