// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package linalg

import (
	"math"
	"testing"
)

// matrix returns m x n numbers between -1 and 1, by columns.
func matrix(m, n int) []float64 {
	a := make([]float64, m*n)
	for i := range a {
		a[i] = math.Sin(float64(3*i*i + i))
	}
	return a
}

// The products with the factors give back the matrix and solve its systems.
func TestCholesky(t *testing.T) {
	const n = 7
	x := matrix(20, n)
	a := make([]float64, n*n)
	for i := range n {
		for j := range n {
			a[i*n+j] = Dot(x[i*20:(i+1)*20], x[j*20:(j+1)*20])
		}
	}
	want, b := matrix(n, 1), make([]float64, n)
	for i := range b {
		b[i] = Dot(a[i*n:(i+1)*n], want)
	}
	if row, v := Cholesky(a, n); row >= 0 {
		t.Fatalf("pivot %d is %g", row, v)
	}
	SolveCholesky(a, b)
	near(t, b, want)
	if row, v := Cholesky([]float64{1, 0, 2, 4}, 2); row != 1 || v != 0 {
		t.Errorf("the singular matrix ends at row %d with %g", row, v)
	}
}

// Least squares by QR of full and of deficient rank, and by the damped step.
func TestPivotedQR(t *testing.T) {
	const m, n = 12, 4
	a, want := matrix(m, n), []float64{1, -2, 0.5, 3}
	b := make([]float64, m)
	for k, c := range want {
		AddScaled(b, c, a[k*m:(k+1)*m])
	}
	q := NewPivotedQR(m, n, new(Arena))
	copy(q.A, a)
	q.Factor()
	q.MultiplyQT(b)
	h := make([]float64, n)
	if par := NewDamped(q).Within(h, b, 100, 0); par != 0 || q.Rank != n {
		t.Errorf("multiplier %g, rank %d", par, q.Rank)
	}
	Scale(h, -1)
	near(t, h, want)
	if par := NewDamped(q).Within(h, b, 1, 0); par <= 0 || math.Abs(Norm(h)-1) > 0.1 {
		t.Errorf("multiplier %g, length %g: want a length of 1 within a tenth", par, Norm(h))
	}
	copy(a[m:2*m], a[:m])
	copy(q.A, a)
	if q.Factor(); q.Rank != n-1 {
		t.Errorf("rank %d of two equal columns, want %d", q.Rank, n-1)
	}
}

// Both ways to the singular values agree.
func TestSVD(t *testing.T) {
	const m, n = 9, 5
	a, v, w := matrix(m, n), make([]float64, n*n), make([]float64, n*n)
	b := append([]float64{}, a...)
	s, r := make([]float64, n), make([]float64, n)
	jacobiSVD(a, m, n, s, v)
	if !bidiagonalSVD(b, m, n, r, w) {
		t.Fatal("no convergence")
	}
	near(t, []float64{Norm(s), MaxAbs(s)}, []float64{Norm(r), r[0]})
}

func near(t *testing.T, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if math.Abs(got[i]-v) > 1e-12*max(1, math.Abs(v)) {
			t.Errorf("element %d is %g, want %g", i, got[i], v)
		}
	}
}
