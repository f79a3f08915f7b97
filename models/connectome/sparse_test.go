// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// wavy returns n numbers about centre.
func wavy(n int, centre, size, phase float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = centre + size*math.Sin(phase+2.3*float64(i))
	}
	return x
}

// Sparse dynamics equal the dense ones to 1e-12, gradients to 1e-9, with every cap and
// with weights that reach their bound.
func TestSparseEqualsDense(t *testing.T) {
	const m, n, k, steps = 20, 60, 6, 9
	es, er := Connect(assembly.Fibre{P: .4, N: n, Seed: 1}, m, nil), Connect(assembly.Fibre{P: .3, N: n, Seed: 2}, n, nil)
	stimulus := wavy(m, .5, .6, 1)
	for i, v := range stimulus {
		stimulus[i] = max(v, 0)
	}
	s, beta := ad.Const(stimulus), ad.Scalar(.3)
	ws, wr := ad.Const(wavy(es.Len(), 1, .2, 2)), ad.Const(wavy(er.Len(), 1, .2, 3))
	dense := func(e *Edges, w *ad.Node) *ad.Node {
		return ad.Reshape(ad.ScatterAdd(w, ad.Ints(e.places()), 0, e.Sources*e.Targets), e.Sources, e.Targets)
	}
	weigh := func(y *ad.Node) *ad.Node { return ad.Sum(ad.Mul(y, ad.Const(wavy(steps*n, 1, 1, 4), steps, n))) }
	for _, bound := range []float64{0, 2.5} {
		for _, cap := range []KCap{{Temperature: .8}, {Kind: CappedSimplex, Temperature: 1.5}, {Kind: Threshold, Temperature: .5},
			{Temperature: .8, Straight: true}, {Kind: CappedSimplex, Temperature: 1.5, Straight: true}} {
			d := Dynamics{Steps: steps, K: ad.Scalar(k), Cap: cap, MaxWeight: bound}
			a := ad.Stack(0, Unroll(s, dense(es, ws), dense(er, wr), beta, d).Activities...)
			b := UnrollSparse(s, Listed(es, ws), Listed(er, wr), beta, d)
			id := fmt.Sprintf("kind %d straight %v bound %g", cap.Kind, cap.Straight, bound)
			x := []*ad.Node{s, ws, wr, beta}
			v := eval(t, append(append([]*ad.Node{a, b}, ad.Grad(weigh(a), x...)...), ad.Grad(weigh(b), x...)...)...)
			near(t, id, v[1], v[0], 1e-12)
			for i, what := range []string{"stimulus", "stimulus weights", "recurrent weights", "beta"} {
				near(t, id+" gradient by "+what, v[6+i], v[2+i], 1e-9)
			}
		}
	}
}

// Gradients by what makes weights agree with central differences.
func TestSparseWeightGradients(t *testing.T) {
	const m, n, k, rank = 6, 12, 3, 2
	gain, u, v, p, beta, s := ad.Input("gain"), ad.Input("u", n, rank), ad.Input("v", n, rank), ad.Input("p"), ad.Input("beta"), ad.Input("s", m)
	mask := &Mask{Sources: m, Targets: n, Seed: 5, Tau: .3, Jitter: .2}
	low := LowRank(assembly.Fibre{P: .5, N: n, Seed: 6}, n, nil, gain, u, v)
	d := Dynamics{Steps: 4, K: ad.Scalar(k), Cap: KCap{Temperature: .7}, MaxWeight: 6}
	y := UnrollSparse(s, mask.Of(p), low, beta, d)
	loss := ad.Sum(ad.Mul(y, ad.Const(wavy(4*n, 0, 1, 1), 4, n)))
	values := [][]float64{{1.2}, wavy(n*rank, 0, .5, 2), wavy(n*rank, 0, .5, 3), {-.4}, {.2}, wavy(m, .6, .5, 4)}
	gradtest.Check(t, "sparse", loss, []*ad.Node{gain, u, v, p, beta, s}, values, false)
}

// A mask has as many synapses as its probability says: within 4 standard deviations,
// which a right one misses once in 16000 seeds.
func TestMaskDensity(t *testing.T) {
	const n, p = 400, .05
	m := &Mask{Sources: n, Targets: n, Seed: 7, Straight: true}
	s := m.Of(ad.Scalar(0))
	sum := 0.0
	for i := range n {
		_, w := s.rows.row(nil, nil, i, [][]float64{{math.Log(p / (1 - p))}})
		for _, v := range w {
			sum += v
		}
	}
	if sd := math.Sqrt(n * n * p * (1 - p)); math.Abs(sum-n*n*p) > 4*sd {
		t.Errorf("%g synapses: want %g, sd %.0f", sum, n*n*p, sd)
	}
}

func TestBadSparse(t *testing.T) {
	e := Connect(assembly.Fibre{P: 1, N: 3}, 2, nil)
	good := Dynamics{Steps: 1, K: ad.Scalar(1), Cap: KCap{Temperature: 1}}
	none := good
	none.K = ad.Scalar(0)
	w := ad.Full(1, 6)
	for want, y := range map[string]*ad.Node{
		"stimulus has 3 elements, but its fibre has 2": UnrollSparse(ad.Full(1, 3), Listed(e, w), nil, nil, good),
		"5 weights, but 6":           UnrollSparse(ad.Full(1, 2), Listed(e, ad.Full(1, 5)), nil, nil, good),
		"0 of 3 neurons are to fire": UnrollSparse(ad.Full(1, 2), Listed(e, w), nil, nil, none),
		"from 2 to 3 neurons":        UnrollSparse(ad.Full(1, 2), Listed(e, w), Listed(e, w), nil, good),
		"temperature 0":              UnrollSparse(ad.Full(1, 2), Listed(e, w), nil, nil, Dynamics{Steps: 1, K: ad.Scalar(1)}),
	} {
		if y.Err() == nil || !strings.Contains(y.Err().Error(), want) {
			t.Errorf("%v: want %q in it", y.Err(), want)
		}
	}
	good.K = ad.Scalar(5) // more than there are: all fire
	for i, v := range eval(t, UnrollSparse(ad.Full(1, 2), Listed(e, w), nil, nil, good))[0] {
		if v != 1 {
			t.Errorf("activity %d is %g where all fire", i, v)
		}
	}
}
