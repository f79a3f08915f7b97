// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Whole slices have the numbers of the functions of single numbers, extreme ones among them, also in the memory of an
// input.
func TestSlicesOfLog1pSquare(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), 1e-300, 3e-9, -1e9, 1e200, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, size := range []int{0, 1, 511, 512, 1300} {
		for at := range len(odd) + 1 { // one odd number in each run, or none
			x, nu := make([]float64, size), make([]float64, size)
			for i := range x {
				x[i], nu[i] = 8*math.Sin(float64(7*i+1)), 0.1+float64(i%9)
			}
			if at < len(odd) && size > 0 {
				x[size/2] = odd[at]
			}
			for name, f := range map[string]struct {
				slices func(y []float64)
				one    func(i int) float64
			}{
				"log1p_square":       {func(y []float64) { log1pSquares(y, y) }, func(i int) float64 { return special.Log1psq(x[i]) }},
				"log1p_square_slope": {func(y []float64) { log1pSquareSlopes(y, y) }, func(i int) float64 { return special.Log1psqSlope(x[i]) }},
				"square_fall":        {func(y []float64) { squareFalls(y, nu, y) }, func(i int) float64 { return special.SquareFall(nu[i], x[i]) }},
			} {
				y := append([]float64(nil), x...)
				f.slices(y)
				for i, v := range y {
					want := f.one(i)
					if v != want && !(math.Abs(v-want) <= 1e-15*math.Abs(want)) && !(v != v && want != want) {
						t.Fatalf("%s of %d numbers: element %d, of %g, is %g, want %g", name, size, i, x[i], v, want)
					}
				}
			}
		}
	}
}

// A constant number of degrees of freedom has the power of Student's distribution that an input has, and its slope.
func TestSquareFallOfConstant(t *testing.T) {
	z, nu := Input("z", 5), Input("nu")
	for _, v := range []float64{1e-9, 1e-8, 0.5, 4, 1e8, 1e9} {
		var outs []*Node
		for _, of := range []*Node{Scalar(v), nu} {
			y := SquareFall(of, z)
			outs = append(outs, y, Grad(Sum(y), z)[0])
		}
		p, err := Compile(outs, Settings{Inputs: []*Node{z, nu}})
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewState()
		copy(s.Input(0), []float64{0, -1e-9, 0.3, -20, 1e12})
		s.Input(1)[0] = v
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for k := range 2 {
			for i, got := range s.Output(k) {
				if want := s.Output(k + 2)[i]; math.Abs(got-want) > 4e-15*math.Abs(want) {
					t.Errorf("nu = %g: output %d, element %d is %g, want %g", v, k, i, got, want)
				}
			}
		}
	}
}
