// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"
	"testing"
)

// chain makes an area A whose neurons 0 to 5 send to B as told: synapse j of row i has
// that weight, 0 for none.
func chain(t *testing.T, a Area, weights [][]float64) *Brain {
	b := New(Settings{P: 0, MaxWeight: 100})
	check(t, b.AddArea(Area{Name: "A", N: len(weights), K: 1}))
	a.Name, a.N = "B", len(weights[0])
	check(t, b.AddArea(a))
	c := &CSR{Starts: []int64{0}}
	for _, row := range weights {
		for j, w := range row {
			if w != 0 {
				c.Targets, c.Weights = append(c.Targets, int32(j)), append(c.Weights, w)
			}
		}
		c.Starts = append(c.Starts, int64(len(c.Targets)))
	}
	check(t, b.SetCSR("A", "B", c))
	check(t, b.SetWinners("A", []int32{0}))
	return b
}

func step(t *testing.T, b *Brain) Round {
	trace, err := b.project(1, "A>B")
	check(t, err)
	return trace[0][0]
}

func TestPolicies(t *testing.T) {
	inputs := [][]float64{{5, 1, 4, 3, 2, 0.5}}
	for _, c := range []struct {
		column Column
		want   []int32
		next   float64
	}{
		{Column{}, []int32{0, 2, 3, 4}, 1},
		{Column{Policy: AtThreshold, Threshold: 3}, []int32{0, 2, 3}, 2},
		{Column{Policy: AtThreshold, Threshold: 9}, nil, 5},
		{Column{Policy: Relative, Threshold: 0.7}, []int32{0, 2}, 3},
		{Column{Policy: Relative, Threshold: 0.7, AtLeast: 3}, []int32{0, 2, 3}, 2},
		{Column{Policy: Relative, Threshold: 0}, []int32{0, 2, 3, 4}, 1},
	} {
		if r := step(t, chain(t, Area{K: 4, Column: c.column}, inputs)); !slices.Equal(r.Winners, c.want) || r.Next != c.next {
			t.Errorf("%+v: %v and next %v, want %v and %v", c.column, r.Winners, r.Next, c.want, c.next)
		}
	}
}

// What fired is inhibited for a while, and less and less; or the more often it has.
func TestFatigue(t *testing.T) {
	inputs := [][]float64{{5, 4.9, 4.5, 4.3}}
	fires := func(c Column) (list []int32) {
		b := chain(t, Area{K: 1, Column: c}, inputs)
		for range 6 {
			list = append(list, step(t, b).Winners[0])
		}
		return list
	}
	// After firing: 0.6 less, then 0.3 less, then nothing.
	if got := fires(Column{Latency: 2, LatencyStrength: 0.6}); !slices.Equal(got, []int32{0, 1, 0, 1, 0, 1}) {
		t.Errorf("latency: %v", got)
	}
	if got := fires(Column{Latency: 4, LatencyStrength: 0.6}); !slices.Equal(got, []int32{0, 1, 0, 2, 1, 0}) {
		t.Errorf("longer latency: %v", got)
	}
	if got := fires(Column{Refraction: 0.3}); !slices.Equal(got, []int32{0, 1, 0, 1, 2, 0}) {
		t.Errorf("refraction: %v", got)
	}
}

func TestRules(t *testing.T) {
	for rule, want := range map[Rule][]float64{
		Hebb:     {2 * 1.1, 2 * 1.21},
		Additive: {2 + 0.1*(1-0.02), 2.098 + 0.1*(1-0.02098)},
		AntiHebb: {1.8, 1.62},
		Willshaw: {1.1, 1.1},
	} {
		b := chain(t, Area{K: 1, Beta: 0.1, Rule: rule}, [][]float64{{2, 1}})
		for i, w := range want {
			step(t, b)
			if got, _ := b.Weight("A", "B", 0, 0); math.Abs(got-w) > 1e-12 {
				t.Errorf("rule %d, step %d: weight %v, want %v", rule, i, got, w)
			}
		}
		if got, _ := b.Weight("A", "B", 0, 1); got != 1 {
			t.Errorf("rule %d: the synapse onto a loser is %v", rule, got)
		}
	}
}

// Of rivals only the one with the larger input fires and learns.
func TestRivals(t *testing.T) {
	b := New(Settings{P: 0.1, Seed: 1})
	check(t, b.AddStimulus("weak", 20))
	check(t, b.AddStimulus("strong", 60))
	for _, name := range []string{"A", "B"} {
		check(t, b.AddArea(Area{Name: name, N: 2000, K: 20, Beta: 0.1, Lazy: name == "B"}))
	}
	check(t, b.Rivals("A", "B"))
	trace, err := b.project(1, "weak>A strong>B")
	check(t, err)
	a, bb := trace[0][0], trace[0][1]
	if len(a.Winners) != 0 || len(bb.Winners) != 20 || a.Input == 0 {
		t.Errorf("%d and %d winners", len(a.Winners), len(bb.Winners))
	}
	if _, err = b.project(1, "strong>A weak>B"); err != nil || len(winners(t, b, "A")) != 20 || len(winners(t, b, "B")) != 0 {
		t.Errorf("the other way: %v", err)
	}
	if s, _ := b.Support("B"); s != 20 {
		t.Errorf("a loser recruits: support %d", s)
	}
}

// Normalised fibres excite all neurons alike, and go on learning from there.
func TestNormalize(t *testing.T) {
	b := chain(t, Area{K: 1, Beta: 0.5}, [][]float64{{4, 1, 1}, {4, 0, 1}, {0, 0, 2}})
	check(t, b.Normalize("A", "B"))
	if r := step(t, b); r.Winners[0] != 1 || r.Kth != 1 || r.Next != 0.5 {
		t.Errorf("winners %v by %v over %v", r.Winners, r.Kth, r.Next)
	}
	if w, _ := b.Weight("A", "B", 0, 1); w != 1.5 {
		t.Errorf("weight %v, want 1.5", w)
	}
	check(t, b.Normalize("A", "B"))
	if w, _ := b.Weight("A", "B", 0, 1); w != 1 {
		t.Errorf("weight %v, want 1", w)
	}
}

// Closed areas and fibres carry nothing, whatever the plan says, until they are open.
func TestInhibition(t *testing.T) {
	b := New(Settings{P: 0.2, Seed: 1, EmptyIfSilent: true})
	check(t, b.AddStimulus("S", 30))
	check(t, b.AddArea(Area{Name: "A", N: 300, K: 10, Beta: 0.1}))
	check(t, b.AddArea(Area{Name: "B", N: 300, K: 10, Beta: 0.1}))
	check(t, b.InhibitFibre("A", "B", 0))
	check(t, b.InhibitFibre("B", "A", 1))
	do := must(t)
	do(b.project(2, "S>A A>B"))
	if len(winners(t, b, "A")) != 10 || len(winners(t, b, "B")) != 0 {
		t.Error("a closed fibre carries")
	}
	check(t, b.DisinhibitFibre("A", "B", 0))
	do(b.project(1, "S>A A>B"))
	if len(winners(t, b, "B")) != 0 {
		t.Error("a fibre is open while an index is left")
	}
	check(t, b.DisinhibitFibre("A", "B", 1))
	check(t, b.Inhibit("B", 0))
	do(b.project(1, "S>A A>B"))
	if len(winners(t, b, "B")) != 0 {
		t.Error("a closed area fires")
	}
	check(t, b.Disinhibit("B", 0))
	p, err := b.PlanOpen()
	check(t, err)
	trace, err := b.Project(p, 1)
	check(t, err)
	if len(trace[0]) != 2 || len(winners(t, b, "B")) != 10 {
		t.Errorf("what is open: %v", trace[0])
	}
}

// A lazy area with fibres of two probabilities recruits as the sum of two binomials
// says, and its synapses come from each as they should.
func TestFibresOfTheirOwnProbability(t *testing.T) {
	const k, trials = 50, 200
	sparse, dense, input := 0.0, 0.0, 0.0
	for seed := range uint64(trials) {
		b := New(Settings{P: 0.02, Seed: seed})
		check(t, b.AddStimulus("S", k))
		check(t, b.AddStimulus("D", k))
		check(t, b.AddArea(Area{Name: "A", N: 5000, K: k, Beta: 0, Lazy: true}))
		check(t, b.SetP("D", "A", 0.2))
		trace, err := b.project(1, "S>A D>A")
		check(t, err)
		for j := range k {
			s, _ := b.Weight("S", "A", 0, j)
			d, _ := b.Weight("D", "A", 0, j)
			sparse, dense = sparse+s, dense+d
		}
		input += trace[0][0].Input
	}
	if sparse+dense != input {
		t.Errorf("synapses %v and %v, input %v", sparse, dense, input)
	}
	// The largest 50 of 5000 sums: each part's share by the same distribution, drawn one by one.
	wantSparse, wantDense := expected(k, 5000, 0.02, 0.2)
	for _, c := range []struct{ got, want float64 }{{sparse / trials / k, wantSparse}, {dense / trials / k, wantDense}} {
		if math.Abs(c.got-c.want) > 0.1 {
			t.Errorf("mean synapses %.3f, want %.3f", c.got, c.want)
		}
	}
}

// expected draws the two parts of the largest k of n inputs, in an explicit area.
func expected(k, n int, p, q float64) (a, b float64) {
	const trials = 40
	for seed := range uint64(trials) {
		ins := [2][]float64{make([]float64, n), make([]float64, n)}
		x := make([]float64, n)
		for part, prob := range []float64{p, q} {
			for i := range k {
				for _, j := range Bernoulli(nil, Fibre{Seed: seed*2 + uint64(part), P: prob, N: n}, i) {
					ins[part][j]++
					x[j]++
				}
			}
		}
		for _, j := range top(x, k) {
			a, b = a+ins[0][j]/trials/float64(k), b+ins[1][j]/trials/float64(k)
		}
	}
	return a, b
}
