// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// exact is a density that can be drawn from.
type exact struct {
	name string
	dim  int
	lp   func(q, g []float64) float64
	draw func(src *tensor.Stream, q []float64)
}

func (e exact) Dim() int                                    { return e.dim }
func (e exact) LogProbGrad(q, g []float64) (float64, error) { return e.lp(q, g), nil }

// series is an autoregressive series of three numbers, of which the precision has neighbours beside the diagonal.
var series = exact{"series", 3, func(q, g []float64) float64 {
	a, b := q[1]-0.9*q[0], q[2]-0.9*q[1]
	g[0], g[1], g[2] = -q[0]+0.9*a/0.19, -a/0.19+0.9*b/0.19, -b/0.19
	return -q[0]*q[0]/2 - a*a/0.38 - b*b/0.38
}, func(src *tensor.Stream, q []float64) {
	q[0] = src.Normal()
	for i := 1; i < 3; i++ {
		q[i] = 0.9*q[i-1] + math.Sqrt(0.19)*src.Normal()
	}
}}

var exacts = []exact{
	series,
	{"funnel", 3, func(q, g []float64) float64 {
		w := math.Exp(-q[0])
		g[0], g[1], g[2] = -q[0]/2.25-1+w*(q[1]*q[1]+q[2]*q[2])/2, -q[1]*w, -q[2]*w
		return -q[0]*q[0]/4.5 - q[0] - w*(q[1]*q[1]+q[2]*q[2])/2
	}, func(src *tensor.Stream, q []float64) {
		q[0] = 1.5 * src.Normal()
		q[1], q[2] = math.Exp(q[0]/2)*src.Normal(), math.Exp(q[0]/2)*src.Normal()
	}},
	{"Student's t", 3, func(q, g []float64) (lp float64) {
		for i, x := range q {
			g[i] = -4 * x / (3 + x*x)
			lp -= 2 * math.Log(1+x*x/3)
		}
		return lp
	}, func(src *tensor.Stream, q []float64) {
		for i := range q {
			chi := 0.0
			for range 3 {
				z := src.Normal()
				chi += z * z
			}
			q[i] = src.Normal() / math.Sqrt(chi/3)
		}
	}},
	{"two modes", 3, func(q, g []float64) float64 {
		s := math.Exp(-math.Abs(2 * 1.5 * q[0]))
		up := 1 / (1 + math.Exp(-3*q[0]))
		g[0], g[1], g[2] = -q[0]+1.5*(2*up-1), -q[1], -q[2]
		return -(q[0]*q[0]+q[1]*q[1]+q[2]*q[2])/2 + 1.5*math.Abs(q[0]) + math.Log1p(s)
	}, func(src *tensor.Stream, q []float64) {
		q[0], q[1], q[2] = src.Normal()+1.5, src.Normal(), src.Normal()
		if src.Float64() < 0.5 {
			q[0] -= 3
		}
	}},
	{"shares", 3, func(q, g []float64) float64 { // a Dirichlet distribution (1, 2, 3, 2), by logarithms of ratios to the last share
		total, a := 1.0, []float64{1, 2, 3}
		for _, x := range q {
			total += math.Exp(x)
		}
		lp := -8 * math.Log(total)
		for i, x := range q {
			lp += a[i] * x
			g[i] = a[i] - 8*math.Exp(x)/total
		}
		return lp
	}, func(src *tensor.Stream, q []float64) {
		gamma := func(n int) (sum float64) {
			for range n {
				sum -= math.Log(1 - src.Float64())
			}
			return sum
		}
		last := gamma(2)
		for i := range q {
			q[i] = math.Log(gamma(i+1) / last)
		}
	}},
}

// metrics are one of each kind, none of which suits all targets.
func metrics() map[string]Metric {
	dense, err := DenseMetric([][]float64{{2, 0.5, 0.1}, {0.5, 1, -0.3}, {0.1, -0.3, 0.5}})
	if err != nil {
		panic(err)
	}
	return map[string]Metric{
		"identity": {},
		"diagonal": {Scale: []float64{0.5, 1.5, 1}},
		"low rank": {Scale: []float64{0.5, 1.5, 1}, Vec: []float64{0.6, 0.8, 0}, Grow: []float64{1.2}},
		"dense":    dense,
		"blocks":   {Scale: []float64{1, 1, 0.7}, Blocks: []BlockFactor{{At: []int{0, 1}, Chol: []float64{1.2, 0, 0.4, 0.9}}}},
		"sparse":   {Sparse: NewSparseFactor([]int{0, 2, 1}, []int{0, 2, 4, 5}, []int{0, 1, 2, 1, 1}, []float64{1.5, -0.7, 1.2, 0.4, 0.9})},
		"chain":    {Sparse: NewSparseFactor([]int{0, 1, 2}, []int{0, 2, 3, 4}, []int{0, 1, 1, 2}, []float64{1.5, -0.7, 1.2, 0.9})},
	}
}

// A step forwards and one backwards lead to where they began, and steps keep volumes, with every metric and level of refinement.
func TestStepsAreReversibleAndKeepVolumes(t *testing.T) {
	for name, m := range metrics() {
		for level := range 4 {
			momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
			tree := NewTree(exacts[1], &m, 6, 1000, &momentum, &choice)
			move := func(q, z []float64) Point {
				p := NewPoint(3)
				copy(p.Q, q)
				if err := tree.Start(&p); err != nil {
					t.Fatal(err)
				}
				copy(p.Z, z)
				if err := tree.refined(&p, 0.3, level); err != nil {
					t.Fatal(err)
				}
				return p
			}
			q, z := []float64{0.3, -0.4, 1}, []float64{0.5, 1, -0.7}
			there := move(q, z)
			for i := range there.Z {
				there.Z[i] = -there.Z[i]
			}
			back := move(there.Q, there.Z)
			jacobian := mat.NewDense(6, 6, nil)
			for i := range 3 {
				if math.Abs(back.Q[i]-q[i]) > 1e-10 || math.Abs(back.Z[i]+z[i]) > 1e-10 {
					t.Errorf("%s, level %d: from %v and %v the way back ends at %v and %v", name, level, q, z, back.Q, back.Z)
				}
			}
			for k := range 6 {
				const h = 1e-4
				at := [2]Point{}
				for side := range at {
					x := slices.Concat(q, z)
					x[k] += h * float64(1-2*side)
					at[side] = move(x[:3], x[3:])
				}
				for i := range 3 {
					jacobian.Set(i, k, (at[0].Q[i]-at[1].Q[i])/(2*h))
					jacobian.Set(3+i, k, (at[0].Z[i]-at[1].Z[i])/(2*h))
				}
			}
			if det := mat.Det(jacobian); math.Abs(math.Abs(det)-1) > 1e-6 {
				t.Errorf("%s, level %d: volumes change by the factor %.9g", name, level, det)
			}
		}
	}
}

// Steps follow Hamilton's equations with every metric: over one unit of time the energy changes little, and a quarter as much in steps of half the size.
func TestStepsFollowHamilton(t *testing.T) {
	for name, m := range metrics() {
		change := func(steps int) float64 {
			momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
			tree := NewTree(series, &m, 6, 1000, &momentum, &choice)
			p := NewPoint(3)
			copy(p.Q, []float64{0.3, -0.4, 1})
			if err := tree.Start(&p); err != nil {
				t.Fatal(err)
			}
			copy(p.Z, []float64{0.5, 1, -0.7})
			before := p.Energy()
			for range steps {
				if err := tree.Leapfrog(&p, 1/float64(steps)); err != nil {
					t.Fatal(err)
				}
			}
			return math.Abs(p.Energy() - before)
		}
		if wide, narrow := change(64), change(128); wide > 0.02 || math.Abs(wide/narrow-4) > 0.2 {
			t.Errorf("%s: the energy changes by %.2g in 64 steps, and by %.2g in 128", name, wide, narrow)
		}
	}
}

// apart is the largest difference between the shares of two samples below a number, in units that exceed 1 once in 100,000 pairs of samples of one distribution.
func apart(a, b []float64) float64 {
	slices.Sort(a)
	slices.Sort(b)
	most, j := 0.0, 0
	for i, v := range a {
		for j < len(b) && b[j] <= v {
			j++
		}
		most = max(most, math.Abs(float64(i+1)/float64(len(a))-float64(j)/float64(len(b))))
	}
	n := float64(len(a)*len(b)) / float64(len(a)+len(b))
	return most * math.Sqrt(n) / math.Sqrt(-math.Log(1e-5/2)/2)
}

// apartness compares n draws after one transition from exact draws with other exact draws, by the place, its length and the log density, and says in which of
// eight functions the way there and the way back differ by more than 4.5 standard errors.
func apartness(target exact, m Metric, eps, soft float64, n int, change func(*Tree)) (most float64, one []string) {
	momentum, choice, draws := tensor.NewStream(2, 1, 0), tensor.NewStream(2, 2, 0), tensor.NewStream(2, 3, 0)
	tree := NewTree(target, &m, 6, 1000, &momentum, &choice)
	if tree.SoftError = soft; change != nil {
		change(tree)
	}
	of := func(q []float64) []float64 {
		g := make([]float64, 3)
		return []float64{q[0], q[1], q[2], math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2]), target.lp(q, g)}
	}
	moved, fresh := make([][]float64, 5), make([][]float64, 5)
	sums, squares := make([]float64, 8), make([]float64, 8)
	p, other := NewPoint(3), make([]float64, 3)
	for range n {
		target.draw(&draws, p.Q)
		before := of(p.Q)
		if err := tree.Start(&p); err != nil {
			panic(err)
		}
		if _, err := tree.Move(&p, eps); err != nil {
			panic(err)
		}
		target.draw(&draws, other)
		after, independent := of(p.Q), of(other)
		for k := range moved {
			moved[k], fresh[k] = append(moved[k], after[k]), append(fresh[k], independent[k])
		}
		for k := range sums {
			d := 0.0
			if k < 5 {
				d = sign(after[k] - before[k])
			} else {
				d = sign(math.Abs(after[k-5]-0.5) - math.Abs(before[k-5]-0.5))
			}
			sums[k], squares[k] = sums[k]+d, squares[k]+d*d
		}
	}
	for k := range moved {
		most = max(most, apart(moved[k], fresh[k]))
	}
	for k, sum := range sums {
		if z := sum / math.Sqrt(squares[k]); math.Abs(z) > 4.5 {
			one = append(one, fmt.Sprintf("%d (%.1f)", k, z))
		}
	}
	return most, one
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// One transition from exact draws gives exact draws, with every metric, with and without soft steps, most of which are refined; and the way back is as
// probable as the way there.
//
// Reference: Gandy and Scott, arXiv:2001.06465.
func TestOneTransitionKeepsTheDensity(t *testing.T) {
	n := tier.Of(1500, 100_000)
	for name, m := range metrics() {
		for i, target := range exacts {
			for _, soft := range []float64{0, 0.05} {
				if !tier.Slow && (i+len(name))%3 > 0 { // each metric meets some of the targets
					continue
				}
				if most, one := apartness(target, m, 0.5, soft, n, nil); most > 1 || len(one) > 0 {
					t.Errorf("%s, metric %s, soft steps from an error of %g: draws are %.2f of the limit apart; functions that rise or fall: %v", target.name, name, soft, most, one)
				}
			}
		}
	}
}

// Faults of soft steps are seen in that way.
func TestFaultsOfTransitionsAreSeen(t *testing.T) {
	for name, fault := range map[string]func(float64) float64{
		"a forgotten ratio": func(float64) float64 { return 0 },
		"an inverted ratio": func(r float64) float64 { return -r },
	} {
		if most, _ := apartness(exacts[1], Metric{}, 1.2, 0.3, 12_000, func(t *Tree) { t.Weigh = fault }); most < 1 {
			t.Errorf("%s is not seen: draws are %.2f of the limit apart", name, most)
		}
	}
}
