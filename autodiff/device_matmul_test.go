package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Products of every shape that has kernels of its own: vectors on either side, long sums that are
// cut, small, middle and large parts, and edges of each.
func TestProductsOnDevice(t *testing.T) { productsOnDevice(t, 32) }

func productsOnDevice(t *testing.T, precisions ...int) {
	pretend.Shared(t)
	shapes := []struct{ batch, m, depth, n int }{
		{1, 1, 5, 7}, {2, 1, 300, 40}, {1, 1, 9000, 3}, {3, 7, 33, 1}, {1, 2, 9000, 1}, {1, 1, 1, 1},
		{5, 3, 4, 2}, {2, 32, 32, 32}, {1, 33, 17, 40}, {1, 70, 9, 65}, {1, 10, 2000, 12}, {1, 40, 1031, 50}, {64, 65, 9, 66}, {1, 4, 0, 3},
	}
	for _, bits := range precisions {
		rng := rand.New(rand.NewPCG(3, 3))
		var in, outs []*ad.Node
		var values [][]float64
		var names []string
		for _, c := range shapes {
			for turned := range 4 {
				if turned > 0 && c.batch == 64 && turned != 3 {
					continue
				}
				a, b := []int{c.batch, c.m, c.depth}, []int{c.batch, c.depth, c.n}
				if turned&1 != 0 {
					a[1], a[2] = a[2], a[1]
				}
				if turned&2 != 0 {
					b[1], b[2] = b[2], b[1]
				}
				x, y := ad.Input(fmt.Sprint("a", len(in)), a...), ad.Input(fmt.Sprint("b", len(in)), b...)
				for _, v := range []*ad.Node{x, y} {
					in, values = append(in, v), append(values, make([]float64, v.Size()))
					for i := range values[len(values)-1] {
						values[len(values)-1][i] = rng.NormFloat64()
					}
				}
				if turned&1 != 0 {
					x = ad.Permute(x, 0, 2, 1)
				}
				if turned&2 != 0 {
					y = ad.Permute(y, 0, 2, 1)
				}
				outs = append(outs, ad.MatMul(x, y))
				names = append(names, fmt.Sprintf("%v, turned %d", c, turned))
			}
		}
		agree(t, outs, in, values, bits, map[int]float64{64: 1e-11, 32: 2e-4}[bits], func(i int) string { return names[i] })
	}
}
