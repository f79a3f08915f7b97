// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// integrated is the density as a graph over a list of pairs.
func integrated(d *Data, p Priors, theta []*ad.Node) *ad.Node {
	n := len(d.Setup.Times)
	sum := ad.Scalar(0)
	for angle, g := range d.Setup.Pairs(theta, transport.AllPairs(n)) {
		var w, y []float64
		for i := range n {
			for j := i + 1; j < n; j++ {
				u := d.weight(angle, i, j)
				w, y = append(w, u*u), append(y, 0)
				if u > 0 {
					y[len(y)-1] = d.C2[angle][i*n+j] - 1
				}
			}
		}
		// least squares of contrast and offset with a row for each belief
		weights, data := ad.Const(w), ad.Const(y)
		belief := func(b Normal, shift float64) (precision, mean *ad.Node) {
			return ad.Scalar(1 / (b.SD * b.SD)), ad.Scalar(b.Mean - shift)
		}
		pc, mc := belief(p.Contrast, 0)
		po, mo := belief(p.Offset, 1)
		a := ad.Add(ad.Sum(ad.Mul(weights, ad.Square(g))), pc)
		b, c := ad.Sum(ad.Mul(weights, g)), ad.Add(ad.Sum(weights), po)
		hc := ad.Add(ad.Sum(ad.Mul(weights, ad.Mul(g, data))), ad.Mul(pc, mc))
		ho := ad.Add(ad.Sum(ad.Mul(weights, data)), ad.Mul(po, mo))
		m := ad.Reshape(ad.Stack(0, a, b, b, c), 2, 2)
		h := ad.Stack(0, hc, ho)
		l := ad.Cholesky(m)
		best := ad.CholeskySolve(l, h)
		contrast, offset := ad.Reshape(ad.Slice(best, 0, 0, 1)), ad.Reshape(ad.Slice(best, 0, 1, 2))
		rest := ad.Sub(ad.Sub(data, offset), ad.Mul(contrast, g))
		left := ad.AddN(ad.Sum(ad.Mul(weights, ad.Square(rest))), ad.Mul(pc, ad.Square(ad.Sub(contrast, mc))), ad.Mul(po, ad.Square(ad.Sub(offset, mo))))
		sum = ad.Sub(sum, ad.Scale(0.5, ad.Add(left, ad.CholeskyLogDet(l))))
	}
	return sum
}

// The density of all pairs and its gradient are those of a graph of the pairs, also when several goroutines ask at once.
func TestDensityOfPairs(t *testing.T) {
	for _, m := range []transport.Model{transport.Static, transport.Laminar, transport.TwoComponent} {
		d, theta := scatter(m, false, 70, true, true)
		p := Priors{Contrast: Normal{0.25, 0.1}, Offset: Normal{1.02, 0.05}}
		run := func(make func(d *Data, p Priors, theta []*ad.Node) (*ad.Node, error)) *ad.Program {
			in, err := d.Setup.Inputs()
			if err != nil {
				t.Fatal(err)
			}
			f, err := make(&d, p, in)
			if err != nil {
				t.Fatal(err)
			}
			prog, err := ad.Compile(append([]*ad.Node{f}, ad.Grad(f, in...)...), ad.Settings{Inputs: in})
			if err != nil {
				t.Fatal(err)
			}
			return prog
		}
		at := func(prog *ad.Program, theta []float64) (out []float64) {
			st := prog.NewState()
			for i, v := range theta {
				st.Input(i)[0] = v
			}
			if err := st.Run(); err != nil {
				t.Error(err)
			}
			for i := range prog.Outputs() {
				out = append(out, st.Output(i)[0])
			}
			return out
		}
		want := at(run(func(d *Data, p Priors, theta []*ad.Node) (*ad.Node, error) { return integrated(d, p, theta), nil }), theta)
		prog := run(func(d *Data, p Priors, theta []*ad.Node) (*ad.Node, error) {
			f, _, _, err := pairsDensity(context.Background(), d, p, 1, nil, theta)
			return f, err
		})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for i, got := range at(prog, theta) {
					if !(math.Abs(got-want[i]) <= 1e-9*math.Abs(want[i])+1e-9) {
						t.Errorf("%s: output %d is %.15g, want %.15g", m, i, got, want[i])
					}
				}
			})
		}
		wg.Wait()
		theta[2] = -1e6
		if got := at(prog, theta); !math.IsInf(got[0], -1) || got[1] != 0 {
			t.Errorf("%s: %v without a meaning, want minus infinity and no gradient", m, got)
		}
	}
}

// BenchmarkDensity times the value and gradient of the density of all pairs.
func BenchmarkDensity(b *testing.B) {
	for _, precision := range []int{64, 32} {
		b.Run(fmt.Sprintf("float%d", precision), func(b *testing.B) { benchmarkDensity(b, precision) })
	}
}

func benchmarkDensity(b *testing.B, precision int) {
	d, truth := shear(b, 23, 1000, 0.02)
	d.Precision = precision
	in, err := d.Setup.Inputs()
	if err != nil {
		b.Fatal(err)
	}
	f, _, _, err := pairsDensity(context.Background(), &d, Priors{}, 1, nil, in)
	if err != nil {
		b.Fatal(err)
	}
	prog, err := ad.Compile(append([]*ad.Node{f}, ad.Grad(f, in...)...), ad.Settings{Inputs: in})
	if err != nil {
		b.Fatal(err)
	}
	st := prog.NewState()
	for i, v := range truth {
		st.Input(i)[0] = v
	}
	for b.Loop() {
		st.Input(0)[0]++ // sums are kept for a point that is asked for again
		if err := st.Run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(23*499500), "ns/pair")
}
