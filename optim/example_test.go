// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

func ExampleLeastSquares() {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{3.1, 2.0, 1.4, 1.1, 0.9}
	a, r, b := ad.Input("a"), ad.Input("r"), ad.Input("b")
	model := ad.Add(b, ad.Mul(a, ad.Exp(ad.Neg(ad.Mul(r, ad.Const(x))))))
	p, err := optim.FromModel(model, []*ad.Node{a, r, b}, optim.Observed{Y: y})
	if err != nil {
		panic(err)
	}
	p.Start = []float64{2, 1, 1}
	fit, err := optim.LeastSquares(context.Background(), p, optim.Settings{RelativeSigma: true})
	if err != nil {
		panic(err)
	}
	for i, name := range fit.Names {
		fmt.Printf("%s %.2f +- %.2f\n", name, fit.X[i], fit.SD()[i])
	}
	fmt.Println(fit.Status)
	// Output:
	// a 2.40 +- 0.03
	// r 0.61 +- 0.02
	// b 0.70 +- 0.03
	// converged
}

func ExampleBatch() {
	x := []float64{0, 1, 2, 3}
	rate, y := ad.Input("rate"), ad.Input("y", len(x))
	b, err := optim.NewBatch(ad.Sub(ad.Exp(ad.Neg(ad.Mul(rate, ad.Const(x)))), y), []*ad.Node{rate}, y)
	if err != nil {
		panic(err)
	}
	data := []float64{
		1, 0.5, 0.25, 0.125,
		1, 0.9, 0.81, 0.729,
	}
	fits, err := b.Fit(context.Background(), optim.Rows{Columns: [][]float64{data}, Start: []float64{0.3}}, optim.BatchSettings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f %.4f\n", fits.Row(0), fits.Row(1))
	fmt.Println(fits)
	// Output:
	// [0.6931] [0.1054]
	// 2 rows: 2 converged
}

func ExampleMinimize() {
	x := ad.Input("x", 2)
	a, b := ad.Index(x, 0, 0), ad.Index(x, 0, 1)
	f, err := optim.FunctionFromGraph(ad.Add(ad.Square(ad.Sub(ad.Scalar(1), a)), ad.Scale(100, ad.Square(ad.Sub(b, ad.Square(a))))), []*ad.Node{x})
	if err != nil {
		panic(err)
	}
	f.Start = []float64{-1.2, 1}
	f.Upper = []float64{0.5, 2}
	f.Lower = []float64{-2, -2}
	m, err := optim.Minimize(context.Background(), f, optim.MinimizeSettings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f at %.4f, %s\n", m.Value, m.X, m.Status)
	// Output: 0.2500 at [0.5000 0.2500], converged
}

// A line through points whose abscissae have errors as well.
func ExampleFromErrorsInX() {
	x := []float64{0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4}
	y := []float64{5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5}
	a, b, at := ad.Input("a"), ad.Input("b"), ad.Input("x", len(x))
	o, err := optim.FromErrorsInX(optim.ErrorsInX{
		Responses: []optim.Response{{Model: ad.Add(a, ad.Mul(b, at)), Y: y, Sigma: []float64{0.3}}},
		Params:    []*ad.Node{a, b},
		Variables: []optim.Variable{{Node: at, Values: x, Sigma: []float64{0.2}}},
	})
	if err != nil {
		panic(err)
	}
	o.Start = []float64{6, -0.5}
	r, err := optim.LeastSquares(context.Background(), o.Problem, optim.Settings{})
	if err != nil {
		panic(err)
	}
	moved, err := o.True(r)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f %.3f, the first point lies at %.2f\n", r.X[0], r.X[1], moved[0][0])
	// Output:
	// 5.773 -0.543, the first point lies at -0.03
}
