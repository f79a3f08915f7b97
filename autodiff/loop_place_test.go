// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

const cellRows, cellUnits = 12, 16

// gated returns a step with gates that are slices of one array, some of whose results are carries and some twice the same.
func gated(w, shift *ad.Node) scanStep {
	return func(c, x []*ad.Node) (next, y []*ad.Node) {
		a := ad.Add(ad.MatMul(c[0], w), x[0])
		gate := func(k int) *ad.Node { return ad.Slice(a, 1, k*cellUnits, (k+1)*cellUnits) }
		cell := ad.Add(ad.Mul(ad.Sigmoid(gate(1)), c[1]), ad.Mul(ad.Sigmoid(gate(0)), ad.Tanh(gate(2))))
		h := ad.Mul(ad.Sigmoid(gate(3)), ad.Tanh(cell))
		return []*ad.Node{h, cell, ad.Add(c[2], shift)}, []*ad.Node{h, c[0], h, ad.Mul(cell, x[1]), c[1], c[2], ad.MatMul(w, ad.T(w))}
	}
}

// A scan whose arrays are large enough to be read and written among the stacked ones is what its steps are, in every run of a
// state, and no bit of it depends on the number of threads.
func TestScanOfStackedArrays(t *testing.T) {
	const steps = 5
	h, c, k := ad.Input("h", cellRows, cellUnits), ad.Input("c", cellRows, cellUnits), ad.Input("k", cellRows, cellUnits)
	x, z, w, shift := ad.Input("x", steps, cellRows, 4*cellUnits), ad.Input("z", steps, cellRows, cellUnits), ad.Input("w", cellUnits, 4*cellUnits), ad.Input("shift", cellUnits)
	in := []*ad.Node{h, c, k, x, z, w, shift}
	for _, s := range []ad.ScanSettings{{}, {Reverse: true}, {Every: 2}} {
		outs := func(last, ys []*ad.Node) []*ad.Node {
			loss := ad.Sum(ad.Sin(last[0]))
			for i, n := range slices.Concat(last[1:], ys) {
				loss = ad.Add(loss, ad.Sum(ad.Scale(0.1*float64(i+1), ad.Square(n))))
			}
			return append(slices.Concat(last, ys, []*ad.Node{loss}), ad.Grad(loss, in...)...)
		}
		init, xs := []*ad.Node{h, c, k}, []*ad.Node{x, z}
		got, want := outs(ad.Scan(gated(w, shift), init, xs, steps, s)), outs(unrolled(gated(w, shift), init, xs, steps, s))
		for _, bits := range []int{64, 32} {
			label := fmt.Sprintf("%+v, float%d", s, bits)
			a, b, two := statesOf(t, got, in, bits, 1), statesOf(t, want, in, bits, 1), statesOf(t, got, in, bits, 2)
			for run := range 3 {
				rng := rand.New(rand.NewPCG(uint64(run), 7))
				for i, n := range in {
					v := make([]float64, n.Size())
					for j := range v {
						v[j] = 0.5 * rng.NormFloat64()
					}
					for _, s := range []*ad.State{a, b, two} {
						if err := s.SetInput(i, v); err != nil {
							t.Fatal(err)
						}
					}
				}
				for _, s := range []*ad.State{a, b, two} {
					if err := s.Run(); err != nil {
						t.Fatal(err)
					}
				}
				for i := range got {
					nearArrays(t, fmt.Sprintf("%s, run %d, result %d", label, run, i), a.OutputFloat64(i), b.OutputFloat64(i), map[int]float64{64: 1e-12, 32: 2e-4}[bits])
					if !slices.Equal(a.OutputFloat64(i), two.OutputFloat64(i)) {
						t.Errorf("%s, run %d, result %d depends on the number of threads", label, run, i)
					}
				}
			}
		}
	}
}

func statesOf(t *testing.T, outs, in []*ad.Node, bits, threads int) *ad.State {
	t.Helper()
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: bits, Backend: ad.CPU{Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return p.NewState()
}

// A loop of unknown length keeps large carries too, and its gradient is that of the steps that were run.
func TestWhileOfLargeCarries(t *testing.T) {
	x := ad.Input("x", 300)
	last, count := ad.While(func(c []*ad.Node) *ad.Node { return ad.Less(ad.Max(c[0]), ad.Scalar(10)) }, func(c []*ad.Node) []*ad.Node {
		return []*ad.Node{ad.Mul(c[0], ad.Shift(c[1], 1)), ad.Scale(1.1, c[1])}
	}, []*ad.Node{x, ad.Square(x)}, 40)
	s := statesOf(t, append([]*ad.Node{last[0], count}, ad.Grad(ad.Sum(last[0]), x)...), []*ad.Node{x}, 64, 1)
	at := s.Input(0)
	for i := range at {
		at[i] = 0.5 + float64(i)/1000
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	steps := int(s.Output(1)[0])
	for i, v := range at {
		y, slope, factor := v, 1.0, v*v
		for k := range steps {
			y, slope = y*(1+factor), slope*(1+factor)+y*2*v*math.Pow(1.1, float64(k))
			factor *= 1.1
		}
		if math.Abs(s.Output(0)[i]-y) > 1e-12*y || math.Abs(s.Output(2)[i]-slope) > 1e-11*slope {
			t.Fatalf("element %d after %d steps: %g and %g, want %g and %g", i, steps, s.Output(0)[i], s.Output(2)[i], y, slope)
		}
	}
}

// The gradient of gates that are slices of one array keeps that array and the carries, and nothing that is computed from them.
func TestScanKeepsLittle(t *testing.T) {
	x, w := ad.Input("x", 6, cellRows, 4*cellUnits), ad.Input("w", cellUnits, 4*cellUnits)
	step := gated(w, ad.Scalar(0))
	last, _ := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		next, _ = step(append(c, ad.Scalar(0)), append(x, ad.Scalar(0)))
		return next[:2], nil
	}, []*ad.Node{ad.Full(0, cellRows, cellUnits), ad.Full(0, cellRows, cellUnits)}, []*ad.Node{x}, 6, ad.ScanSettings{})
	p, err := ad.Compile(ad.Grad(ad.Sum(last[0]), w), ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	each := cellRows * cellUnits
	if text, want := p.String(), fmt.Sprintf("scan [%d]", 2*each+6*(4+2)*each); !strings.Contains(text, want) || strings.Contains(text, "embed") {
		t.Errorf("want %s, and gradients of gates that are joined:\n%s", want, text)
	}
}
