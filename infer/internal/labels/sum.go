// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package labels

import "math"

// Sum says which variables are summed out.
type Sum struct {
	Settings int // number of combinations of values of the outer variables
	Groups   []Group
}

// Group is a set of units, each with the same variables.
type Group struct {
	Counts []int // numbers of values of the variables of a unit
	Units  int
	// Chain says that the units follow each other, and that the first variable of each is the state of a Markov chain.
	Chain bool
}

// Combinations is the number of combinations of values of the variables of a unit, of which the first runs slowest.
func (g *Group) Combinations() int {
	n := 1
	for _, k := range g.Counts {
		n *= k
	}
	return n
}

// Table holds the logarithms of the density of a group.
type Table struct {
	Joint [][]float64 // [combination][unit]
	// Initial are the log probabilities of the first state of a chain, and Steps those of going from one state to another, row-major, for each step or for all.
	Initial, Steps []float64
}

// Tables is the density at one point, for each setting of the outer variables.
type Tables struct {
	Rest   []float64 // what does not depend on units
	Groups [][]Table // [setting][group]
}

// Source is a stream of uniform numbers in [0, 1).
type Source interface{ Float64() float64 }

// LogSum returns the logarithm of the sum of the exponentials, -Inf for none.
func LogSum(x ...float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = math.Max(top, v) // a NaN stays
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Log returns the log density with all variables summed out, for each setting.
func (s *Sum) Log(t *Tables) []float64 {
	out := make([]float64, s.Settings)
	for o := range out {
		out[o] = t.Rest[o]
		for k := range s.Groups {
			out[o] += s.Groups[k].Log(&t.Groups[o][k])
		}
	}
	return out
}

// Log returns the log density of a group with its variables summed out.
func (g *Group) Log(t *Table) float64 {
	if g.Chain {
		return LogSum(g.forward(t, g.states(t, LogSum))[g.Units-1]...)
	}
	sum := 0.0
	for u := range g.Units {
		sum += LogSum(column(t.Joint, u)...)
	}
	return sum
}

// Draw draws a setting of the outer variables and a combination for each unit of each group.
func (s *Sum) Draw(t *Tables, src Source) (setting int, combinations [][]int) {
	setting = pick(s.Log(t), src)
	for k := range s.Groups {
		combinations = append(combinations, s.Groups[k].draw(&t.Groups[setting][k], src))
	}
	return setting, combinations
}

// draw goes backwards through a chain, since the last state depends on all data.
func (g *Group) draw(t *Table, src Source) []int {
	out := make([]int, g.Units)
	if !g.Chain {
		for u := range out {
			out[u] = pick(column(t.Joint, u), src)
		}
		return out
	}
	alpha, per, next := g.forward(t, g.states(t, LogSum)), g.Combinations()/g.Counts[0], -1
	for u := g.Units - 1; u >= 0; u-- {
		state := pick(g.before(t, alpha[u], u, next), src)
		out[u] = state*per + pick(column(t.Joint[state*per:(state+1)*per], u), src)
		next = state
	}
	return out
}

// Best returns the combination of all values whose joint density is highest, and the logarithm of that density.
func (s *Sum) Best(t *Tables) (setting int, combinations [][]int, log float64) {
	log = math.Inf(-1)
	for o := range s.Settings {
		at, here := t.Rest[o], [][]int(nil)
		for k := range s.Groups {
			c, v := s.Groups[k].best(&t.Groups[o][k])
			here, at = append(here, c), at+v
		}
		if at > log || combinations == nil {
			setting, combinations, log = o, here, at
		}
	}
	return setting, combinations, log
}

// best is Viterbi's algorithm where the group is a chain.
func (g *Group) best(t *Table) (out []int, log float64) {
	out = make([]int, g.Units)
	if !g.Chain {
		for u := range out {
			v := column(t.Joint, u)
			out[u] = highest(v)
			log += v[out[u]]
		}
		return out, log
	}
	most := func(x ...float64) float64 { return x[highest(x)] }
	delta := g.along(t, g.states(t, most), most)
	per, next := g.Combinations()/g.Counts[0], -1
	for u := g.Units - 1; u >= 0; u-- {
		state := highest(g.before(t, delta[u], u, next))
		out[u] = state*per + highest(column(t.Joint[state*per:(state+1)*per], u))
		next = state
	}
	return out, most(delta[g.Units-1]...)
}

// Probabilities returns the probability of each setting of the outer variables, and for each group that of each combination of each unit.
func (s *Sum) Probabilities(t *Tables) (settings []float64, units [][][]float64) {
	settings = normalised(s.Log(t))
	for k := range s.Groups {
		g := &s.Groups[k]
		sum := make([][]float64, g.Combinations())
		for c := range sum {
			sum[c] = make([]float64, g.Units)
		}
		for o, w := range settings {
			if w == 0 {
				continue
			}
			for u, p := range g.posterior(&t.Groups[o][k]) {
				for c := range sum {
					sum[c][u] += w * p[c]
				}
			}
		}
		units = append(units, sum)
	}
	return settings, units
}

// posterior returns the probabilities of the combinations of each unit.
func (g *Group) posterior(t *Table) [][]float64 {
	out := make([][]float64, g.Units)
	others := g.others(t)
	for u := range out {
		v := column(t.Joint, u)
		for c := range v {
			v[c] += others(u, c)
		}
		out[u] = normalised(v)
	}
	return out
}

// Changed returns a function for the log density for each setting, with all variables summed out, where a unit of a group has other logarithms than in the
// tables. It does what all its calls need once.
func (s *Sum) Changed(t *Tables) func(group, unit int, joint func(setting, combination int) float64) []float64 {
	logs, others := make([][]float64, s.Settings), make([][]func(unit, combination int) float64, s.Settings)
	for o := range logs {
		for k := range s.Groups {
			logs[o] = append(logs[o], s.Groups[k].Log(&t.Groups[o][k]))
			others[o] = append(others[o], s.Groups[k].others(&t.Groups[o][k]))
		}
	}
	return func(group, unit int, joint func(setting, combination int) float64) []float64 {
		out, g := make([]float64, s.Settings), &s.Groups[group]
		for o := range out {
			v := make([]float64, g.Combinations())
			for c := range v {
				v[c] = joint(o, c) + others[o][group](unit, c)
			}
			out[o] = t.Rest[o] + g.without(&t.Groups[o][group], unit, logs[o][group]) + LogSum(v...)
			for k, log := range logs[o] {
				if k != group {
					out[o] += log
				}
			}
		}
		return out
	}
}

// without returns the log density of all units but one, where they are independent, and 0 for a chain, of which log is that of all.
func (g *Group) without(t *Table, unit int, log float64) float64 {
	if g.Chain {
		return 0
	}
	if !math.IsInf(log, -1) {
		return log - LogSum(column(t.Joint, unit)...)
	}
	sum := 0.0
	for u := range g.Units {
		if u != unit {
			sum += LogSum(column(t.Joint, u)...)
		}
	}
	return sum
}

// others returns a function for the logarithm of what the other units of a chain say about a combination of a unit: 0 for units that are independent.
func (g *Group) others(t *Table) func(unit, combination int) float64 {
	if !g.Chain {
		return func(int, int) float64 { return 0 }
	}
	emission := g.states(t, LogSum)
	ahead, behind := g.forward(t, emission), g.backward(t, emission)
	per := g.Combinations() / g.Counts[0]
	return func(u, c int) float64 {
		state := c / per
		if u == 0 {
			return t.Initial[state] + behind[u][state]
		}
		step, from := g.step(t, u), make([]float64, g.Counts[0])
		for i := range from {
			from[i] = ahead[u-1][i] + step[i*g.Counts[0]+state]
		}
		return LogSum(from...) + behind[u][state]
	}
}

// states returns the logarithms of the density of each state of a chain, [unit][state], with the other variables of a unit joined.
func (g *Group) states(t *Table, join func(...float64) float64) [][]float64 {
	per := g.Combinations() / g.Counts[0]
	out := make([][]float64, g.Units)
	for u := range out {
		for state := range g.Counts[0] {
			out[u] = append(out[u], join(column(t.Joint[state*per:(state+1)*per], u)...))
		}
	}
	return out
}

// step returns the log probabilities of the step to unit u.
func (g *Group) step(t *Table, u int) []float64 {
	k := g.Counts[0]
	if len(t.Steps) == k*k {
		return t.Steps
	}
	return t.Steps[(u-1)*k*k : u*k*k]
}

func (g *Group) forward(t *Table, emission [][]float64) [][]float64 {
	return g.along(t, emission, LogSum)
}

// along goes forwards through a chain, with the states before joined.
func (g *Group) along(t *Table, emission [][]float64, join func(...float64) float64) [][]float64 {
	k := g.Counts[0]
	out := make([][]float64, g.Units)
	for u := range out {
		out[u] = make([]float64, k)
		for j := range k {
			at := t.Initial[j]
			if u > 0 {
				from := make([]float64, k)
				for i := range from {
					from[i] = out[u-1][i] + g.step(t, u)[i*k+j]
				}
				at = join(from...)
			}
			out[u][j] = at + emission[u][j]
		}
	}
	return out
}

// backward returns the logarithms of the density of what comes after each unit, given its state.
func (g *Group) backward(t *Table, emission [][]float64) [][]float64 {
	k := g.Counts[0]
	out := make([][]float64, g.Units)
	for u := g.Units - 1; u >= 0; u-- {
		out[u] = make([]float64, k)
		if u == g.Units-1 {
			continue
		}
		for i := range k {
			to := make([]float64, k)
			for j := range to {
				to[j] = g.step(t, u+1)[i*k+j] + emission[u+1][j] + out[u+1][j]
			}
			out[u][i] = LogSum(to...)
		}
	}
	return out
}

// before returns what the states of unit u have gathered on the way, if the next unit has the state next, which is -1 for the last unit.
func (g *Group) before(t *Table, alpha []float64, u, next int) []float64 {
	out := append([]float64{}, alpha...)
	if next >= 0 {
		step, k := g.step(t, u+1), g.Counts[0]
		for i := range out {
			out[i] += step[i*k+next]
		}
	}
	return out
}

func column(x [][]float64, u int) []float64 {
	out := make([]float64, len(x))
	for c := range x {
		out[c] = x[c][u]
	}
	return out
}

// normalised returns probabilities from their logarithms up to a constant, all 0 where nothing is possible.
func normalised(logs []float64) []float64 {
	out, total := make([]float64, len(logs)), LogSum(logs...)
	if math.IsInf(total, -1) {
		return out
	}
	for i, v := range logs {
		out[i] = math.Exp(v - total)
	}
	return out
}

// pick draws a place by the logarithms of the probabilities up to a constant.
func pick(logs []float64, src Source) int {
	u, last := src.Float64(), 0
	for i, p := range normalised(logs) {
		if p == 0 {
			continue
		}
		if last = i; u < p {
			return i
		}
		u -= p
	}
	return last
}

// highest returns the place of the largest number.
func highest(x []float64) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}
