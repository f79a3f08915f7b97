// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// random returns normal numbers.
func random(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// same compares outputs on the device with those of the processor in float64, relative to the largest finite
// number of an output; nothing may run on the processor.
func same(t *testing.T, outs, in []*ad.Node, values [][]float64, tol map[int]float64) {
	t.Helper()
	sameOn(t, ad.CUDA{Strict: true}, outs, in, values, tol)
}

func sameOn(t *testing.T, on ad.CUDA, outs, in []*ad.Node, values [][]float64, tol map[int]float64) {
	t.Helper()
	want := outputs(t, outs, in, values, ad.Settings{})
	for bits, tol := range tol {
		for i, got := range outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: on}) {
			top := 0.0
			for _, v := range want[i] {
				if v-v == 0 {
					top = max(top, math.Abs(v))
				}
			}
			for k, v := range got {
				if w := want[i][k]; !(math.Abs(v-w) <= tol*top) && !(v != v && w != w) && v != w {
					t.Errorf("%d bits, output %d %v, element %d: device %g, processor %g", bits, i, outs[i], k, v, w)
					break
				}
			}
		}
	}
}

// Matrices of one row to more than shared memory holds, batches of the first argument and of the second.
func denseParity(t *testing.T, on ad.CUDA, sizes ...int) {
	t.Helper()
	for _, n := range sizes {
		a, b, w := ad.Input("a", 2, n, n), ad.Input("b", 3, 1, n, 2), ad.Input("w", n+3, n)
		av := random(2*n*n, 1)
		for i := range n {
			av[i*n+(i+1)%n] += 3 * math.Sqrt(float64(n)) // the largest of a column is not on the diagonal
			av[n*n+i*n+i] += 3 * math.Sqrt(float64(n))
		}
		spd := ad.Add(ad.MatMul(a, ad.T(a)), ad.Eye(n))
		x := ad.Solve(a, b)
		l := ad.Cholesky(spd)
		q, r := ad.QR(w)
		eigen, vectors := ad.EigenSymmetric(spd)
		u, s, v := ad.SVD(w)
		_, sw, vw := ad.SVD(ad.T(w))
		sign, log := ad.SignLogDet(a)
		det := ad.Det(ad.Scale(1/(3*math.Sqrt(float64(n))), a))
		outs := []*ad.Node{x, ad.Grad(ad.Sum(ad.Square(x)), a)[0], ad.Inverse(a), sign, log, det, ad.Grad(log, a)[0], ad.Grad(ad.Sum(ad.Square(l)), a)[0],
			q, r, eigen, ad.MatMul(ad.Mul(vectors, ad.Reshape(ad.Reciprocal(ad.Shift(eigen, 1)), 2, 1, n)), ad.T(vectors)), s, ad.MatMul(ad.Mul(u, ad.Tanh(s)), ad.T(v)), sw, ad.Abs(ad.MatMul(ad.T(vw), q))}
		outs[6] = ad.Grad(ad.Sum(log), a)[0]
		sameOn(t, on, outs, []*ad.Node{a, b, w}, [][]float64{av, random(6*n, 2), random((n+3)*n, 4)}, map[int]float64{64: 1e-11, 32: 1e-3})
	}
}

// Matrices of lower rank have whole orthogonal factors; a zero matrix is one.
func TestLowRankSVD(t *testing.T) {
	pretend.Shared(t)
	const m, n = 7, 5
	a := ad.Input("a", 3, m, n)
	u, s, v := ad.SVD(a)
	values := make([]float64, 3*m*n)
	x, y := random(m, 5), random(n, 6)
	for i := range m {
		for j := range n {
			values[i*n+j] = x[i] * y[j]
			values[m*n+i*n+j] = x[i]*y[j] + math.Sin(float64(i))*float64(j)
		}
	}
	got := outputs(t, []*ad.Node{ad.Sub(ad.MatMul(ad.T(u), u), ad.Eye(n)), ad.Sub(ad.MatMul(ad.T(v), v), ad.Eye(n)), ad.Sub(ad.MatMul(ad.Mul(u, ad.Reshape(s, 3, 1, n)), ad.T(v)), a)},
		[]*ad.Node{a}, [][]float64{values}, ad.Settings{Backend: ad.CUDA{Strict: true}})
	for i, g := range got {
		for k, d := range g {
			if !(math.Abs(d) <= 1e-13) {
				t.Fatalf("identity %d is off by %g in element %d", i, d, k)
			}
		}
	}
}

// What has no result is told by the errors of the processor, with their numbers; lanes that fail alone are NaN.
func TestDenseFaults(t *testing.T) {
	pretend.Shared(t)
	denseFaults(t, ad.CUDA{Strict: true})
}

func denseFaults(t *testing.T, on ad.CUDA) {
	t.Helper()
	a := ad.Input("a", 2, 2, 2)
	b := ad.Const([]float64{1, 1}, 2, 1)
	singular := []float64{1, 0, 0, 1, 1, 2, 2, 4}
	for _, y := range []*ad.Node{ad.Solve(a, b), ad.Inverse(a)} {
		err := run(t, y, a, singular, ad.Settings{Backend: on})
		var bad *ad.SingularError
		if !errors.As(err, &bad) || bad.Matrix != 1 || bad.Size != 2 {
			t.Errorf("%v: %v, want matrix 1 of 2 rows", y, err)
		}
	}
	w, _ := ad.EigenSymmetric(a)
	for _, y := range []*ad.Node{w, ad.SingularValues(a)} {
		if err := run(t, y, a, []float64{1, 0, 0, 1, 1, math.NaN(), 2, 4}, ad.Settings{Backend: on}); !errors.Is(err, ad.ErrNoConvergence) {
			t.Errorf("%v: %v, want ErrNoConvergence", y, err)
		}
	}
	sign, log := ad.SignLogDet(a)
	got := outputs(t, []*ad.Node{sign, log, ad.Det(a)}, []*ad.Node{a}, [][]float64{singular}, ad.Settings{Backend: on})
	if want := [][]float64{{1, 0}, {0, math.Inf(-1)}, {1, 0}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("determinants %v, want %v", got, want)
	}
	for i, v := range outputs(t, []*ad.Node{ad.Solve(a, b), ad.Inverse(a)}, []*ad.Node{a}, [][]float64{singular}, ad.Settings{Isolate: true, Backend: on}) {
		if half := len(v) / 2; v[0] != 1 || !math.IsNaN(v[half]) || !math.IsNaN(v[len(v)-1]) {
			t.Errorf("output %d of lanes that fail alone: %v", i, v)
		}
	}
}

// run returns the error of one run on the device.
func run(t *testing.T, y, x *ad.Node, at []float64, s ad.Settings) error {
	t.Helper()
	s.Inputs = []*ad.Node{x}
	p, err := ad.Compile([]*ad.Node{y}, s)
	if err != nil {
		t.Fatal(err)
	}
	state := p.NewState()
	if err := state.SetInput(0, at); err != nil {
		t.Fatal(err)
	}
	return state.Run()
}

// Orders have one result, that of the processor: with equals, NaN and infinities, along any axis, of lines
// shorter and longer than shared memory.
func sortParity(t *testing.T, precisions []int, lengths ...int) {
	var in, outs []*ad.Node
	var values [][]float64
	var names []string
	for _, n := range lengths {
		x := ad.Input("x", 2, n, 2)
		v := make([]float64, 4*n)
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		for i := range v {
			v[i] = float64(rng.IntN(n/2 + 2))
			if i%17 == 3 {
				v[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[i/17%5]
			}
		}
		in, values = append(in, x), append(values, v)
		for _, descending := range []bool{false, true} {
			top, idx := ad.TopK(x, n/3, 1, descending)
			outs = append(outs, ad.Argsort(x, 1, descending), ad.Sort(x, 1, descending), top, idx, ad.Argsort(ad.Reshape(x, 4*n), 0, descending))
			for len(names) < len(outs) {
				names = append(names, fmt.Sprintf("length %d, descending %v", n, descending))
			}
		}
	}
	want := outputs(t, outs, in, values, ad.Settings{})
	for _, bits := range precisions {
		for i, got := range outputs(t, outs, in, values, ad.Settings{Precision: bits, Backend: ad.CUDA{Strict: true}}) {
			if !slices.EqualFunc(got, want[i], func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("%d bits, %s, output %d differs", bits, names[i], i)
			}
		}
	}
}

func TestSortParity(t *testing.T) {
	pretend.Shared(t)
	sortParity(t, []int{64}, 1, 2, 33, 600, 2500)
}
