// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"math"
	"math/cmplx"
)

// square matrices of complex numbers, row by row
type complexSquare struct {
	n int
	a []complex128
}

func newComplexSquare(n int) complexSquare { return complexSquare{n, make([]complex128, n*n)} }

func (m complexSquare) at(i, j int) *complex128 { return &m.a[i*m.n+j] }

// rotation is the unitary matrix [c s; -conj(s) c] that turns (x, y) into (r, 0).
func rotation(x, y complex128) (c float64, s complex128) {
	ax, ay := cmplx.Abs(x), cmplx.Abs(y)
	switch {
	case ay == 0:
		return 1, 0
	case ax == 0:
		return 0, cmplx.Conj(y) / complex(ay, 0)
	}
	r := math.Hypot(ax, ay)
	return ax / r, x / complex(ax, 0) * cmplx.Conj(y) / complex(r, 0)
}

// turn applies a rotation to rows k and k+1 from a column on.
func (m complexSquare) turn(c float64, s complex128, k, from int) {
	for j := from; j < m.n; j++ {
		x, y := *m.at(k, j), *m.at(k+1, j)
		*m.at(k, j) = complex(c, 0)*x + s*y
		*m.at(k+1, j) = complex(c, 0)*y - cmplx.Conj(s)*x
	}
}

// turnBack applies the inverse of a rotation to columns k and k+1 of the first rows.
func (m complexSquare) turnBack(c float64, s complex128, k, rows int) {
	for i := range rows {
		x, y := *m.at(i, k), *m.at(i, k+1)
		*m.at(i, k) = complex(c, 0)*x + cmplx.Conj(s)*y
		*m.at(i, k+1) = complex(c, 0)*y - s*x
	}
}

// schur returns the decomposition a = u t u^H with u unitary and t upper triangular, by QR steps with Wilkinson's shifts (Golub and Van Loan,
// Matrix Computations, section 7.5); false if the steps do not converge, because a holds a NaN or an infinity.
func schur(a complexSquare) (u, t complexSquare, ok bool) {
	n := a.n
	u, t = newComplexSquare(n), newComplexSquare(n)
	copy(t.a, a.a)
	for i := range n {
		*u.at(i, i) = 1
	}
	hessenberg(u, t)
	steps := 0
	for hi := n - 1; hi > 0; {
		lo := hi
		for ; lo > 0; lo-- {
			near := cmplx.Abs(*t.at(lo-1, lo-1)) + cmplx.Abs(*t.at(lo, lo))
			if cmplx.Abs(*t.at(lo, lo-1)) <= 0x1p-53*near {
				*t.at(lo, lo-1) = 0
				break
			}
		}
		if lo == hi {
			hi, steps = hi-1, 0
			continue
		}
		if steps++; steps > 60 {
			return u, t, false
		}
		shift := wilkinson(*t.at(hi-1, hi-1), *t.at(hi-1, hi), *t.at(hi, hi-1), *t.at(hi, hi))
		if steps%10 == 0 { // leaves a cycle
			shift = *t.at(hi, hi) + complex(cmplx.Abs(*t.at(hi, hi-1)), 0)
		}
		sweep(u, t, lo, hi, shift)
	}
	return u, t, true
}

// hessenberg makes zeros below the first subdiagonal of t, and multiplies u by what does that.
func hessenberg(u, t complexSquare) {
	n := t.n
	for j := range n - 2 {
		for i := n - 2; i > j; i-- {
			c, s := rotation(*t.at(i, j), *t.at(i+1, j))
			t.turn(c, s, i, j)
			t.turnBack(c, s, i, n)
			u.turnBack(c, s, i, n)
			*t.at(i+1, j) = 0
		}
	}
}

// sweep chases a bulge from row lo to hi.
func sweep(u, t complexSquare, lo, hi int, shift complex128) {
	x, y := *t.at(lo, lo)-shift, *t.at(lo+1, lo)
	for k := lo; k < hi; k++ {
		c, s := rotation(x, y)
		t.turn(c, s, k, max(lo, k-1))
		t.turnBack(c, s, k, min(k+3, hi+1))
		u.turnBack(c, s, k, u.n)
		if k > lo {
			*t.at(k+1, k-1) = 0
		}
		if k+1 < hi {
			x, y = *t.at(k+1, k), *t.at(k+2, k)
		}
	}
}

// wilkinson is the eigenvalue of [a b; c d] that is next to d.
func wilkinson(a, b, c, d complex128) complex128 {
	half := (a - d) / 2
	r := cmplx.Sqrt(half*half + b*c)
	if real(half)*real(r)+imag(half)*imag(r) < 0 {
		r = -r
	}
	if half+r == 0 {
		return d
	}
	return d - b*c/(half+r)
}

// eigenvectorsOf returns the columns of length 1 of eigenvectors, of which the largest element is positive.
func eigenvectorsOf(u, t complexSquare) complexSquare {
	n := t.n
	norm := 0.0
	for _, x := range t.a {
		norm = math.Max(norm, cmplx.Abs(x))
	}
	least := complex(math.Max(norm*0x1p-52, math.SmallestNonzeroFloat64), 0)
	v := newComplexSquare(n)
	x := make([]complex128, n)
	for k := range n {
		clear(x)
		x[k] = 1
		for i := k - 1; i >= 0; i-- {
			sum := complex128(0)
			for j := i + 1; j <= k; j++ {
				sum += *t.at(i, j) * x[j]
			}
			d := *t.at(i, i) - *t.at(k, k)
			if cmplx.Abs(d) < real(least) {
				d = least
			}
			x[i] = -sum / d
		}
		for i := range n {
			for j := range k + 1 {
				*v.at(i, k) += *u.at(i, j) * x[j]
			}
		}
		v.normalise(k)
	}
	return v
}

// normalise gives a column the length 1, and its largest element the phase 0.
func (m complexSquare) normalise(k int) {
	norm, l := 0.0, m.largest(k)
	for i := range m.n {
		norm = math.Hypot(norm, cmplx.Abs(*m.at(i, k)))
	}
	top := *m.at(l, k)
	by := cmplx.Conj(top) / complex(cmplx.Abs(top)*norm, 0)
	for i := range m.n {
		*m.at(i, k) *= by
	}
	*m.at(l, k) = complex(real(*m.at(l, k)), 0)
}

// largest is the row of the largest element of a column, and the first of equal ones.
func (m complexSquare) largest(k int) int {
	at := 0
	for i := range m.n {
		if cmplx.Abs(*m.at(i, k)) > cmplx.Abs(*m.at(at, k))*(1+1e-12) {
			at = i
		}
	}
	return at
}

// solve returns the solution x of m x = b for a matrix b, by Gaussian elimination with pivots.
func (m complexSquare) solve(b complexSquare) complexSquare {
	n := m.n
	a, x := newComplexSquare(n), newComplexSquare(n)
	copy(a.a, m.a)
	copy(x.a, b.a)
	for k := range n {
		p := k
		for i := k; i < n; i++ {
			if cmplx.Abs(*a.at(i, k)) > cmplx.Abs(*a.at(p, k)) {
				p = i
			}
		}
		for j := range n {
			*a.at(k, j), *a.at(p, j) = *a.at(p, j), *a.at(k, j)
			*x.at(k, j), *x.at(p, j) = *x.at(p, j), *x.at(k, j)
		}
		for i := range n {
			if i == k {
				continue
			}
			f := *a.at(i, k) / *a.at(k, k)
			for j := range n {
				if j >= k {
					*a.at(i, j) -= f * *a.at(k, j)
				}
				*x.at(i, j) -= f * *x.at(k, j)
			}
		}
	}
	for i := range n {
		for j := range n {
			*x.at(i, j) /= *a.at(i, i)
		}
	}
	return x
}

// adjoint is the conjugate transpose.
func (m complexSquare) adjoint() complexSquare {
	out := newComplexSquare(m.n)
	for i := range m.n {
		for j := range m.n {
			*out.at(j, i) = cmplx.Conj(*m.at(i, j))
		}
	}
	return out
}

func (m complexSquare) times(b complexSquare) complexSquare {
	out := newComplexSquare(m.n)
	for i := range m.n {
		for k := range m.n {
			for j := range m.n {
				*out.at(i, j) += *m.at(i, k) * *b.at(k, j)
			}
		}
	}
	return out
}
