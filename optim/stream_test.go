// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// rowsOf serves columns in chunks.
func rowsOf(data [][]float64, d *optim.Stream) {
	at := 0
	d.Rewind = func() error { at = 0; return nil }
	d.Next = func(columns [][]float64) (int, error) {
		n := 0
		for i, c := range columns {
			n = copy(c, data[i][at:])
		}
		at += n
		return n, nil
	}
}

func decayStream(m, chunk int) (optim.Stream, *optim.Problem, error) {
	rng := tensor.NewStream(9, 0, 0)
	x, y := make([]float64, m), make([]float64, m)
	for i := range x {
		x[i] = 3 * float64(i) / float64(m)
		y[i] = 0.4 + 2*math.Exp(-1.7*x[i]) + 0.05*rng.Normal()
	}
	model := func(p []*ad.Node, x, y *ad.Node) *ad.Node {
		return ad.Sub(ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Mul(p[2], x))))), y)
	}
	p := inputs("b", "c", "r")
	xs, ys := ad.Input("x", chunk), ad.Input("y", chunk)
	d := optim.Stream{Residual: model(p, xs, ys), Params: p, Columns: []*ad.Node{xs, ys}, Start: []float64{1, 1, 1}}
	rowsOf([][]float64{x, y}, &d)
	whole, err := optim.FromGraph(model(p, ad.Const(x), ad.Const(y)), p)
	if err == nil {
		whole.Start = d.Start
	}
	return d, whole, err
}

// In chunks or at once, the same fit with the same errors.
func TestStreamAgreesWithLeastSquares(t *testing.T) {
	for _, relative := range []bool{false, true} {
		for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
			d, p, err := decayStream(10_007, 256)
			if err != nil {
				t.Fatal(err)
			}
			if method != optim.LM {
				d.Lower, d.Upper = []float64{0, 0, 0}, []float64{0.39, 10, 10} // the first is reached
				p.Lower, p.Upper = d.Lower, d.Upper
				d.Start = []float64{0.2, 1, 1}
				p.Start = d.Start
			}
			s := optim.Settings{Method: method, RelativeSigma: relative}
			got, err := optim.FitStream(context.Background(), d, s)
			if err != nil {
				t.Fatal(err)
			}
			want, err := optim.LeastSquares(context.Background(), p, s)
			if err != nil {
				t.Fatal(err)
			}
			if e := max(distance(got.X, want.X), distance(got.Cov, want.Cov)); e > 1e-8 || math.Abs(got.Cost-want.Cost) > 1e-12*want.Cost || got.M != want.M || got.DoF() != want.DoF() || got.Active[0] != want.Active[0] {
				t.Errorf("%s relative %t: off by %.1e: %v, want %v", method, relative, e, got, want)
			}
			if math.Abs(got.AIC()-want.AIC()) > 1e-8*math.Abs(want.AIC()) {
				t.Errorf("AIC %g, want %g", got.AIC(), want.AIC())
			}
		}
	}
}

// Small terms after a large one must not be lost.
func TestStreamIllConditioned(t *testing.T) {
	p := inputs("a", "b", "c")
	x, y := ad.Input("x", 64), ad.Input("y", 64)
	d := optim.Stream{Residual: ad.Sub(ad.AddN(p[0], ad.Mul(p[1], x), ad.Mul(p[2], ad.Square(x))), y), Params: p, Columns: []*ad.Node{x, y}, Start: []float64{0, 0, 0}}
	const m = 1000
	xs, ys := make([]float64, m), make([]float64, m)
	for i := range xs {
		xs[i] = 1000 + float64(i)/m
		ys[i] = 1 + 2*xs[i] + 3*xs[i]*xs[i]
	}
	rowsOf([][]float64{xs, ys}, &d)
	r, err := optim.FitStream(context.Background(), d, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if rms := math.Sqrt(2 * r.Cost / m); rms > 1e-7 || math.Abs(r.X[2]-3) > 1e-2 { // products J^T J would have the condition 1e22
		t.Errorf("root mean square %g, %v", rms, r.X)
	}
}

func TestStreamMistakes(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("disk on fire")
	for want, change := range map[string]func(*optim.Stream, *optim.Settings){
		"disk on fire":                       func(d *optim.Stream, _ *optim.Settings) { d.Next = func([][]float64) (int, error) { return 0, broken } },
		"no rows":                            func(d *optim.Stream, _ *optim.Settings) { d.Next = func([][]float64) (int, error) { return 0, nil } },
		"returned 99 rows for a chunk of 32": func(d *optim.Stream, _ *optim.Settings) { d.Next = func([][]float64) (int, error) { return 99, nil } },
		"cannot use Loss":                    func(_ *optim.Stream, s *optim.Settings) { s.Loss = optim.Huber },
		"lacks Next":                         func(d *optim.Stream, _ *optim.Settings) { d.Next = nil },
		"32 rows of a chunk":                 func(d *optim.Stream, _ *optim.Settings) { d.Columns = append(d.Columns, ad.Input("z", 3)) },
	} {
		d, _, err := decayStream(100, 32)
		if err != nil {
			t.Fatal(err)
		}
		var s optim.Settings
		change(&d, &s)
		if _, err := optim.FitStream(ctx, d, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	const m = 2_000_000
	d, _, err := decayStream(m, 8192)
	if err != nil {
		b.Fatal(err)
	}
	passes := 0
	for b.Loop() {
		r, err := optim.FitStream(context.Background(), d, optim.Settings{})
		if err != nil {
			b.Fatal(err)
		}
		passes += r.NFev
	}
	b.ReportMetric(float64(passes)*m/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
