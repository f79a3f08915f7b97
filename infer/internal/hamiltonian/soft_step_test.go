// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// bowl is a density in one dimension whose width changes, so that steps are refined now and then.
type bowl struct{}

func (bowl) Dim() int { return 1 }

func (bowl) LogProbGrad(q, g []float64) (float64, error) {
	g[0] = -q[0] - q[0]*q[0]*q[0]
	return -q[0]*q[0]/2 - q[0]*q[0]*q[0]*q[0]/4, nil
}

// scripted makes the decisions of a transition in the order of a word, the first ways where it ends, and notes what they were.
type scripted struct {
	word  []bool
	taken []bool
	p     float64 // probability of the decisions
}

func (s *scripted) decide(part, whole float64) bool {
	yes := len(s.taken) < len(s.word) && s.word[len(s.taken)]
	p := math.Min(part/whole, 1)
	if !yes {
		p = 1 - p
	}
	s.taken, s.p = append(s.taken, yes), s.p*p
	return yes
}

// outcome is an orbit, by its ends, and the place of the draw on it.
type outcome struct{ orbit, draw string }

func place(x float64) string { return fmt.Sprintf("%.6f", x) }

// law returns the probabilities of all orbits and draws from a start, and the other places of the orbits.
func law(q, z, eps float64, depth int, change func(*Tree)) map[outcome]float64 {
	out := map[outcome]float64{}
	for word := []bool{}; ; {
		s := &scripted{word: word, p: 1}
		momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
		m := Metric{}
		t := NewTree(bowl{}, &m, depth, 1000, &momentum, &choice)
		t.SoftError, t.levels, t.MinDepth, t.Decide = 0.02, 2, depth+1, s.decide
		t.Forward = func() int { return int(map[bool]uint8{false: 0, true: 1}[s.decide(1, 2)]) }
		change(t)
		p := NewPoint(1)
		p.Q[0], p.Z[0] = q, z
		t.Start(&p)
		for more := t.Begin(&p, eps); more; {
			end := &t.Ends[t.Side]
			if t.advance(end, t.Step()) != nil {
				panic("the target fails")
			}
			h := end.Energy()
			t.Next().Hold(t.Mem, end)
			more = t.TakeLeaf(h, math.Exp(-math.Abs(t.H0-h)), nil)
		}
		ends := place(t.Ends[0].Q[0]) + " " + place(t.Ends[1].Q[0])
		t.Finish(&p)
		out[outcome{ends, place(p.Q[0])}] += s.p
		at := len(s.taken) - 1
		for at >= 0 && s.taken[at] {
			at--
		}
		if at < 0 {
			return out
		}
		word = append(s.taken[:at:at], true)
	}
}

// leaves lists the places and momenta of the leaves of all orbits from a start.
func leaves(q, z, eps float64, depth int) map[string][2]float64 {
	all := map[string][2]float64{place(q): {q, z}}
	law(q, z, eps, depth, func(t *Tree) {
		decide := t.Decide
		t.Decide = func(part, whole float64) bool {
			for side := range t.Ends {
				e := &t.Ends[side]
				all[place(e.Q[0])] = [2]float64{e.Q[0], e.Z[0]}
			}
			return decide(part, whole)
		}
	})
	return all
}

// imbalance returns by how much the draws of the orbits through a start fall short of the density: for each complete orbit o and each j on it,
//
//	sum_i exp(-H_i) P(o, j | i) = exp(-H_j) P(o | j)
//
// as a part of the whole.
func imbalance(q, z float64, change func(*Tree)) (worst float64, orbits int) {
	const eps, depth = 0.9, 2
	energy := func(at [2]float64) float64 { return at[1]*at[1]/2 + at[0]*at[0]/2 + math.Pow(at[0], 4)/4 }
	first := law(q, z, eps, depth, change)
	places := leaves(q, z, eps, depth)
	laws := map[string]map[outcome]float64{}
	for name, at := range places {
		laws[name] = law(at[0], at[1], eps, depth, change)
	}
	seen := map[string]bool{}
	for o := range first {
		if seen[o.orbit] {
			continue
		}
		seen[o.orbit] = true
		drawn, started := map[string]float64{}, map[string]float64{}
		for name, l := range laws {
			for r, p := range l {
				if r.orbit == o.orbit {
					w := math.Exp(-energy(places[name])) * p
					drawn[r.draw] += w
					started[name] += w
				}
			}
		}
		total := 0.0
		for _, w := range started {
			total += w
		}
		if total < 1e-6 {
			continue
		}
		orbits++
		for name := range started {
			worst = math.Max(worst, math.Abs(drawn[name]-started[name])/total)
		}
	}
	return worst, orbits
}

// Transitions with soft steps leave the density as it is: proved on all orbits of four leaves through some starts. Faults in the ratio are seen.
func TestSoftStepsKeepTheDensity(t *testing.T) {
	for i, start := range [][2]float64{{0.3, 1.1}, {-1.4, 0.2}} {
		plain := func(*Tree) {}
		got, orbits := imbalance(start[0], start[1], plain)
		if got > 1e-5 || orbits < 4 {
			t.Errorf("from %v: draws of %d orbits fall short by %.2g of the density", start, orbits, got)
		}
		if i > 0 {
			continue
		}
		for name, fault := range map[string]func(float64) float64{
			"a forgotten ratio": func(float64) float64 { return 0 },
			"an inverted ratio": func(r float64) float64 { return -r },
		} {
			if got, _ := imbalance(start[0], start[1], func(t *Tree) { t.Weigh = fault }); got < 1e-3 {
				t.Errorf("from %v: %s is not seen: %.2g", start, name, got)
			}
		}
	}
}

// funnel is Neal's: v ~ N(0, 3), x ~ N(0, exp(v/2)).
type funnel struct{}

func (funnel) Dim() int { return 2 }

func (funnel) LogProbGrad(q, g []float64) (float64, error) {
	v, x := q[0], q[1]
	w := x * x * math.Exp(-v)
	g[0], g[1] = -v/9-0.5+w/2, -x*math.Exp(-v)
	return -v*v/18 - v/2 - w/2, nil
}

// One transition from exact draws of a funnel gives exact draws, though most of its trajectories are refined, and the way back is as probable: means of
// functions, and of differences of functions before and after, are those of the funnel within 4 standard errors.
func TestSoftStepsInFunnel(t *testing.T) {
	momentum, choice, draws := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0), tensor.NewStream(1, 3, 0)
	m := Metric{}
	tree := NewTree(funnel{}, &m, 6, 1000, &momentum, &choice)
	tree.SoftError = 0.1
	functions := map[string]func(v, x float64) float64{
		"v":      func(v, _ float64) float64 { return v },
		"v^2/9":  func(v, _ float64) float64 { return v*v/9 - 1 },
		"scaled": func(v, x float64) float64 { return x*x*math.Exp(-v) - 1 },
		"neck":   func(v, _ float64) float64 { return map[bool]float64{true: 1}[v < -4.5] - 0.0668072 },
	}
	sum, square, change, changeSquare := map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}
	const n = 20000
	refined := 0
	p := NewPoint(2)
	for range n {
		v := 3 * draws.Normal()
		x := math.Exp(v/2) * draws.Normal()
		p.Q[0], p.Q[1] = v, x
		if err := tree.Start(&p); err != nil {
			t.Fatal(err)
		}
		out, err := tree.Move(&p, 0.4)
		if err != nil {
			t.Fatal(err)
		}
		if out.Refined > 0 {
			refined++
		}
		for name, f := range functions {
			y := f(p.Q[0], p.Q[1])
			sum[name] += y
			square[name] += y * y
			d := math.Copysign(math.Min(math.Abs(y-f(v, x)), 1), y-f(v, x)) // antisymmetric in both ends
			change[name] += d
			changeSquare[name] += d * d
		}
	}
	if refined < n/5 {
		t.Errorf("%d of %d trajectories are refined", refined, n)
	}
	for name := range functions {
		if z := sum[name] / math.Sqrt(square[name]); math.Abs(z) > 4 {
			t.Errorf("the mean of %s is %.1f standard errors off", name, z)
		}
		if z := change[name] / math.Sqrt(changeSquare[name]); math.Abs(z) > 4 {
			t.Errorf("changes of %s have a mean of %.1f standard errors", name, z)
		}
	}
}

// box is uniform between -1 and 1, where it ends at edges.
type box struct{}

func (box) Dim() int { return 1 }

func (box) LogProbGrad(q, g []float64) (float64, error) {
	if g[0] = 0; math.Abs(q[0]) > 1 {
		return math.Inf(-1), nil
	}
	return 0, nil
}

// At edges of the density soft steps end trajectories, and the draws stay uniform.
func TestSoftStepsAtEdges(t *testing.T) {
	momentum, choice, draws := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0), tensor.NewStream(1, 3, 0)
	m := Metric{}
	tree := NewTree(box{}, &m, 6, 1000, &momentum, &choice)
	tree.SoftError = 1.5
	const n = 20000
	square, near := 0.0, 0.0
	p := NewPoint(1)
	for range n {
		p.Q[0] = 2*draws.Float64() - 1
		if err := tree.Start(&p); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Move(&p, 0.3); err != nil {
			t.Fatal(err)
		}
		square += p.Q[0] * p.Q[0] / n
		if math.Abs(p.Q[0]) > 0.9 {
			near += 1.0 / n
		}
	}
	if z := (square - 1.0/3) / math.Sqrt(4.0/45/n); math.Abs(z) > 4 {
		t.Errorf("the mean square is %.1f standard errors off", z)
	}
	if z := (near - 0.1) / math.Sqrt(0.09/n); math.Abs(z) > 4 {
		t.Errorf("the share near the edges is %.1f standard errors off", z)
	}
}
