// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/optim"
)

// BenchmarkPeerDecays fits decays of 32 points and 3 parameters.
func BenchmarkPeerDecays(b *testing.B) {
	x := logspace(-3, 1, 32)
	const compared = 200 // fits of the peer, and the ones whose answer is compared
	batch, rows := decays(b, x), decayRows(x, 20*compared, 2e-3)
	var y [][]float64
	for i := range compared {
		y = append(y, rows.Columns[0][i*len(x):(i+1)*len(x)])
	}
	var peers []peer.Rival
	for _, name := range []string{"SciPy", "lmfit", "iminuit"} {
		peers = append(peers, peer.Rival{Name: name, Script: "optim.py", Input: map[string]any{"peer": name, "x": x, "y": y, "start": rows.Start}})
	}
	peer.Race{
		Name: "least-squares fit of a decay", Unit: "fit",
		Ours: func() (peer.Done, error) {
			r, err := batch.Fit(b.Context(), rows, optim.BatchSettings{Threads: runtime.GOMAXPROCS(0)})
			if err != nil {
				return peer.Done{}, err
			}
			tau := 0.0
			for i := range compared {
				tau += r.Row(i)[2] / compared
			}
			return peer.Done{Units: 20 * compared, Check: tau}, nil
		},
		Peers: peers,
		Bytes: 8 * (32 + 3),
		Flops: 10 * 32 * 20, // ten evaluations of values and gradients, and normal equations
		Tol:   1e-4,
	}.Run(b)
}

// BenchmarkPeerCurve fits one decay of 60, 1e4 and 1e6 points, with its covariance.
func BenchmarkPeerCurve(b *testing.B) {
	for _, n := range []int{60, 10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				f := float64(i)
				x[i] = 10 * f / float64(n)
				y[i] = 5*math.Exp(-x[i]/2.3) + 1 + 0.05*math.Sin(math.Mod(1.7*f*f, 101))
			}
			in := inputs("a", "tau", "c")
			p, err := optim.FromModel(ad.Add(ad.Mul(in[0], ad.Exp(ad.Neg(ad.Div(ad.Const(x), in[1])))), in[2]), in, optim.Observed{Y: y})
			if err != nil {
				b.Fatal(err)
			}
			var peers []peer.Rival
			for _, name := range []string{"SciPy", "lmfit", "iminuit", "NLSQ"} {
				peers = append(peers, peer.Rival{Name: name, Script: "curve.py", Input: map[string]any{"peer": name, "n": n}})
			}
			peer.Race{
				Name: fmt.Sprintf("least-squares fit of a curve of %d points", n), Unit: "fit",
				Ours: func() (peer.Done, error) {
					p.Start = []float64{4, 2, 0.5}
					r, err := optim.LeastSquares(b.Context(), p, optim.Settings{RelativeSigma: true})
					if err != nil {
						return peer.Done{}, err
					}
					return peer.Done{Units: 1, Check: r.X[1]}, nil
				},
				Peers: peers,
				Bytes: float64(16 * n),
				Flops: float64(30 * n * 8),
				Tol:   1e-4,
			}.Run(b)
		})
	}
}
