// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// decays are rows of exponentials of 60 points with errors of 0.01.
func decays(t testing.TB, n int, plant func(row int, x, y []float64)) (*optim.Batch, optim.Rows) {
	t.Helper()
	const m = 60
	p, y := ad.Input("p", 3), ad.Input("y", m)
	x := make([]float64, m)
	for i := range x {
		x[i] = float64(i) / 15
	}
	model := ad.Add(ad.Index(p, 0, 0), ad.Mul(ad.Index(p, 0, 1), ad.Exp(ad.Neg(ad.Mul(ad.Index(p, 0, 2), ad.Const(x))))))
	b, err := optim.NewBatch(ad.Scale(100, ad.Sub(model, y)), []*ad.Node{p}, y)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(31, 32))
	rows := optim.Rows{Start: []float64{0.5, 1, 1}, Count: n}
	var all []float64
	for k := range n {
		row := make([]float64, m)
		for i, v := range x {
			row[i] = 1 + 0.5*math.Exp(-1.3*v) + 0.01*r.NormFloat64()
		}
		if plant != nil {
			plant(k, x, row)
		}
		all = append(all, row...)
	}
	rows.Columns = [][]float64{all}
	return b, rows
}

// Of 2000 right rows one in a hundred is flagged; planted faults have their bits.
func TestBatchesAreJudged(t *testing.T) {
	b, rows := decays(t, 2000, nil)
	ctx := context.Background()
	fit, err := b.Fit(ctx, rows, optim.BatchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := JudgeBatch(ctx, b, rows, fit, Axis{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	flagged := 0
	for _, f := range v.Flags {
		if f != 0 {
			flagged++
		}
	}
	t.Logf("%d of 2000 flagged", flagged)
	if flagged > 38 { // 20 expected, four standard deviations
		t.Errorf("%v", v)
	}
	bits := []Bits{0, OutliersBit, PatternBit, SizeBit, SpreadBit}
	b, rows = decays(t, len(bits), func(row int, x, y []float64) {
		r := rand.New(rand.NewPCG(33, uint64(row)))
		for i := range y {
			switch bits[row] {
			case PatternBit:
				y[i] += 0.03 * math.Sin(4*x[i])
			case SizeBit:
				y[i] += 0.03 * r.NormFloat64()
			case SpreadBit:
				y[i] += 0.02 * x[i] * x[i] / 16 * r.NormFloat64()
			}
		}
		if bits[row] == OutliersBit {
			y[20] += 0.2
		}
	})
	if fit, err = b.Fit(ctx, rows, optim.BatchSettings{}); err != nil {
		t.Fatal(err)
	}
	if v, err = JudgeBatch(ctx, b, rows, fit, Axis{Name: "delay"}, Settings{}); err != nil {
		t.Fatal(err)
	}
	for k, want := range bits {
		if v.Flags[k]&want != want || want == 0 && v.Flags[k] != 0 {
			t.Errorf("row %d: %v, want %v", k, v.Flags[k], want)
		}
	}
	if !strings.Contains(v.String(), "in 1 of 5 rows") {
		t.Error(v)
	}
}

// At the result of a row the residuals are those of its sum and its gradient is 0, without the points of weight 0.
func TestLinearisedRows(t *testing.T) {
	b, rows := decays(t, 3, nil)
	rows.Weights = make([]float64, 180)
	for i := range rows.Weights {
		rows.Weights[i] = float64(i%7) / 3
	}
	ctx := context.Background()
	fit, err := b.Fit(ctx, rows, optim.BatchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	err = b.Linearise(ctx, rows, fit, func(l optim.Linearised) {
		if len(l.Points) != fit.Points[l.Row] || math.Abs(dot(l.Residuals, l.Residuals)-fit.ChiSquared[l.Row]) > 1e-9*fit.ChiSquared[l.Row] {
			t.Errorf("row %d: %d points and %g, want %d and %g", l.Row, len(l.Points), dot(l.Residuals, l.Residuals), fit.Points[l.Row], fit.ChiSquared[l.Row])
		}
		for k := range 3 {
			if g := dot(l.Residuals, l.Jacobian[k*len(l.Points):(k+1)*len(l.Points)]); math.Abs(g) > 1e-6 {
				t.Errorf("row %d: gradient %g at the result", l.Row, g)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkJudgeBatch(bench *testing.B) {
	b, rows := decays(bench, 2000, nil)
	ctx := context.Background()
	fit, err := b.Fit(ctx, rows, optim.BatchSettings{})
	if err != nil {
		bench.Fatal(err)
	}
	for bench.Loop() {
		if _, err := JudgeBatch(ctx, b, rows, fit, Axis{}, Settings{}); err != nil {
			bench.Fatal(err)
		}
	}
	bench.ReportMetric(float64(bench.Elapsed().Microseconds())/float64(bench.N)/2000, "us/row")
}

// Rows that did not converge do not count as right.
func TestRowsThatDidNotConverge(t *testing.T) {
	b, rows := decays(t, 20, nil)
	fit, err := b.Fit(context.Background(), rows, optim.BatchSettings{MaxEvaluations: 1})
	if err != nil {
		t.Fatal(err)
	}
	v, err := JudgeBatch(context.Background(), b, rows, fit, Axis{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range v.Flags {
		if fit.Status[i].Converged() || f&UnjudgedBit == 0 {
			t.Errorf("row %d, %v: %v", i, fit.Status[i], f)
		}
	}
}
