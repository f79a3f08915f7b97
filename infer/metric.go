package infer

import (
	"fmt"
	"math"

	simd "gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Metric is the inverse mass matrix of a sampler as a factor F with F F^T =
// M^-1, an estimate of the posterior covariance: in the whitened coordinates
// F^-1 q the posterior is about as wide in every direction.
//
//	diagonal            F = diag(s)
//	low rank            F = diag(s) (I + U (diag(sqrt(lambda)) - 1) U^T)
//	dense               F = L, the Cholesky factor
//	blocks              F = L inside each block, s elsewhere
//
// The zero Metric is the identity of any dimension. A Metric never changes and
// may be shared.
type Metric struct {
	scale []float64 // s; nil is all ones
	vec   []float64 // columns of U one after the other, orthonormal
	grow  []float64 // sqrt(lambda) - 1 per column
	chol  []float64 // L by rows, full square; excludes the others

	blocks []block // full covariances that replace the diagonal
}

// DiagMetric returns the metric of parameters with the given variances.
func DiagMetric(variances []float64) (Metric, error) {
	s := make([]float64, len(variances))
	for i, v := range variances {
		if s[i] = math.Sqrt(v); !(s[i] > 0) || math.IsInf(s[i], 0) {
			return Metric{}, fmt.Errorf("infer: variance %d of the metric is %g: want a positive number", i, v)
		}
	}
	return Metric{scale: s}, nil
}

// DenseMetric returns the metric of a full covariance matrix.
func DenseMetric(cov [][]float64) (Metric, error) {
	n := len(cov)
	if n == 0 {
		return Metric{}, nil
	}
	sym := mat.NewSymDense(n, nil)
	for i, row := range cov {
		if len(row) != n {
			return Metric{}, fmt.Errorf("infer: row %d of the metric has %d entries: want %d", i, len(row), n)
		}
		for j := i; j < n; j++ {
			sym.SetSym(i, j, (row[j]+cov[j][i])/2)
		}
	}
	return denseFrom(sym)
}

func denseFrom(cov mat.Symmetric) (Metric, error) {
	var c mat.Cholesky
	if !c.Factorize(cov) {
		return Metric{}, fmt.Errorf("infer: the covariance of the metric is not positive definite: add to its diagonal")
	}
	var l mat.TriDense
	c.LTo(&l)
	n := cov.SymmetricDim()
	m := Metric{chol: make([]float64, n*n)}
	for i := range n {
		for j := range i + 1 {
			if v := l.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return Metric{}, fmt.Errorf("infer: the covariance of the metric is not finite in row %d", i)
			} else {
				m.chol[i*n+j] = v
			}
		}
	}
	return m, nil
}

// LowRankMetric returns the metric of scales s, orthonormal directions U (one
// per row of vectors) and variances lambda along them in units of the scales.
func LowRankMetric(scale []float64, vectors [][]float64, lambda []float64) (Metric, error) {
	m := Metric{scale: scale}
	for k, u := range vectors {
		if len(u) != len(scale) || len(vectors) != len(lambda) || !(lambda[k] > 0) {
			return Metric{}, fmt.Errorf("infer: direction %d of the metric does not fit %d scales and a positive variance", k, len(scale))
		}
		m.vec = append(m.vec, u...)
		m.grow = append(m.grow, math.Sqrt(lambda[k])-1)
	}
	return m, nil
}

// Dim returns the dimension, 0 for the identity of any dimension.
func (m *Metric) Dim() int {
	if m.chol != nil {
		return int(math.Sqrt(float64(len(m.chol))) + 0.5)
	}
	return len(m.scale)
}

// Rank returns the number of directions beyond the diagonal.
func (m *Metric) Rank() int { return len(m.grow) }

// same reports whether m and o are one metric, not just equal ones.
func (m *Metric) same(o *Metric) bool {
	one := func(a, b []float64) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	return one(m.scale, o.scale) && one(m.vec, o.vec) && one(m.chol, o.chol) &&
		len(m.blocks) == len(o.blocks) && (len(m.blocks) == 0 || &m.blocks[0] == &o.blocks[0])
}

// Cov returns M^-1 = F F^T as a full matrix of dimension n.
func (m *Metric) Cov(n int) [][]float64 {
	out := make([][]float64, n)
	unit, w := make([]float64, n), make([]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		clear(unit)
		unit[i] = 1
		m.force(w, unit)
		m.velocity(out[i], w)
	}
	return out
}

// Variances returns the diagonal of M^-1.
func (m *Metric) Variances(n int) []float64 {
	out := make([]float64, n)
	unit, w := make([]float64, n), make([]float64, n)
	for i := range out {
		clear(unit)
		unit[i] = 1
		m.force(w, unit)
		out[i] = dot(w, w)
	}
	return out
}

// velocity writes F z, the change of q per unit time at momentum z.
func (m *Metric) velocity(dst, z []float64) {
	switch {
	case m.chol != nil:
		n := len(z)
		for i := range dst {
			dst[i] = dot(m.chol[i*n:i*n+i+1], z[:i+1])
		}
		return
	case m.scale == nil:
		copy(dst, z)
		return
	case len(m.grow) == 0:
		for i, s := range m.scale {
			dst[i] = s * z[i]
		}
		for i := range m.blocks {
			m.blocks[i].times(dst, z)
		}
		return
	}
	copy(dst, z)
	m.stretch(dst, 1)
	for i, s := range m.scale {
		dst[i] *= s
	}
}

// force writes F^T g, the change of z per unit time where the gradient is g.
func (m *Metric) force(dst, g []float64) {
	switch {
	case m.chol != nil:
		n := len(g)
		clear(dst)
		for i, v := range g {
			axpy(dst[:i+1], v, m.chol[i*n:i*n+i+1])
		}
		return
	case m.scale == nil:
		copy(dst, g)
		return
	}
	for i, s := range m.scale {
		dst[i] = s * g[i]
	}
	for i := range m.blocks {
		m.blocks[i].transposed(dst, g)
	}
	m.stretch(dst, 1)
}

// momentum writes p = F^-T z, the momentum in the parameters' own coordinates.
func (m *Metric) momentum(dst, z []float64) {
	copy(dst, z)
	if m.chol != nil {
		n := len(z)
		for i := n - 1; i >= 0; i-- {
			dst[i] /= m.chol[i*n+i]
			axpy(dst[:i], -dst[i], m.chol[i*n:i*n+i])
		}
		return
	}
	m.stretch(dst, -1)
	for i := range m.blocks {
		m.blocks[i].solve(dst)
	}
	for i, s := range m.scale {
		dst[i] /= s
	}
}

// stretch multiplies v by sqrt(lambda) along every direction, or divides.
func (m *Metric) stretch(v []float64, power int) {
	n := len(v)
	for k, g := range m.grow {
		if power < 0 {
			g = 1/(1+g) - 1
		}
		u := m.vec[k*n : (k+1)*n]
		axpy(v, g*dot(u, v), u)
	}
}

// long is where the assembly of gonum overtakes a plain loop.
const long = 16

func dot(a, b []float64) float64 {
	if len(a) >= long {
		return simd.Dot(a, b[:len(a)])
	}
	return shortDot(a, b)
}

func shortDot(a, b []float64) (s float64) {
	b = b[:len(a)]
	for i, x := range a {
		s += x * b[i]
	}
	return s
}

// axpy adds f x to v.
func axpy(v []float64, f float64, x []float64) {
	x = x[:len(v)]
	if len(v) >= long {
		simd.AddScaled(v, f, x)
		return
	}
	for i := range v {
		v[i] += f * x[i]
	}
}
