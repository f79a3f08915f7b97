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

// BenchmarkPeerProduct multiplies square matrices.
func BenchmarkPeerProduct(b *testing.B) {
	for _, n := range []int{256, 1024} {
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) {
			raceProduct(b, n, "float64", kernels.GemmPart64)
		})
		b.Run(fmt.Sprintf("float32/%d", n), func(b *testing.B) {
			raceProduct(b, n, "float32", kernels.GemmPart32)
		})
	}
}

type gemmPart[T float32 | float64] func(l kernels.Level, ws *kernels.Workspace, transA, transB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int, i0, i1, j0, j1 int)

func raceProduct[T float32 | float64](b *testing.B, n int, kind string, multiply gemmPart[T]) {
	x, y, z := wave[T](n*n, 0.7), wave[T](n*n, 0.3), make([]T, n*n)
	var rooms [2]kernels.Workspace
	peer.Race{
		Name: fmt.Sprintf("matrix product of %d, %s", n, kind),
		Ours: func() (peer.Done, error) {
			threads := runtime.GOMAXPROCS(0)
			parallel.Do(threads, threads, func(worker, i int) {
				multiply(kernels.Best(), &rooms[worker], false, false, n, n, n, 1, x, n, y, n, 0, z, n, i*n/threads, (i+1)*n/threads, 0, n)
			})
			sum := 0.0
			for i := 0; i < n; i += n / 4 {
				for j := 0; j < n; j += n / 4 {
					sum += math.Abs(float64(z[i*n+j]))
				}
			}
			return peer.Done{Check: sum}, nil
		},
		Peers: []peer.Rival{{Name: "NumPy", Script: "kernels.py", Args: []string{"product", fmt.Sprint(n), kind}}},
		Tol:   1e-3,
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
