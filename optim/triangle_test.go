// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// A fit of many residuals on a device is the processor's, and fetches triangles in place of residuals and Jacobians.
func TestManyResidualsOnDevice(t *testing.T) {
	pretend.Shared(t)
	d := opened(t, 0)
	const m = 3000
	p := inputs("a", "b", "t")
	x, y := ad.Input("x", m), ad.Input("y", m)
	residual := ad.Sub(ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Div(x, p[2]))))), y)
	rng := tensor.NewStream(5, 0, 0)
	xs, ys := make([]float64, m), make([]float64, m)
	for i := range xs {
		xs[i] = 3 * float64(i) / m
		ys[i] = 1 + 0.5*math.Exp(-xs[i]/0.7) + 0.05*rng.Normal()
	}
	for _, method := range []optim.Method{optim.TRF, optim.LM} {
		var want *optim.Result
		for _, b := range []ad.Backend{ad.CPU{}, ad.CUDA{Strict: true}} {
			q, err := optim.FromGraphOn(b, residual, p, optim.Data{Node: x, Values: xs}, optim.Data{Node: y, Values: ys})
			if err != nil {
				t.Fatal(err)
			}
			q.Start = []float64{0, 0.4, 1}
			if method == optim.TRF {
				q.Lower, q.Upper = []float64{0, 0, 0.01}, []float64{5, 0.45, 5}
			}
			d.ResetPeak()
			got, err := optim.LeastSquares(context.Background(), q, optim.Settings{Method: method, RelativeSigma: true})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
				continue
			}
			if got.M != m || got.DoF() != want.DoF() || len(got.Residuals) != m || math.Abs(got.Cost-want.Cost) > 1e-12*want.Cost || !got.Status.Converged() {
				t.Errorf("%s: %d residuals, cost %.15g, want %.15g: %v", method, got.M, got.Cost, want.Cost, got.Status)
			}
			if a, c := distance(got.X, want.X), distance(got.SD(), want.SD()); a > 1e-8 || c > 1e-8 {
				t.Errorf("%s: parameters differ by %.1e, errors by %.1e", method, a, c)
			}
			traffic := d.Stats()
			once := uint64(8 * m * (2 + 2 + 3)) // data, and residuals (twice) and Jacobian at the end
			t.Logf("%s: %d evaluations, %d bytes sent and fetched beyond %d once: %.2f%% of residuals and Jacobians", method, got.NFev, traffic.Sent+traffic.Fetched-once, once,
				100*float64(traffic.Sent+traffic.Fetched-once)/float64(got.NFev*8*m*4))
			if traffic.Sent+traffic.Fetched > 2*once+uint64(got.NFev*8*m*4/10) {
				t.Errorf("%s: %d bytes sent and %d fetched", method, traffic.Sent, traffic.Fetched)
			}
		}
	}
	// The cost of a graph on a device under L-BFGS.
	for _, b := range []ad.Backend{ad.CPU{}, ad.CUDA{Strict: true}} {
		f, err := optim.FunctionFromGraphOn(b, ad.Sum(ad.Square(residual)), p, optim.Data{Node: x, Values: xs}, optim.Data{Node: y, Values: ys})
		if err != nil {
			t.Fatal(err)
		}
		f.Start = []float64{0.5, 0.6, 1}
		d.ResetPeak()
		got, err := optim.Minimize(context.Background(), f, optim.MinimizeSettings{})
		if err != nil || math.Abs(got.X[2]-0.7) > 0.1 {
			t.Fatal(got, err)
		}
		if traffic := d.Stats(); traffic.Sent > 8*m*2*2+1e5 {
			t.Errorf("%d bytes sent", traffic.Sent)
		}
	}
}
