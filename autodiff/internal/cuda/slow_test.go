//go:build slow

package cuda_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// both are the precisions.
var both = []int{64, 32}

func TestFourierManyLengths(t *testing.T) {
	pretend.Shared(t)
	fourierParity(t, both, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 31, 32, 33, 97, 210, 255, 256, 257, 1000, 1024, 3072)
	fourierParity(t, both, 1537, 3073, 4096, 6144, 10007, 65536) // longer than shared memory, in one precision or both
}

func TestFourierManyLongLines(t *testing.T) {
	pretend.Shared(t)
	defer cuda.SetFourierRoom(256)()
	fourierParity(t, both, 16, 17, 32, 33, 60, 64, 97, 240, 1260)
}

func TestDenseManySizes(t *testing.T) {
	pretend.Shared(t)
	denseParity(t, 1, 2, 7, 32, 64, 70)
}

func TestSortManyLengths(t *testing.T) {
	pretend.Shared(t)
	sortParity(t, both, 1, 2, 3, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4096, 10_001, 65_537)
}

func TestScanManyShapes(t *testing.T) {
	pretend.Shared(t)
	scanParity(t, map[int]float64{64: 1e-12, 32: 2e-4}, []int{512}, []int{3, 700}, []int{2, 2049, 3}, []int{1, 8192}, []int{100_001})
}

// Matrices of one row to more than shared memory holds, batches of the first argument and of the second.
func denseParity(t *testing.T, sizes ...int) {
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
		same(t, outs, []*ad.Node{a, b, w}, [][]float64{av, random(6*n, 2), random((n+3)*n, 4)}, map[int]float64{64: 1e-11, 32: 1e-3})
	}
}

// Matrices with more rows than a block has threads.
func TestDenseBeyondABlock(t *testing.T) {
	pretend.Shared(t)
	const n = 270
	a, b := ad.Input("a", n, n), ad.Input("b", n, 2)
	values := random(n*n, 8)
	for i := range n {
		values[i*n+(i+1)%n] += 30
	}
	sign, log := ad.SignLogDet(a)
	_, r := ad.QR(a)
	same(t, []*ad.Node{ad.Solve(a, b), ad.Grad(log, a)[0], sign, log, r}, []*ad.Node{a, b}, [][]float64{values, random(2*n, 9)}, map[int]float64{64: 1e-10})
}
