// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// library lets the pretend libraries factor and solve matrices of any size, on a device that looks for libraries
// now.
func library(t *testing.T) (*pretend.Library, ad.CUDA) {
	t.Helper()
	lib := pretend.Shared(t)
	lib.Libraries(t)
	t.Cleanup(cuda.SetSolverRows(0))
	return lib, ad.CUDA{Device: 1, Strict: true}
}

// calls are those by which the libraries do what steps of matrices ask for.
var calls = []string{"cusolverDnDpotrf", "cusolverDnDgetrf", "cusolverDnDgetrs", "cusolverDnDgeqrf", "cusolverDnDsyevd", "cusolverDnDgesvdj", "cublasDtrsm_v2"}

// Factors, systems, determinants, eigenvalues and singular values by libraries are those of the processor, in
// both precisions, in batches and with their derivatives.
func TestDenseByLibrary(t *testing.T) {
	lib, on := library(t)
	before := map[string]int{}
	for _, c := range calls {
		before[c] = lib.Get(c)
	}
	denseParity(t, on, 1, 2, 9)
	for _, c := range calls {
		if lib.Get(c) == before[c] {
			t.Errorf("%s was not called", c)
		}
	}
}

// Triangular systems read one triangle, whatever stands in the other, and share matrices of a batch.
func TestTriangularByLibrary(t *testing.T) {
	_, on := library(t)
	const n, k = 6, 3
	a, b, c := ad.Input("a", 2, 1, n, n), ad.Input("b", 4, n, k), ad.Input("c", 2, n)
	av := random(2*n*n, 6)
	for i := range n {
		av[i*n+i] += 4
		av[n*n+i*n+i] += 4
	}
	var outs []*ad.Node
	for _, lower := range []bool{false, true} {
		for _, transposed := range []bool{false, true} {
			x := ad.SolveTriangular(a, b, lower, transposed)
			outs = append(outs, x, ad.SolveTriangular(ad.Slice(a, 0, 1, 2), ad.Slice(b, 0, 1, 3), lower, transposed), ad.Grad(ad.Sum(ad.Sin(x)), a)[0])
		}
	}
	outs = append(outs, ad.SolveTriangular(ad.Reshape(ad.Slice(a, 0, 0, 1), n, n), ad.Reshape(ad.Slice(c, 0, 0, 1), n), true, false))
	sameOn(t, on, outs, []*ad.Node{a, b, c}, [][]float64{av, random(4*n*k, 7), random(2*n, 8)}, map[int]float64{64: 1e-12, 32: 1e-4})
}

// realCompiler opens NVIDIA's compiler, before the pretend one takes its place.
func realCompiler(t *testing.T) *rtc.Compiler {
	t.Helper()
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Settings{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (make nvrtc, or EURYALE_LIBNVRTC)")
	}
	return c
}

// taken lets NVIDIA's compiler make machine code of the kernels of a program, without warnings.
func taken(t *testing.T, c *rtc.Compiler, target rtc.Target, outs []*ad.Node, s ad.Settings) {
	t.Helper()
	p, err := ad.Compile(outs, s)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
	image, err := c.Compile(rtc.Source{Name: "program.cu", Text: text}, target)
	if err != nil {
		t.Fatal(err)
	}
	if image.Log != "" || image.PTX {
		t.Errorf("%d bits, %v: %s", s.Precision, target, image.Log)
	}
}

// NVIDIA's compiler takes the kernels around the libraries' calls without warnings, in both precisions.
func TestRealCompilerTakesLibrariesKernels(t *testing.T) {
	c := realCompiler(t)
	_, on := library(t)
	a, b := ad.Input("a", 2, 5, 5), ad.Input("b", 5, 2)
	l := ad.Cholesky(a)
	w, v := ad.EigenSymmetric(a)
	q, r := ad.QR(a)
	u, s, _ := ad.SVD(a)
	sign, size := ad.SignLogDet(a)
	outs := []*ad.Node{ad.Solve(a, b), ad.Inverse(a), ad.Det(a), sign, size, ad.SolveTriangular(a, b, true, false), w, v, q, r, u, s, ad.Grad(ad.Sum(ad.Square(l)), a)[0]}
	for _, bits := range []int{32, 64} {
		taken(t, c, rtc.Target{Major: 9}, outs, ad.Settings{Precision: bits, Backend: on})
	}
}

// What has no result by libraries is told as without them.
func TestDenseFaultsByLibrary(t *testing.T) {
	_, on := library(t)
	denseFaults(t, on)
	a := ad.Input("a", 3, 2, 2)
	inf := math.Inf(1)
	values := []float64{4, 9, 1, 3, 1, 2, 2, 1, inf, 0, 0, 1}
	got := outputs(t, []*ad.Node{ad.CholeskyOrNaN(a)}, []*ad.Node{a}, [][]float64{values}, ad.Settings{Backend: on})[0]
	if got[0] != 2 || got[1] != 0 || got[2] != 0.5 || math.Abs(got[3]-math.Sqrt(2.75)) > 1e-15 {
		t.Errorf("factor of the first is %v", got[:4])
	}
	for i, v := range got[4:] {
		if !math.IsNaN(v) {
			t.Errorf("element %d of the others is %g, want NaN", i, v)
		}
	}
	var bad *ad.NotPositiveDefiniteError
	if err := run(t, ad.Cholesky(a), a, values, ad.Settings{Backend: on}); !errors.As(err, &bad) || bad.Matrix != 1 || bad.Pivot != 1 || bad.Size != 2 {
		t.Errorf("%v, want pivot 1 of matrix 1 of 2 rows", err)
	}
}
