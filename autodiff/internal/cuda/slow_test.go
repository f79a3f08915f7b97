//go:build slow

package cuda_test

import (
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/pretend"
)

func TestFourierManyLengths(t *testing.T) {
	pretend.Shared(t)
	fourierParity(t, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 31, 32, 33, 97, 210, 255, 256, 257, 1000, 1024, 3072)
	fourierParity(t, 1537, 3073, 4096, 6144, 10007, 65536) // longer than shared memory, in one precision or both
}

func TestFourierManyLongLines(t *testing.T) {
	pretend.Shared(t)
	defer cuda.SetFourierRoom(256)()
	fourierParity(t, 16, 17, 32, 33, 60, 64, 97, 240, 1260)
}

func TestDenseManySizes(t *testing.T) {
	pretend.Shared(t)
	denseParity(t, 1, 2, 7, 32, 64, 70, 130)
}

func TestSortManyLengths(t *testing.T) {
	pretend.Shared(t)
	sortParity(t, 1, 2, 3, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4096, 10_001, 65_537)
}

func TestScanManyShapes(t *testing.T) {
	pretend.Shared(t)
	scanParity(t, []int{512}, []int{3, 700}, []int{2, 2049, 3}, []int{1, 8192}, []int{100_001})
}
