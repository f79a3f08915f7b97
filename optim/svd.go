package optim

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// jacobiMost is the most columns that rotations decompose; beyond, LAPACK's way
// is faster.
const jacobiMost = 48

// svd decomposes a (m x n, by columns, m >= n) as U diag(s) V^T: a becomes
// U diag(s), v is n x n by columns.
func svd(a []float64, m, n int, s, v []float64) {
	if n <= jacobiMost || !bidiagonalSVD(a, m, n, s, v) {
		jacobiSVD(a, m, n, s, v)
	}
}

// bidiagonalSVD is svd by gonum; false where it does not converge.
func bidiagonalSVD(a []float64, m, n int, s, v []float64) bool {
	if !allFinite(a) {
		return false
	}
	d := mat.NewDense(m, n, nil)
	for j := range n {
		d.SetCol(j, a[j*m:(j+1)*m])
	}
	var f mat.SVD
	if !f.Factorize(d, mat.SVDThin) {
		return false
	}
	var u, w mat.Dense
	f.UTo(&u)
	f.VTo(&w)
	copy(s, f.Values(nil))
	for j := range n {
		for i := range m {
			a[j*m+i] = u.At(i, j) * s[j]
		}
		for i := range n {
			v[j*n+i] = w.At(i, j)
		}
	}
	return true
}

// jacobiSVD is svd by one-sided Jacobi rotations: accurate to the last digits
// also for small singular values.
func jacobiSVD(a []float64, m, n int, s, v []float64) {
	clear(v)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 40 {
		rotated := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				x, y := a[p*m:(p+1)*m], a[q*m:(q+1)*m]
				alpha, beta, gamma := moments3(x, y)
				if math.Abs(gamma) <= 0x1p-51*math.Sqrt(alpha*beta) || gamma == 0 {
					continue
				}
				rotated = true
				zeta := (beta - alpha) / (2 * gamma)
				t := math.Copysign(1/(math.Abs(zeta)+hypot1(zeta)), zeta)
				c := 1 / math.Sqrt(1+t*t)
				rotate(x, y, c, c*t)
				rotate(v[p*n:(p+1)*n], v[q*n:(q+1)*n], c, c*t)
			}
		}
		if !rotated {
			break
		}
	}
	for k := range n {
		s[k] = norm(a[k*m : (k+1)*m])
	}
}

// moments3 returns x.x, y.y and x.y.
func moments3(x, y []float64) (xx, yy, xy float64) {
	y = y[:len(x)]
	for i, a := range x {
		b := y[i]
		xx += a * a
		yy += b * b
		xy += a * b
	}
	return xx, yy, xy
}

// hypot1 is the root of 1 + z^2.
func hypot1(z float64) float64 {
	if math.Abs(z) > 1e150 {
		return math.Abs(z)
	}
	return math.Sqrt(1 + z*z)
}

func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, xi := range x {
		yi := y[i]
		x[i] = c*xi - s*yi
		y[i] = s*xi + c*yi
	}
}
