// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels"
)

// smallProgram returns the sum of a random graph on arrays of n elements and single numbers, and its gradients.
func smallProgram(r *rand.Rand, n int) (outs, ins []*ad.Node) {
	ins = []*ad.Node{ad.Input("x", n), ad.Input("y", n), ad.Input("s")}
	data := make([]float64, n)
	for i := range data {
		data[i] = r.NormFloat64()
	}
	nodes := append([]*ad.Node{ad.Const(data, n)}, ins...)
	pick := func() *ad.Node { return nodes[r.IntN(len(nodes))] }
	for range 8 {
		a, b := pick(), pick()
		nodes = append(nodes, []func() *ad.Node{
			func() *ad.Node { return ad.Add(a, b) },
			func() *ad.Node { return ad.Sub(a, b) },
			func() *ad.Node { return ad.Mul(a, b) },
			func() *ad.Node { return ad.Div(a, ad.Add(ad.Scalar(2), ad.Square(b))) },
			func() *ad.Node { return ad.Sqrt(ad.Add(ad.Scalar(1), ad.Square(a))) },
			func() *ad.Node { return ad.Abs(ad.Neg(a)) },
			func() *ad.Node { return ad.Sum(ad.Mul(a, b)) },
			func() *ad.Node { return ad.Exp(ad.Neg(ad.Sum(ad.Square(a)))) },
			func() *ad.Node {
				x := ad.Abs(a)
				if len(kernels.Levels()) < 3 {
					x = ad.Sum(x) // plain Go has its own logarithm of arrays
				}
				return ad.Log(ad.Add(ad.Scalar(1), x))
			},
		}[r.IntN(9)]())
	}
	last := nodes[len(nodes)-1]
	loss := ad.Add(ad.Sum(last), ad.Sum(ad.Mul(nodes[len(nodes)-2], nodes[len(nodes)-3])))
	return append([]*ad.Node{loss, last}, ad.Grad(loss, ins...)...), ins
}

// Programs of single numbers and short arrays have the same bits as machine code and as the loops of the instruction set before, also where
// Bind has put an array in place of an input.
func TestStraightCodeHasTheSameBits(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 48))
		n := 1 + int(seed)%9
		outs, ins := smallProgram(r, n)
		var states []*ad.State
		for _, l := range kernels.Levels() {
			p, err := ad.Compile(outs, ad.Settings{Inputs: ins, Backend: ad.CPU{Threads: 1, SIMD: fmt.Sprint(l)}})
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, p.NewState())
		}
		in := make([][]float64, 3)
		for k := range in {
			in[k] = make([]float64, len(states[0].Input(k)))
			for i := range in[k] {
				in[k][i] = r.NormFloat64()
			}
		}
		for _, s := range states {
			for k := range in {
				copy(s.Input(k), in[k])
			}
			if seed%3 == 0 {
				if err := s.Bind(1, in[1]); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}
		for o := range outs {
			for i, want := range states[max(0, len(states)-2)].Output(o) {
				got := states[len(states)-1].Output(o)[i]
				if math.Float64bits(got) != math.Float64bits(want) && !(got != got && want != want) {
					t.Fatalf("program %d of arrays of %d: element %d of output %d is %v, want %v", seed, n, i, o, got, want)
				}
			}
		}
	}
}
