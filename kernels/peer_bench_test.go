// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"runtime"
	"testing"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/kernels"
)

// wave is an array that peers can make too.
func wave[T float32 | float64](n int, step float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(math.Cos(step * float64(i)))
	}
	return x
}

// factors are the sizes of batches of products op(A) B, where op(A) is m by k and B is k by n.
type factors struct {
	what           string
	batch, m, n, k int
	transA         bool
}

// BenchmarkPeerProduct multiplies matrices: square ones, a large one with a narrow one, one that is transposed, and many small ones.
func BenchmarkPeerProduct(b *testing.B) {
	list := []factors{}
	for _, n := range []int{256, 512, 1024, 2048} {
		list = append(list, factors{what: fmt.Sprintf("matrix product of %d", n), batch: 1, m: n, n: n, k: n})
	}
	list = append(list,
		factors{what: "product of 2048 x 2048 and 2048 x 64", batch: 1, m: 2048, n: 64, k: 2048},
		factors{what: "product of a transposed matrix, 1024", batch: 1, m: 1024, n: 1024, k: 1024, transA: true},
		factors{what: "128 products of 64", batch: 128, m: 64, n: 64, k: 64})
	for _, f := range list {
		b.Run("float64/"+f.what, func(b *testing.B) { raceProduct(b, f, "float64", kernels.GemmPart64) })
		b.Run("float32/"+f.what, func(b *testing.B) { raceProduct(b, f, "float32", kernels.GemmPart32) })
	}
}

type gemmPart[T float32 | float64] func(l kernels.Level, ws *kernels.Workspace, transA, transB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int, i0, i1, j0, j1 int)

func raceProduct[T float32 | float64](b *testing.B, f factors, kind string, multiply gemmPart[T]) {
	x, y, z := wave[T](f.batch*f.m*f.k, 0.7), wave[T](f.batch*f.k*f.n, 0.3), make([]T, f.batch*f.m*f.n)
	lda := f.k
	if f.transA {
		lda = f.m
	}
	var rooms [2]kernels.Workspace
	part := func(worker, at, i0, i1, j0, j1 int) {
		multiply(kernels.Best(), &rooms[worker], f.transA, false, f.m, f.n, f.k, 1, x[at*f.m*f.k:], lda, y[at*f.k*f.n:], f.n, 0, z[at*f.m*f.n:], f.n, i0, i1, j0, j1)
	}
	peer.Race{
		Name: fmt.Sprintf("%s, %s", f.what, kind),
		Ours: func() (peer.Done, error) {
			threads := runtime.GOMAXPROCS(0)
			switch {
			case f.batch > 1:
				parallel.Do(threads, f.batch, func(worker, i int) { part(worker, i, 0, f.m, 0, f.n) })
			case f.n < f.m:
				parallel.Do(threads, threads, func(worker, i int) { part(worker, 0, i*f.m/threads, (i+1)*f.m/threads, 0, f.n) })
			default:
				parallel.Do(threads, threads, func(worker, i int) { part(worker, 0, 0, f.m, i*f.n/threads, (i+1)*f.n/threads) })
			}
			sum := 0.0
			for i := 0; i < f.m; i += f.m / 4 {
				for j := 0; j < f.n; j += f.n / 4 {
					sum += math.Abs(float64(z[i*f.n+j]))
				}
			}
			return peer.Done{Check: sum}, nil
		},
		Peers: []peer.Rival{{Name: "NumPy", Script: "kernels.py", Args: []string{"product", fmt.Sprint(f.batch), fmt.Sprint(f.m), fmt.Sprint(f.n), fmt.Sprint(f.k), fmt.Sprint(f.transA), kind}}},
		Flops: 2 * float64(f.batch) * float64(f.m) * float64(f.n) * float64(f.k), Single: kind == "float32",
		Tol: 1e-3,
	}.Run(b)
}

// BenchmarkPeerFFT transforms real images.
func BenchmarkPeerFFT(b *testing.B) {
	for _, n := range []int{256, 1024, 509} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, y := wave[float32](n*n, 0.7), make([]complex64, n*(n/2+1))
			plan, room := kernels.NewFFT(n, n), kernels.FFTWorkspace{}
			peer.Race{
				Name: fmt.Sprintf("Fourier transform of %d x %d real, float32", n, n),
				Ours: func() (peer.Done, error) {
					room.Threads = runtime.GOMAXPROCS(0)
					plan.Real32(y, x, &room)
					sum := 0.0
					for _, v := range y[n/2+1:][:64] {
						sum += cmplx.Abs(complex128(v))
					}
					return peer.Done{Check: sum}, nil
				},
				Peers:  []peer.Rival{{Name: "SciPy", Script: "kernels.py", Args: []string{"fft", fmt.Sprint(n), fmt.Sprint(n)}}},
				Bytes:  float64(8 * n * n),
				Flops:  5 * float64(n*n) * math.Log2(float64(n)), // half of the operations of a complex transform
				Single: true,
				Tol:    1e-2,
			}.Run(b)
		})
	}
}
