package optim

import "math"

// Matrices here are small: a few parameters by tens to millions of residuals,
// stored column by column.

// qr reduces a (m x n, m >= n) to its upper triangle by Householder reflections
// and applies them to b. The triangle is left in r (n x n, by columns).
func qr(a []float64, m, n int, b, r []float64) {
	for k := range n {
		col := a[k*m : (k+1)*m]
		s := norm(col[k:])
		if s != 0 {
			if col[k] > 0 {
				s = -s
			}
			v0 := col[k] - s
			col[k] = v0
			beta := -1 / (s * v0)
			for j := k + 1; j < n; j++ {
				reflect(col[k:], a[j*m+k:(j+1)*m], beta)
			}
			reflect(col[k:], b[k:m], beta)
		}
		for i := range n {
			switch {
			case i < k:
				r[k*n+i] = col[i]
			case i == k:
				r[k*n+i] = s
			default:
				r[k*n+i] = 0
			}
		}
	}
}

// reflect subtracts beta (v.x) v from x.
func reflect(v, x []float64, beta float64) {
	d := dot(v, x) * beta
	for i, vi := range v {
		x[i] -= d * vi
	}
}

// jacobiSVD decomposes a (m x n, by columns) as U diag(s) V^T by one-sided
// Jacobi rotations: a becomes U diag(s), v is n x n by columns. Accurate to the
// last digits also for small singular values.
func jacobiSVD(a []float64, m, n int, s, v []float64) {
	for i := range v {
		v[i] = 0
	}
	for i := range n {
		v[i*n+i] = 1
	}
	for range 40 {
		rotated := false
		for p := range n {
			for q := p + 1; q < n; q++ {
				x, y := a[p*m:(p+1)*m], a[q*m:(q+1)*m]
				alpha, beta, gamma := dot(x, x), dot(y, y), dot(x, y)
				if math.Abs(gamma) <= 1e-16*math.Sqrt(alpha*beta) || gamma == 0 {
					continue
				}
				rotated = true
				zeta := (beta - alpha) / (2 * gamma)
				t := math.Copysign(1/(math.Abs(zeta)+math.Hypot(1, zeta)), zeta)
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

func rotate(x, y []float64, c, s float64) {
	for i, xi := range x {
		yi := y[i]
		x[i] = c*xi - s*yi
		y[i] = s*xi + c*yi
	}
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// norm returns the Euclidean norm without overflow.
func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	if s > 1e-280 && s < 1e280 {
		return math.Sqrt(s)
	}
	big := maxAbs(x)
	if big == 0 || math.IsInf(big, 0) || math.IsNaN(big) {
		return big
	}
	s = 0
	for _, v := range x {
		s += (v / big) * (v / big)
	}
	return big * math.Sqrt(s)
}

func maxAbs(x []float64) float64 {
	b := 0.0
	for _, v := range x {
		if a := math.Abs(v); a > b || math.IsNaN(a) {
			b = a
		}
	}
	return b
}
