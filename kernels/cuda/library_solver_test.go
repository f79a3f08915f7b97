// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"math"
	"testing"
)

// multiply is the product of an m by k and a k by n matrix.
func multiply(a, b []float64, m, k, n int) []float64 {
	return product(MatMul{M: m, N: n, K: k, LDA: k, LDB: n, LDC: n, Alpha: 1, Batch: 1}, a, b, make([]float64, m*n))
}

func transposed(a []float64, m, n int) []float64 {
	out := make([]float64, m*n)
	for i := range m {
		for j := range n {
			out[j*m+i] = a[i*n+j]
		}
	}
	return out
}

// definite returns a symmetric positive definite matrix.
func definite(n int, seed uint64) []float64 {
	x := random(n*n, seed)
	a := multiply(x, transposed(x, n, n), n, n, n)
	for i := range n {
		a[i*n+i] += 0.5
	}
	return a
}

func status(t testing.TB, d *Device, info *Buffer, n int) []int32 {
	t.Helper()
	x := make([]int32, n)
	if err := d.CopyOut(background, x, info, 0); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestCholesky(t *testing.T) {
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkCholesky(t, d, seed)
		})
	}
}

// checkCholesky multiplies the factors of one and of many matrices.
func checkCholesky(t *testing.T, d *Device, seed int) {
	t.Helper()
	typ, n, count := Type(seed%2), 5, 3
	var all []float64
	for i := range count {
		all = append(all, definite(n, uint64(i))...)
	}
	l, s, info := d.Libraries(), d.Default(), alloc(t, d, nil, 4*count)
	one, many := upload(t, d, typ, all), upload(t, d, typ, all)
	list, err := l.Addresses(background, s, many.At(0), n*n*typ.Size(), count)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Cholesky(s, typ, n, one.At(0), info.At(0)), l.CholeskyBatch(s, typ, n, count, many.At(0), list, info.At(0))); err != nil {
		t.Fatal(err)
	}
	if got := status(t, d, info, count); got[0] != 0 || got[2] != 0 {
		t.Errorf("info is %v", got)
	}
	x, y := download(t, s, typ, one, n*n*count), download(t, s, typ, many, n*n*count)
	lower := func(a []float64) []float64 {
		low := make([]float64, n*n)
		for i := range n {
			copy(low[i*n:i*n+i+1], a[i*n:])
		}
		return low
	}
	agrees(t, "first", lower(x), lower(y), tolerance(typ))
	for q := range count {
		low := lower(y[q*n*n:])
		agrees(t, "LL'", multiply(low, transposed(low, n, n), n, n, n), all[q*n*n:(q+1)*n*n], 10*tolerance(typ))
	}
	bad := upload(t, d, typ, []float64{1, 2, 2, 1})
	if err := l.Cholesky(s, typ, 2, bad.At(0), info.At(4)); err != nil {
		t.Fatal(err)
	}
	if got := status(t, d, info, 2); got[1] != 2 {
		t.Errorf("info of a matrix that is not definite is %d, want 2", got[1])
	}
	free(one, many, list, info, bad)
}

func TestLU(t *testing.T) {
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkLU(t, d, seed)
		})
	}
}

// checkLU multiplies the factors and puts the solution into the equations.
func checkLU(t *testing.T, d *Device, seed int) {
	t.Helper()
	typ, n, k := Type(seed%2), 6, 2
	a, b := random(n*n, 1), random(n*k, 2)
	l, s := d.Libraries(), d.Default()
	lu, right, pivots, info := upload(t, d, typ, a), upload(t, d, typ, b), alloc(t, d, nil, 4*n), alloc(t, d, nil, 8)
	if err := errors.Join(l.LU(s, typ, n, lu.At(0), pivots.At(0), info.At(0)), l.LUSolve(s, typ, n, k, lu.At(0), pivots.At(0), right.At(0), info.At(4))); err != nil {
		t.Fatal(err)
	}
	if got := status(t, d, info, 2); got[0] != 0 || got[1] != 0 {
		t.Errorf("info is %v", got)
	}
	agrees(t, "AX", multiply(a, download(t, s, typ, right, n*k), n, n, k), b, 100*tolerance(typ))
	f := download(t, s, typ, lu, n*n)
	low, up, swapped := make([]float64, n*n), make([]float64, n*n), append([]float64{}, a...)
	for i, p := range status(t, d, pivots, n) {
		copy(up[i*n+i:(i+1)*n], f[i*n+i:])
		copy(low[i*n:i*n+i], f[i*n:])
		low[i*n+i] = 1
		for j := range n {
			swapped[i*n+j], swapped[int(p-1)*n+j] = swapped[int(p-1)*n+j], swapped[i*n+j]
		}
	}
	agrees(t, "LU", multiply(low, up, n, n, n), swapped, 10*tolerance(typ))
	free(lu, right, pivots, info)
}

func TestQR(t *testing.T) {
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkQR(t, d, seed)
		})
	}
}

// checkQR multiplies the factors and looks at their form.
func checkQR(t *testing.T, d *Device, seed int) {
	t.Helper()
	typ, m, n := Type(seed%2), 7, 4
	a := random(m*n, 3)
	q, r, info := upload(t, d, typ, a), alloc(t, d, nil, 8*n*n), alloc(t, d, nil, 4)
	if err := d.Libraries().QR(d.Default(), typ, m, n, q.At(0), q.At(0), r.At(0), info.At(0)); err != nil {
		t.Fatal(err)
	}
	x, y := download(t, d.Default(), typ, q, m*n), download(t, d.Default(), typ, r, n*n)
	agrees(t, "QR", multiply(x, y, m, n, n), a, 10*tolerance(typ))
	for i := range n {
		for j := range n {
			want := float64(b2i(i == j))
			agrees(t, "Q'Q", multiply(transposed(x, m, n), x, n, m, n)[i*n+j:i*n+j+1], []float64{want}, 10*tolerance(typ))
			if j < i && y[i*n+j] != 0 {
				t.Errorf("R(%d, %d) is %g", i, j, y[i*n+j])
			}
		}
	}
	free(q, r, info)
}

func TestEigh(t *testing.T) {
	for seed := range 4 {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkEigh(t, d, seed)
		})
	}
}

// checkEigh puts eigenvalues and vectors into their equations.
func checkEigh(t *testing.T, d *Device, seed int) {
	t.Helper()
	typ, n := Type(seed%2), 5
	a := definite(n, 4)
	lower := append([]float64{}, a...)
	for i := range n {
		for j := i + 1; j < n; j++ {
			lower[i*n+j] = math.NaN() // not read
		}
	}
	v, w, info := upload(t, d, typ, lower), alloc(t, d, nil, 8*n), alloc(t, d, nil, 4)
	if err := d.Libraries().Eigh(d.Default(), typ, n, v.At(0), w.At(0), info.At(0)); err != nil {
		t.Fatal(err)
	}
	x, values := download(t, d.Default(), typ, v, n*n), download(t, d.Default(), typ, w, n)
	scaled := append([]float64{}, x...)
	for i := range n {
		for j := range n {
			scaled[i*n+j] *= values[j]
		}
		if i > 0 && values[i] < values[i-1] {
			t.Errorf("eigenvalues are %v", values)
		}
	}
	agrees(t, "AV", multiply(a, x, n, n, n), scaled, 20*tolerance(typ))
	agrees(t, "VV'", multiply(x, transposed(x, n, n), n, n, n), multiply(transposed(x, n, n), x, n, n, n), 20*tolerance(typ))
	free(v, w, info)
}

var svdShapes = [][2]int{{6, 4}, {4, 6}, {5, 5}, {1, 3}}

func TestSVD(t *testing.T) {
	for seed, shape := range svdShapes {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkSVD(t, d, seed, shape)
		})
	}
}

// checkSVD multiplies the three factors.
func checkSVD(t *testing.T, d *Device, seed int, shape [2]int) {
	t.Helper()
	typ, m, n := Type(seed%2), shape[0], shape[1]
	k := min(m, n)
	a := random(m*n, 8)
	x, u, sv, vt, info := upload(t, d, typ, a), alloc(t, d, nil, 8*m*k), alloc(t, d, nil, 8*k), alloc(t, d, nil, 8*k*n), alloc(t, d, nil, 4)
	if err := d.Libraries().SVD(d.Default(), typ, m, n, x.At(0), u.At(0), sv.At(0), vt.At(0), info.At(0)); err != nil {
		t.Fatal(err)
	}
	left, values := download(t, d.Default(), typ, u, m*k), download(t, d.Default(), typ, sv, k)
	agrees(t, "A", download(t, d.Default(), typ, x, m*n), a, tolerance(typ))
	for i := range m {
		for j := range k {
			left[i*k+j] *= values[j]
		}
	}
	agrees(t, "USV'", multiply(left, download(t, d.Default(), typ, vt, k*n), m, k, n), a, 20*tolerance(typ))
	for i := 1; i < k; i++ {
		if values[i] > values[i-1] {
			t.Errorf("singular values are %v", values)
		}
	}
	free(x, u, sv, vt, info)
}
