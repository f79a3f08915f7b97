// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math"
	"runtime"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/peer"
)

// BenchmarkPeerGradient computes values and gradients of graphs that are compiled once.
func BenchmarkPeerGradient(b *testing.B) {
	b.Run("regression", func(b *testing.B) {
		const n = 10000
		outs, params, data := regression(n)
		ours := compiledForRace(b, outs, append(params[:3:3], data...), 64, func(i, k int) float64 {
			switch wave := func(step float64) float64 { return math.Cos(step * float64(k)) }; i {
			case 3:
				return wave(0.7)
			case 4:
				return wave(0.3)
			case 5:
				return 2 + wave(0.9)
			}
			return []float64{0.5, 0.7, 1.1}[i]
		})
		peer.Race{
			Name: "log density and gradient of a line through 10000 points, float64", Ours: ours,
			Peers: []peer.Rival{{Name: "JAX", Script: "autodiff.py", Args: []string{"regression", "10000"}}},
			Bytes: 3 * 8 * n, Flops: 16 * n,
		}.Run(b)
	})
	b.Run("student", func(b *testing.B) {
		const n = 1000000
		outs, inputs := heavyRegression(n)
		ours := compiledForRace(b, outs, inputs, 64, func(i, k int) float64 {
			switch i {
			case 3:
				return math.Cos(0.7 * float64(k))
			case 4:
				return 3 * math.Cos(0.3*float64(k))
			}
			return []float64{0.5, 0.7, 1.1}[i]
		})
		peer.Race{
			Name: "log density and gradient of a line through 1e6 points with Student's distribution, float64", Ours: ours,
			Peers: []peer.Rival{{Name: "JAX", Script: "autodiff.py", Args: []string{"student", "1000000"}}},
			Bytes: 2 * 8 * n, Flops: 50 * n,
		}.Run(b)
	})
	b.Run("network", func(b *testing.B) {
		loss, weights := mlp()
		ours := compiledForRace(b, append([]*ad.Node{loss}, ad.Grad(loss, weights...)...), nil, 32, nil)
		peer.Race{
			Name: "loss and gradient of three layers 4-256-256-4000, 128 rows, float32", Ours: ours,
			Peers:  []peer.Rival{{Name: "JAX", Script: "autodiff.py", Args: []string{"network"}}},
			Flops:  2 * 128 * (2*4*256 + 3*256*256 + 3*256*4000),
			Single: true, Tol: 1e-4,
		}.Run(b)
	})
}

// heavyRegression is the log density, up to a constant, of n points around a line with Student's distribution with 4
// degrees of freedom, and its gradient.
func heavyRegression(n int) (outs, inputs []*ad.Node) {
	a, slope, scale, x, y := ad.Input("a"), ad.Input("b"), ad.Input("scale"), ad.Input("x", n), ad.Input("y", n)
	z := ad.Div(ad.Sub(y, ad.Add(a, ad.Mul(slope, x))), scale)
	fall := ad.Scale(0.5, ad.Add(ad.SquareFall(ad.Scalar(4), z), ad.Log1pSquare(ad.Scale(0.5, z))))
	lp := ad.Neg(ad.Sum(ad.Add(fall, ad.Log(scale))))
	return append([]*ad.Node{lp}, ad.Grad(lp, a, slope, scale)...), []*ad.Node{a, slope, scale, x, y}
}

// compiledForRace compiles a graph for one thread and for two and sets its inputs: to
// value of the number of the input and of the element, or to waves as the peer's.
func compiledForRace(b *testing.B, outs, inputs []*ad.Node, bits int, value func(i, k int) float64) func() (peer.Done, error) {
	states := map[int]*ad.State{}
	for threads := 1; threads <= 2; threads++ {
		p, err := ad.Compile(outs, ad.Settings{Inputs: inputs, Precision: bits, Backend: ad.CPU{Threads: threads}})
		if err != nil {
			b.Fatal(err)
		}
		s := p.NewState()
		for i, in := range p.Inputs() {
			if bits == 64 {
				for k := range s.Input(i) {
					s.Input(i)[k] = value(i, k)
				}
				continue
			}
			step, scale := networkWave(in.Name())
			for k := range s.Input32(i) {
				s.Input32(i)[k] = scale * float32(math.Cos(step*float64(k)))
			}
		}
		states[threads] = s
	}
	return func() (peer.Done, error) {
		s := states[runtime.GOMAXPROCS(0)]
		if err := s.Run(); err != nil {
			return peer.Done{}, err
		}
		if bits == 64 {
			return peer.Done{Check: s.Output(0)[0]}, nil
		}
		return peer.Done{Check: float64(s.Output32(0)[0])}, nil
	}
}

// networkWave returns the step and the amplitude of the wave that an input of the
// network is.
func networkWave(name string) (step float64, scale float32) {
	switch name {
	case "x":
		return 0.7, 1
	case "y":
		return 0.3, 1
	}
	order := map[string]float64{"w1": 1, "b1": 2, "w2": 3, "b2": 4, "w3": 5, "b3": 6}
	return 0.1 * order[name], 0.06
}
