// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// What is drawn given the rest has the means and covariances of the conditional distribution.
func TestDrawnGivenTheRest(t *testing.T) {
	const n, draws = 4, 20000
	diagonal, beside := []float64{2, 3, 2.5, 1.5}, []float64{-0.8, 0.9, -0.4}
	mean := []float64{1, -2, 3, 0}
	src := tensor.NewStream(1, 2, 3)
	var precision [n][n]float64 // estimated: the inverse of the covariance times the precision is 1
	cov := [n][n]float64{}
	x := make([]float64, n)
	for range draws {
		Draw(x, mean, band{}, [][]float64{diagonal, beside}, &src)
		for i := range n {
			for j := range n {
				cov[i][j] += (x[i] - mean[i]) * (x[j] - mean[j]) / draws
			}
		}
	}
	for i := range n {
		precision[i][i] = diagonal[i]
		if i > 0 {
			precision[i][i-1], precision[i-1][i] = beside[i-1], beside[i-1]
		}
	}
	for i := range n {
		for j := range n {
			product := 0.0
			for k := range n {
				product += precision[i][k] * cov[k][j]
			}
			if want := map[bool]float64{true: 1}[i == j]; math.Abs(product-want) > 0.04 {
				t.Errorf("element %d, %d of precision times covariance is %.3f, want %g", i, j, product, want)
			}
		}
	}
}

// Solutions, determinants and inverses of bands, and all gradients, against dense matrices.
func TestBands(t *testing.T) {
	const n = 5
	d, e, b := ad.Input("d", n), ad.Input("e", n-1), ad.Input("b", n)
	rows := make([]*ad.Node, n)
	for i := range n {
		var row []*ad.Node
		for j := range n {
			switch j - i {
			case 0:
				row = append(row, ad.Index(d, 0, i))
			case 1:
				row = append(row, ad.Index(e, 0, i))
			case -1:
				row = append(row, ad.Index(e, 0, j))
			default:
				row = append(row, ad.Scalar(0))
			}
		}
		rows[i] = ad.Stack(0, row...)
	}
	factor := ad.Cholesky(ad.Stack(0, rows...))
	weights := ad.Const([]float64{1, -2, 0.5, 3, 1})
	value := func(solved, logDet *ad.Node) *ad.Node {
		return ad.Add(ad.Sum(ad.Mul(weights, ad.Square(solved))), ad.Scale(1.5, logDet))
	}
	got, want := value(solveBand(d, e, b), logDetBand(d, e)), value(ad.CholeskySolve(factor, b), ad.CholeskyLogDet(factor))
	outputs := append([]*ad.Node{got, want}, append(ad.Grad(got, d, e, b), ad.Grad(want, d, e, b)...)...)
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: []*ad.Node{d, e, b}})
	if err != nil {
		t.Fatal(err)
	}
	s := prog.NewState()
	copy(s.Input(0), []float64{2, 3, 2.5, 1.5, 2})
	copy(s.Input(1), []float64{-0.8, 0.9, -0.4, 0.6})
	copy(s.Input(2), []float64{1, 2, -1, 0.5, 3})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for k, pair := range [][2]int{{0, 1}, {2, 5}, {3, 6}, {4, 7}} {
		for i, v := range s.Output(pair[0]) {
			if w := s.Output(pair[1])[i]; math.Abs(v-w) > 1e-12*(1+math.Abs(w)) {
				t.Errorf("output %d has %.15g at %d, want %.15g", k, v, i, w)
			}
		}
	}
	alone, err := ad.Eval(solveBand(ad.Const([]float64{2, -1, 1}), ad.Const([]float64{0.5, 0.5}), ad.Const([]float64{1, 1, 1})), logDetBand(ad.Const([]float64{2, -1, 1}), ad.Const([]float64{0.5, 0.5})))
	if err != nil || !math.IsNaN(alone[0].Float64s()[1]) || !math.IsNaN(alone[1].Float64s()[0]) {
		t.Errorf("a matrix that is not positive definite gives %v: %v", alone, err)
	}
}
