// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

func trajectoryAt(t *testing.T, target hamiltonian.Density, m *hamiltonian.Metric, q []float64) (*hamiltonian.Trajectory, *hamiltonian.Point) {
	t.Helper()
	momentum, choice := tensor.NewStream(1, 1, 0), tensor.NewStream(1, 2, 0)
	tr := hamiltonian.NewTree(target, m, 10, 1000, &momentum, &choice)
	p := hamiltonian.NewPoint(len(q))
	copy(p.Q, q)
	if err := tr.Start(&p); err != nil {
		t.Fatal(err)
	}
	return &tr.Trajectory, &p
}

func someMetrics(t *testing.T) map[string]hamiltonian.Metric {
	t.Helper()
	diag, err := hamiltonian.DiagMetric([]float64{1, 4, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	dense, err := hamiltonian.DenseMetric([][]float64{{2, 1, 0}, {1, 3, -1}, {0, -1, 1.5}})
	if err != nil {
		t.Fatal(err)
	}
	r := 1 / math.Sqrt(2)
	low, err := hamiltonian.LowRankMetric([]float64{1, 2, 3}, [][]float64{{r, r, 0}, {0, 0, 1}}, []float64{9, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := hamiltonian.BlockMetric([]float64{9, 4, 9}, hamiltonian.Block{Parameters: []int{2, 0}, Cov: [][]float64{{2, 1}, {1, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]hamiltonian.Metric{"identity": {}, "diagonal": diag, "dense": dense, "low rank": low, "blocks": blocks,
		"sparse": {Sparse: hamiltonian.NewSparseFactor([]int{2, 0, 1}, []int{0, 2, 4, 5}, []int{2, 1, 0, 1, 1}, []float64{2, -1, 0.5, 0.25, 3})},
		"chain":  {Sparse: hamiltonian.NewSparseFactor([]int{0, 1, 2}, []int{0, 2, 4, 5}, []int{0, 1, 1, 2, 2}, []float64{2, -1, 0.5, 0.25, 3})}}
}

// F^-T undoes F^T, and F is the transpose of F^T.
func TestMetricFactors(t *testing.T) {
	random := tensor.NewStream(3, 0, 0)
	for name, m := range someMetrics(t) {
		a, b := make([]float64, 3), make([]float64, 3)
		fa, fb, back := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		random.NormalTo(a)
		random.NormalTo(b)
		m.Velocity(fa, a)
		m.Force(fb, b)
		if x, y := linalg.FastDot(fa, b), linalg.FastDot(a, fb); math.Abs(x-y) > 1e-13 {
			t.Errorf("%s: F a . b is %g and a . F^T b is %g", name, x, y)
		}
		m.Momentum(back, fb)
		for i := range back {
			if math.Abs(back[i]-b[i]) > 1e-13 {
				t.Errorf("%s: F^-T F^T b is %v, want %v", name, back, b)
			}
		}
		cov, v := m.Cov(3), m.Variances(3)
		for i := range v {
			if math.Abs(cov[i][i]-v[i]) > 1e-12 {
				t.Errorf("%s: variance %d is %g in the matrix and %g alone", name, i, cov[i][i], v[i])
			}
		}
	}
}

func TestMetricSurvivesSaving(t *testing.T) {
	for name, m := range someMetrics(t) {
		var w checkpoint.Encoder
		m.Save(&w)
		var got hamiltonian.Metric
		r := checkpoint.Decode(w.Encoded())
		got.Load(r, 3)
		if r.Err() != nil || !sameBits(got.Cov(3), m.Cov(3)) {
			t.Errorf("%s: %v, %v", name, r.Err(), got)
		}
		r = checkpoint.Decode(w.Encoded())
		if got.Load(r, 4); name != "identity" && r.Err() == nil {
			t.Errorf("%s: accepted for 4 parameters", name)
		}
	}
}

func sameBits(a, b [][]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if math.Float64bits(a[i][j]) != math.Float64bits(b[i][j]) {
				return false
			}
		}
	}
	return true
}

func TestBadMetrics(t *testing.T) {
	for _, v := range [][]float64{{0}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		if _, err := hamiltonian.DiagMetric(v); err == nil {
			t.Errorf("accepted variances %v", v)
		}
	}
	for _, c := range [][][]float64{{{1, 2}, {2, 1}}, {{1}, {1}}, {{math.NaN()}}} {
		if _, err := hamiltonian.DenseMetric(c); err == nil {
			t.Errorf("accepted covariance %v", c)
		}
	}
	if _, err := hamiltonian.LowRankMetric([]float64{1}, [][]float64{{1}}, []float64{0}); err == nil {
		t.Error("accepted a direction of variance 0")
	}
}

// A window in which a parameter did not move gives no metric.
func TestEstimatorsKeepSilent(t *testing.T) {
	for _, kind := range []MetricKind{LowRank, DiagFisher, DiagVariance, DenseVariance, FixedMetric} {
		e := NewEstimator(kind, 2, false)
		for i := range 20 {
			e.Add([]float64{1, float64(i)}, []float64{1, -float64(i)})
		}
		if _, ok := e.Metric(); ok {
			t.Errorf("kind %d made a metric of a constant", kind)
		}
		if e.Count() != 20 {
			t.Errorf("kind %d counts %d draws", kind, e.Count())
		}
	}
}

// Exact gradients of a normal determine its covariance from fewer draws than
// parameters where it differs from a diagonal in few directions.
func TestLowRankFindsSpikes(t *testing.T) {
	const n = 60
	u := make([]float64, n)
	for i := range u {
		u[i] = 1 / math.Sqrt(n)
	}
	random := tensor.NewStream(5, 0, 0)
	e := NewEstimator(LowRank, n, false)
	for range 20 {
		q, g := make([]float64, n), make([]float64, n)
		random.NormalTo(q)
		linalg.AddScaled(q, (math.Sqrt(1001)-1)*linalg.FastDot(u, q), u) // covariance 1 + 1000 u u^T
		copy(g, q)
		linalg.AddScaled(g, -1000./1001*linalg.FastDot(u, q), u)
		for i := range g {
			g[i] = -g[i]
		}
		e.Add(q, g)
	}
	m, ok := e.Metric()
	if !ok {
		t.Fatal("no metric")
	}
	w := make([]float64, n)
	m.Force(w, u)
	if v := linalg.FastDot(w, w); v < 300 || v > 3000 {
		t.Errorf("variance along the spike is %g, want about 1001", v)
	}
}

// Running factors give the metric of the stored sample, also where scales and
// correlations are extreme.
func TestSmallEstimator(t *testing.T) {
	for dim := 1; dim <= SmallDim; dim++ {
		random := tensor.NewStream(9, 0, uint32(dim))
		e := newSmallEstimator(dim)
		var qs, gs [][]float64
		for n := range 60 {
			q, g := random.NormalTo(make([]float64, dim)), random.NormalTo(make([]float64, dim))
			for i := range q {
				g[i] -= 3 * q[i]
				if i > 0 {
					q[i] += 1000 * q[0] // of correlation 1 - 1e-6
				}
				g[i] *= math.Pow(0.01, float64(i))
			}
			for i := range q {
				q[i] *= math.Pow(100, float64(i))
			}
			qs, gs = append(qs, q), append(gs, g)
			e.Add(q, g)
			if n != 4 && n != 20 && n != 59 {
				continue
			}
			got, ok := e.Metric()
			f, fine := fitLowRank(qs, gs, fisherGamma, fisherCutoff)
			want, err := hamiltonian.LowRankMetric(f.scale, f.vectors, f.lambda)
			if !ok || !fine || err != nil || got.Rank() != want.Rank() {
				t.Fatalf("%d parameters, %d draws: %v %v %v, rank %d, want %d", dim, n, ok, fine, err, got.Rank(), want.Rank())
			}
			a, b := got.Cov(dim), want.Cov(dim)
			for i := range a {
				for j := range a {
					if d := math.Abs(a[i][j]-b[i][j]) / math.Sqrt(b[i][i]*b[j][j]); d > 1e-8 {
						t.Errorf("%d parameters, %d draws: entry (%d, %d) is %g, want %g", dim, n, i, j, a[i][j], b[i][j])
					}
				}
			}
		}
	}
}

// The directions in which a metric of low rank is sought are those of draws and of gradients, each orthonormal.
func TestSpanOfDrawsAndGradients(t *testing.T) {
	const n, d = 3, 12
	random := tensor.NewStream(8, 0, 0)
	y, a := mat.NewDense(n, d, random.NormalTo(make([]float64, n*d))), mat.NewDense(n, d, random.NormalTo(make([]float64, n*d)))
	basis := spanBasis(y, a)
	for name, rows := range map[string]*mat.Dense{"draws": y, "gradients": a} {
		for k := range n {
			row, square := rows.RawRowView(k), 0.0
			for j := range 2 * n {
				along := mat.Dot(mat.NewVecDense(d, row), basis.ColView(j))
				square += along * along
			}
			if all := linalg.FastDot(row, row); math.Abs(square-all) > 1e-12*all {
				t.Errorf("%s: row %d has the squared length %g, and %g along the directions", name, k, all, square)
			}
		}
	}
}
