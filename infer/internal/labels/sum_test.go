// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package labels

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// example has two settings, a chain of three states with a label each, and two independent units; one combination is impossible.
func example() (*Sum, *Tables) {
	src := tensor.NewStream(1, 2, 3)
	random := func(n int) []float64 { return src.NormalTo(make([]float64, n)) }
	s := &Sum{Settings: 2, Groups: []Group{{Counts: []int{2, 2}, Units: 3, Chain: true}, {Counts: []int{3}, Units: 2}}}
	t := &Tables{Rest: random(2)}
	for range 2 {
		chain, units := Table{Initial: random(2), Steps: random(8)}, Table{}
		for range 4 {
			chain.Joint = append(chain.Joint, random(3))
		}
		for range 3 {
			units.Joint = append(units.Joint, random(2))
		}
		units.Joint[1][0] = math.Inf(-1)
		t.Groups = append(t.Groups, []Table{chain, units})
	}
	return s, t
}

// each calls f with every choice of the example and the logarithm of its density.
func each(t *Tables, f func(setting int, c [5]int, log float64)) {
	for o := range 2 {
		for number := range 64 * 9 {
			var c [5]int
			rest := number
			for u := range 3 {
				c[u], rest = rest%4, rest/4
			}
			c[3], c[4] = rest%3, rest/3
			chain, units := &t.Groups[o][0], &t.Groups[o][1]
			log := t.Rest[o] + chain.Initial[c[0]/2] + units.Joint[c[3]][0] + units.Joint[c[4]][1]
			for u := range 3 {
				if log += chain.Joint[c[u]][u]; u > 0 {
					log += chain.Steps[(u-1)*4+c[u-1]/2*2+c[u]/2]
				}
			}
			f(o, c, log)
		}
	}
}

// Sums, probabilities, most probable values and draws against all 1152 choices.
func TestSumAgainstAllChoices(t *testing.T) {
	s, tables := example()
	var bySetting [2]float64
	var byUnit [5][4]float64
	var without float64 // unit 1 of the chain has other logarithms
	changed := func(o, c int) float64 { return float64(o) - 0.3*float64(c) }
	best, bestLog := [5]int{}, math.Inf(-1)
	each(tables, func(o int, c [5]int, log float64) {
		bySetting[o] += math.Exp(log)
		for u := range c {
			byUnit[u][c[u]] += math.Exp(log)
		}
		without += math.Exp(log - tables.Groups[o][0].Joint[c[1]][1] + changed(o, c[1]))
		if log > bestLog {
			best, bestLog = c, log
		}
	})
	total := bySetting[0] + bySetting[1]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%s is %.15g, want %.15g", what, got, want)
		}
	}
	for o, v := range s.Log(tables) {
		near("the log density of a setting", v, math.Log(bySetting[o]))
	}
	settings, units := s.Probabilities(tables)
	for o, p := range settings {
		near("the probability of a setting", p, bySetting[o]/total)
	}
	for u := range byUnit {
		group, at := 0, u
		if u > 2 {
			group, at = 1, u-3
		}
		for c := range units[group] {
			near("the probability of a combination", units[group][c][at], byUnit[u][c]/total)
		}
	}
	near("the log density with a unit changed", LogSum(s.Changed(tables)(0, 1, changed)...), math.Log(without))
	independent := s.Changed(tables)(1, 0, func(o, c int) float64 { return tables.Groups[o][1].Joint[c][0] })
	for o, v := range independent {
		near("the log density with a unit as it was", v, math.Log(bySetting[o]))
	}
	setting, combinations, log := s.Best(tables)
	near("the largest log density", log, bestLog)
	each(tables, func(o int, c [5]int, at float64) {
		if c == best && at == bestLog && (o != setting || combinations[0][0] != c[0] || combinations[0][1] != c[1] || combinations[0][2] != c[2] || combinations[1][0] != c[3] || combinations[1][1] != c[4]) {
			t.Errorf("the most probable values are %d %v, want %d %v", setting, combinations, o, c)
		}
	})

	const draws = 40000
	src := tensor.NewStream(4, 5, 6)
	var pairs, want [16]float64 // of the first two units of the chain
	each(tables, func(_ int, c [5]int, log float64) { want[c[0]*4+c[1]] += math.Exp(log) / total })
	for range draws {
		_, c := s.Draw(tables, &src)
		pairs[c[0][0]*4+c[0][1]] += 1.0 / draws
		if c[1][0] == 1 {
			t.Fatal("an impossible combination was drawn")
		}
	}
	for k, p := range want {
		if math.Abs(pairs[k]-p) > 4.5*math.Sqrt(p*(1-p)/draws)+1e-5 {
			t.Errorf("pair %d is drawn with the share %.4f, want %.4f", k, pairs[k], p)
		}
	}
}

// Sums of nothing, of infinities and of units that cannot be.
func TestSumsOfImpossibleUnits(t *testing.T) {
	if v := LogSum(); !math.IsInf(v, -1) {
		t.Errorf("the sum of nothing is %g", v)
	}
	if v := LogSum(math.Inf(-1), math.Inf(-1)); !math.IsInf(v, -1) {
		t.Errorf("the sum of zeros is %g", v)
	}
	s, tables := example()
	for o := range 2 {
		for c := range 3 {
			tables.Groups[o][1].Joint[c][0] = math.Inf(-1)
		}
	}
	for _, v := range s.Log(tables) {
		if !math.IsInf(v, -1) {
			t.Errorf("the log density of what cannot be is %g", v)
		}
	}
	for o, v := range s.Changed(tables)(1, 0, func(int, int) float64 { return 0 }) {
		chain, units := &s.Groups[0], &s.Groups[1]
		other := LogSum(column(tables.Groups[o][1].Joint, 1)...)
		if want := tables.Rest[o] + chain.Log(&tables.Groups[o][0]) + other + math.Log(float64(units.Combinations())); math.Abs(v-want) > 1e-12 {
			t.Errorf("without the unit that cannot be the log density is %g, want %g", v, want)
		}
	}
}
