// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// decays is the batch of b + c exp(-2 x/t) on common x, and rows of data with
// noise.
func decays(t testing.TB, x []float64) *optim.Batch {
	t.Helper()
	p := inputs("b", "c", "t")
	y := ad.Input("y", len(x))
	b, err := optim.NewBatch(ad.Sub(models["b + c*exp(-2 x/t)"](p, ad.Const(x)), y), p, y)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decayRows(x []float64, rows int, noise float64) optim.Rows {
	rng := tensor.NewStream(3, 0, 0)
	data := make([]float64, 0, rows*len(x))
	for range rows {
		c, tau := 0.1+0.3*rng.Float64(), math.Pow(10, -1+1.5*rng.Float64())
		for _, v := range x {
			data = append(data, 1+c*math.Exp(-2*v/tau)+noise*rng.Normal())
		}
	}
	return optim.Rows{Columns: [][]float64{data}, Start: []float64{1, 0.2, 0.5}}
}

func logspace(lo, hi float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Pow(10, lo+(hi-lo)*float64(i)/float64(n-1))
	}
	return x
}

func TestBatchGoldens(t *testing.T) {
	var f struct {
		X        []float64
		Y        [][]float64
		P0       []float64
		BestFit  [][]float64 `json:"best_fit"`
		HalfSums []float64   `json:"cost_half_ssq"`
	}
	golden.JSON(t, &f, "inference", "optim", "batched_g2_fits.json")
	rows := optim.Rows{Columns: [][]float64{slices.Concat(f.Y...)}, Start: f.P0}
	r, err := decays(t, f.X).Fit(context.Background(), rows, optim.BatchSettings{})
	if err != nil || r.Converged() != len(f.Y) {
		t.Fatal(err, r)
	}
	evaluations, worst := 0, 0.0
	for i, want := range f.BestFit {
		evaluations += r.NFev[i]
		d := distance(r.Row(i), want)
		worst = max(worst, d)
		if d > 1e-6 || math.Abs(r.Cost[i]-f.HalfSums[i]) > 1e-10*f.HalfSums[i] {
			t.Errorf("row %d: %v, want %v (%.1e), cost %g, want %g", i, r.Row(i), want, d, r.Cost[i], f.HalfSums[i])
		}
	}
	t.Logf("%s, %.1f evaluations a row, largest deviation %.1e", r, float64(evaluations)/float64(len(f.Y)), worst)
}

// Every row must be what LeastSquares finds, with errors, bounds, losses and
// weights.
func TestBatchAgreesWithLeastSquares(t *testing.T) {
	x := logspace(-2.5, 1, 24)
	b := decays(t, x)
	const n = 40
	all := decayRows(x, n, 5e-3)
	weights := make([]float64, n*len(x))
	for i := range weights {
		if weights[i] = 100 / (1 + float64(i%7)); i%11 == 3 {
			weights[i] = 0
		}
	}
	for _, c := range []struct {
		name   string
		bounds bool
		s      optim.BatchSettings
	}{
		{"plain", false, optim.BatchSettings{Covariance: true}},
		{"relative", false, optim.BatchSettings{Covariance: true, RelativeSigma: true}},
		{"bounds", true, optim.BatchSettings{Covariance: true}},
		{"soft_l1", false, optim.BatchSettings{Covariance: true, Loss: optim.SoftL1}},
		{"huber", true, optim.BatchSettings{Covariance: true, Loss: optim.Huber, LossScale: 0.7, RelativeSigma: true}},
		{"cauchy", false, optim.BatchSettings{Covariance: true, Loss: optim.Cauchy, LossScale: 2}},
		{"arctan", false, optim.BatchSettings{Covariance: true, Loss: optim.Arctan, LossScale: 4}},
	} {
		rows := all
		rows.Weights = weights
		if c.bounds {
			rows.Lower, rows.Upper = []float64{0.9, 0.15, 0.3}, []float64{1.001, 0.3, 0.8}
		}
		r, err := b.Fit(context.Background(), rows, c.s)
		if err != nil {
			t.Fatal(err)
		}
		active := 0
		for i := range n {
			w := weights[i*len(x) : (i+1)*len(x)]
			p := problem(t, "b + c*exp(-2 x/t)", kept(x, w), kept(rows.Columns[0][i*len(x):(i+1)*len(x)], w), inverse(kept(w, w)), rows.Start)
			p.Lower, p.Upper = rows.Lower, rows.Upper
			want, err := optim.LeastSquares(context.Background(), p, optim.Settings{Loss: c.s.Loss, LossScale: c.s.LossScale, RelativeSigma: c.s.RelativeSigma})
			if err != nil {
				t.Fatal(err)
			}
			// LeastSquares tries a second start for losses; where it found a lower
			// minimum there is nothing to compare.
			if c.s.Loss != "" && want.Cost < r.Cost[i]*(1-1e-6) {
				continue
			}
			if d := distance(r.Row(i), want.X); d > 1e-6 || math.Abs(r.Cost[i]-want.Cost) > 1e-10*want.Cost || !r.Status[i].Converged() {
				t.Errorf("%s row %d: %v, want %v (%.1e); cost %.12g, want %.12g: %s", c.name, i, r.Row(i), want.X, d, r.Cost[i], want.Cost, r.Reason(i))
				continue
			}
			if d := distance(r.SDs(i), want.SD()); d > 1e-5 {
				t.Errorf("%s row %d: sd %v, want %v", c.name, i, r.SDs(i), want.SD())
			}
			if d := distance(r.Cov[9*i:9*i+9], want.Cov); d > 1e-4 {
				t.Errorf("%s row %d: covariance off by %.1e", c.name, i, d)
			}
			for k := range 3 {
				if c.bounds && int(r.Active[3*i+k]) != want.Active[k] {
					t.Errorf("%s row %d: active %v, want %v", c.name, i, r.Active[3*i:3*i+3], want.Active)
				}
				if c.bounds && r.Active[3*i+k] != 0 {
					active++
				}
			}
			if c.bounds && distance(r.FreeSD[3*i:3*i+3], want.FreeSD()) > 1e-5 {
				t.Errorf("%s row %d: free sd %v, want %v", c.name, i, r.FreeSD[3*i:3*i+3], want.FreeSD())
			}
		}
		if c.bounds && active < n/4 {
			t.Errorf("%s: only %d bounds were reached: the test tests nothing", c.name, active)
		}
	}
}

func kept(v, w []float64) (out []float64) {
	for i, x := range v {
		if w[i] > 0 {
			out = append(out, x)
		}
	}
	return out
}

func inverse(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = 1 / x
	}
	return out
}

// A row's bits depend on its own data alone: not on how many rows there are, nor
// on which, nor on threads, nor on bad neighbours.
func TestBatchRowsAreAlone(t *testing.T) {
	x := logspace(-2.5, 1, 23)
	b := decays(t, x)
	const n = 700
	rows := decayRows(x, n, 1e-2)
	fit := func(rows optim.Rows, threads int) *optim.BatchResult {
		r, err := b.Fit(context.Background(), rows, optim.BatchSettings{Threads: threads, Loss: optim.SoftL1, LossScale: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := fit(rows, 1)
	same := func(what string, got *optim.BatchResult, i, k int) {
		t.Helper()
		if !slices.Equal(got.Row(i), want.Row(k)) || !slices.Equal(got.SDs(i), want.SDs(k)) || got.Cost[i] != want.Cost[k] || got.NFev[i] != want.NFev[k] {
			t.Fatalf("%s: row %d is %v, want %v", what, k, got.Row(i), want.Row(k))
		}
	}
	many := fit(rows, 5)
	for i := range n {
		same("5 threads", many, i, i)
	}
	for i := 0; i < n; i += 97 {
		one := rows
		one.Columns = [][]float64{rows.Columns[0][i*len(x) : (i+1)*len(x)]}
		same("alone", fit(one, 1), 0, i)
	}
	bad := rows
	bad.Columns = [][]float64{slices.Clone(rows.Columns[0])}
	for i := 0; i < n; i += 3 {
		for k := range x {
			bad.Columns[0][i*len(x)+k] = []float64{1e300, math.NaN(), math.Inf(1), -1e-300, 1e150}[(i/3)%5]
		}
	}
	got := fit(bad, 2)
	for i := range n {
		if i%3 != 0 {
			same("bad neighbours", got, i, i)
		}
	}
	if k := len(got.Failures()); k < n/3/5*2 || k > n/3+1 {
		t.Errorf("%d failures", k)
	}
	if s := got.Reason(3); got.Status[3] != optim.Failed || !strings.Contains(s, "row 3: y[0] is NaN") {
		t.Errorf("reason %q", s)
	}
}

// Matrix products and reductions inside the model must keep lanes apart as well.
func TestBatchLanesOfMatrices(t *testing.T) {
	a := ad.Input("a", 3)
	y := ad.Input("y", 5)
	basis := ad.Const([]float64{1, 0, 0, 1, 1, 1, 1, 2, 4, 1, 3, 9, 1, 4, 16}, 5, 3)
	r := ad.Sub(ad.Exp(ad.Scale(0.1, ad.MatMul(basis, a))), ad.Mul(y, ad.LogSumExp(ad.Scale(0.01, a))))
	b, err := optim.NewBatch(r, []*ad.Node{a}, y)
	if err != nil {
		t.Fatal(err)
	}
	rng := tensor.NewStream(5, 0, 0)
	const n = 40
	data := make([]float64, 5*n)
	for i := range data {
		data[i] = 1 + rng.Float64()
	}
	want, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{data}, Start: []float64{.1, .2, .3}}, optim.BatchSettings{})
	if err != nil || want.Converged() < n {
		t.Fatal(err, want)
	}
	for i := range n {
		one, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{data[5*i : 5*i+5]}, Start: []float64{.1, .2, .3}}, optim.BatchSettings{})
		if err != nil || !slices.Equal(one.X, want.Row(i)) {
			t.Errorf("row %d: %v alone, %v in the batch", i, one.X, want.Row(i))
		}
	}
}

// Where normal equations lose their digits the Jacobian is decomposed itself.
func TestBatchIllConditioned(t *testing.T) {
	x := make([]float64, 21)
	for i := range x {
		x[i] = 100 + float64(i)/20 // powers of x are nearly parallel: condition 1e9
	}
	p := inputs("a", "b", "c")
	y := ad.Input("y", len(x))
	model := ad.Exp(ad.Scale(1e-5, ad.AddN(p[0], ad.Mul(p[1], ad.Const(x)), ad.Mul(p[2], ad.Square(ad.Const(x))))))
	b, err := optim.NewBatch(ad.Sub(model, y), p, y)
	if err != nil {
		t.Fatal(err)
	}
	rng := tensor.NewStream(1, 0, 0)
	rows := optim.Rows{Start: []float64{0, 0, 0}, Columns: [][]float64{nil}}
	const n = 20
	for range n {
		q := []float64{rng.Normal(), rng.Normal(), rng.Normal()}
		for _, v := range x {
			rows.Columns[0] = append(rows.Columns[0], math.Exp(1e-5*(q[0]+q[1]*v+q[2]*v*v))+1e-6*rng.Normal())
		}
	}
	r, err := b.Fit(context.Background(), rows, optim.BatchSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		q, err := optim.FromGraph(ad.Sub(model, ad.Const(rows.Columns[0][i*len(x):(i+1)*len(x)])), p)
		if err != nil {
			t.Fatal(err)
		}
		q.Start = rows.Start
		want, err := optim.LeastSquares(context.Background(), q, optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Cost[i]-want.Cost) > 1e-10*want.Cost || distance(r.SDs(i), want.SD()) > 1e-3 || !r.Status[i].Converged() {
			t.Errorf("row %d: cost %.15g, want %.15g; sd %v, want %v: %s", i, r.Cost[i], want.Cost, r.SDs(i), want.SD(), r.Reason(i))
		}
	}
}

func TestBatchIdentifiability(t *testing.T) {
	p := inputs("a", "b", "c")
	y := ad.Input("y", 6)
	x := ad.Const([]float64{0, 1, 2, 3, 4, 5})
	b, err := optim.NewBatch(ad.Sub(ad.Add(ad.Mul(ad.Add(p[0], p[1]), x), p[2]), y), p, y)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{{0, 2, 4, 6, 8, 10.5}}, Start: []float64{1, 1, 1}}, optim.BatchSettings{})
	sd := r.SDs(0)
	// c is the intercept of a line through six points: its variance is sum x^2 / (6 sum (x - 2.5)^2) = 55/105.
	if err != nil || !math.IsInf(sd[0], 1) || !math.IsInf(sd[1], 1) || math.Abs(sd[2]-math.Sqrt(55./105)) > 1e-6 {
		t.Errorf("%v %v %s", err, sd, r.Reason(0))
	}
	// With c on its bound, what a and b lack does not come from it.
	inf := math.Inf(1)
	r, err = b.Fit(context.Background(), optim.Rows{Columns: [][]float64{{0, 2, 4, 6, 8, 10.5}}, Start: []float64{1, 1, 2},
		Lower: []float64{-inf, -inf, 1}, Upper: []float64{inf, inf, inf}}, optim.BatchSettings{Covariance: true})
	if err != nil || r.Active[2] == 0 || !math.IsInf(r.FreeSD[0], 1) || !math.IsInf(r.FreeSD[1], 1) || r.FreeSD[2] != 0 {
		t.Errorf("%v %v %v %s", err, r.Active, r.FreeSD, r.Reason(0))
	}
}

func TestBatchEnds(t *testing.T) {
	x := logspace(-2, 1, 16)
	b := decays(t, x)
	rows := decayRows(x, 50, 1e-3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := b.Fit(ctx, rows, optim.BatchSettings{})
	if err == nil || r.Status[7] != optim.Interrupted {
		t.Errorf("cancelled: %v %v", err, r)
	}
	r, err = b.Fit(context.Background(), rows, optim.BatchSettings{MaxEvaluations: 2})
	if err != nil || r.Status[0] != optim.MaxEvaluations || r.NFev[0] != 2 {
		t.Errorf("two evaluations: %v %v %v", err, r, r.NFev[0])
	}
	guessed := rows
	guessed.Start = nil
	guessed.Guess = func(start []float64, columns [][]float64) error {
		y := columns[0]
		if y[0] < 0 {
			return fmt.Errorf("negative data")
		}
		copy(start, []float64{y[len(y)-1], y[0] - y[len(y)-1], 0.5})
		return nil
	}
	guessed.Columns = [][]float64{slices.Clone(rows.Columns[0])}
	guessed.Columns[0][16*4] = -1
	last := 0
	r, err = b.Fit(context.Background(), guessed, optim.BatchSettings{Progress: func(done, all int) { last = done }})
	if err != nil || r.Converged() != 49 || !strings.Contains(r.Reason(4), "negative data") || last != 50 {
		t.Errorf("guess: %v %v %q, told %d", err, r, r.Reason(4), last)
	}
	empty, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{{}}, Start: []float64{1, 1, 1}}, optim.BatchSettings{})
	if err != nil || len(empty.Status) != 0 {
		t.Errorf("no rows: %v %v", err, empty)
	}
	masked := rows
	masked.Weights = make([]float64, len(rows.Columns[0]))
	if r, err = b.Fit(context.Background(), masked, optim.BatchSettings{}); err != nil || len(r.Failures()) != 50 || !strings.Contains(r.Reason(0), "no residual has a weight") {
		t.Errorf("all masked: %v %v %s", err, r, r.Reason(0))
	}
	for want, bad := range map[string]optim.Rows{
		"no start":           {Columns: rows.Columns},
		"Start has 2 values": {Columns: rows.Columns, Start: []float64{1, 2}},
		"0 columns: want 1":  {Start: []float64{1, 2, 3}},
		"4 weights":          {Columns: rows.Columns, Start: rows.Start, Weights: make([]float64, 4)},
		"want lower < upper": {Columns: rows.Columns, Start: rows.Start, Lower: []float64{1, 1, 1}, Upper: []float64{1, 2, 2}},
		"17 values: want":    {Columns: [][]float64{make([]float64, 17)}, Start: rows.Start},
	} {
		if _, err := b.Fit(context.Background(), bad, optim.BatchSettings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := b.Fit(context.Background(), rows, optim.BatchSettings{Loss: "hubert"}); err == nil {
		t.Error("loss hubert, no error")
	}
}
