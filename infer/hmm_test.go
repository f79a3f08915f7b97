// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/tensor"
)

// paths sums the likelihood over all paths of hidden states.
func paths(initial, transition, emission []float64, k, t int) float64 {
	n := int(math.Pow(float64(k), float64(t)))
	total := 0.0
	for path := range n {
		lp, before := 0.0, -1
		for at, rest := 0, path; at < t; at, rest = at+1, rest/k {
			j := rest % k
			if before < 0 {
				lp += initial[j]
			} else {
				step := transition
				if len(transition) > k*k {
					step = transition[(at-1)*k*k:]
				}
				lp += step[before*k+j]
			}
			lp += emission[at*k+j]
			before = j
		}
		total += math.Exp(lp)
	}
	return math.Log(total)
}

// Values against the sum over all paths, gradients against central differences
// of it; constant and changing transitions.
func TestHMMForward(t *testing.T) {
	const k, steps = 3, 5
	src := tensor.NewStream(1, 2, 3)
	for _, trans := range [][]int{{k, k}, {steps - 1, k, k}} {
		sizes := []int{k, tensor.Shape(trans).Size(), steps * k}
		var in [3][]float64
		for i, n := range sizes {
			in[i] = src.NormalTo(make([]float64, n))
		}
		nodes := []*ad.Node{ad.Input("initial", k), ad.Input("transition", trans...), ad.Input("emission", steps, k)}
		lp := infer.HMMForward(nodes[0], nodes[1], nodes[2])
		prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, nodes...)...), ad.Settings{Inputs: nodes})
		if err != nil {
			t.Fatal(err)
		}
		s := prog.NewState()
		for i, v := range in {
			copy(s.Input(i), v)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if got, want := s.Output(0)[0], paths(in[0], in[1], in[2], k, steps); math.Abs(got-want) > 1e-13*math.Abs(want) {
			t.Errorf("log-likelihood %.16g, want %.16g", got, want)
		}
		for i := range in {
			for j := range in[i] {
				at := in[i][j]
				f := func(h float64) float64 {
					in[i][j] = at + h
					defer func() { in[i][j] = at }()
					return paths(in[0], in[1], in[2], k, steps)
				}
				want := (8*(f(1e-3)-f(-1e-3)) - (f(2e-3) - f(-2e-3))) / 12e-3
				if got := s.Output(1 + i)[j]; math.Abs(got-want) > 1e-10 {
					t.Errorf("gradient %d of %v is %.12g, want %.12g", j, nodes[i], got, want)
				}
			}
		}
	}
}

// States that cannot be reached and long records stay finite.
func TestHMMForwardFar(t *testing.T) {
	const steps = 20000
	never := math.Inf(-1)
	emission := make([]float64, 2*steps)
	for i := range steps {
		emission[2*i], emission[2*i+1] = -800, never
	}
	e := ad.Input("e", steps, 2)
	lp := infer.HMMForward(ad.Const([]float64{0, never}), ad.Const([]float64{0, never, never, 0}, 2, 2), e)
	prog, err := ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, e)...), ad.Settings{Inputs: []*ad.Node{e}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	copy(s.Input(0), emission)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if got := s.Output(0)[0]; got != -800*steps {
		t.Errorf("log-likelihood %g, want %g", got, -800.0*steps)
	}
	for i, g := range s.Output(1) {
		if g != float64(1-i%2) {
			t.Fatalf("gradient %d is %g", i, g)
		}
	}
	if n := testing.AllocsPerRun(3, func() { _ = s.Run() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, bad := range [][]*ad.Node{
		{ad.Scalar(0), ad.Input("t", 2, 2), ad.Input("e", 5, 2)},
		{ad.Input("i", 2), ad.Input("t", 3, 2, 2), ad.Input("e", 5, 2)},
		{ad.Input("i", 2), ad.Input("t", 2, 2), ad.Input("e", 5)},
	} {
		if infer.HMMForward(bad[0], bad[1], bad[2]).Err() == nil {
			t.Errorf("shapes %v: no error", bad)
		}
	}
}

// Observations that no path can have made have the log-likelihood -Inf with a gradient of 0; a state that is impossible at one
// time leaves the gradients of the others finite.
func TestHMMForwardOfImpossiblePaths(t *testing.T) {
	inf := math.Inf(-1)
	for name, c := range map[string]struct {
		emission []float64
		want     float64
	}{
		"all states impossible at the start": {[]float64{inf, inf, -1, -1, -1, -1}, inf},
		"all states impossible at the end":   {[]float64{-1, -1, -1, -1, inf, inf}, inf},
		"one state impossible":               {[]float64{-1, -1, inf, -1, -1, -1}, math.Log(0.5) - 3},
	} {
		initial, transition, emission := ad.Input("i", 2), ad.Input("t", 2, 2), ad.Input("e", 3, 2)
		lp := infer.HMMForward(initial, transition, emission)
		half := math.Log(0.5)
		at := []*ad.Node{ad.Const([]float64{half, half}), ad.Const([]float64{half, half, half, half}, 2, 2), ad.Const(c.emission, 3, 2)}
		outs := append([]*ad.Node{lp}, ad.Grad(lp, initial, transition, emission)...)
		v, err := ad.Eval(ad.Substitute(outs, []*ad.Node{initial, transition, emission}, at)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := v[0].Data().(float64); got != c.want && !(math.Abs(got-c.want) < 1e-12) {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
		for _, g := range v[1:] {
			for _, x := range g.Data().([]float64) {
				if math.IsNaN(x) || math.IsInf(c.want, -1) && x != 0 {
					t.Errorf("%s: gradient %v", name, g.Data())
				}
			}
		}
	}
}
