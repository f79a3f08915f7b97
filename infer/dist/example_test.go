// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// show prints numbers of a Node that depends on constants alone.
func show(n *ad.Node) {
	d, err := ad.Eval(n)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", d[0].Data())
}

func Example() {
	prior := dist.LogNormal(0, 2)
	x := ad.Const([]float64{0.5, 1, -1})
	show(prior.LogProb(x))
	fmt.Println(prior.Quantile(0.5, []float64{0, 2}))
	fmt.Println(dist.HalfNormal(-1).Err())
	// Output:
	// [-0.9790 -1.6121 -Inf]
	// 1
	// dist: halfnormal has sigma = -1: want a finite number above 0
}

func ExampleTruncate() {
	d := dist.Truncate(dist.Normal(0, 1), 8, nil) // far out in the tail
	show(d.LogProb(ad.Const([]float64{8, 8.1, 9})))
	fmt.Printf("%.4f\n", d.Quantile(0.5, []float64{0, 1, 8}))
	// Output:
	// [2.0945 1.2895 -6.4055]
	// 8.0849
}

func ExampleMixture() {
	d := dist.Mixture([]float64{0.3, 0.7}, dist.PointMass(0), dist.Poisson(4))
	show(ad.Exp(d.LogProb(ad.Const([]float64{0, 1, 4}))))
	fmt.Println(d.Mean([]float64{0.3, 0.7, 0, 4}))
	// Output:
	// [0.3128 0.0513 0.1368]
	// 2.8
}

// One factor and independent noise have a covariance of three numbers in place of a full matrix.
func ExampleLowRankMultivariateNormal() {
	mu, w, d := []float64{0, 0, 0}, ad.Const([]float64{1, 0.5, -2}, 3, 1), []float64{0.1, 0.2, 0.4}
	x := ad.Const([]float64{0.3, -0.4, 1.1, 0, 0, 0}, 2, 3)
	show(dist.LowRankMultivariateNormal(mu, w, d).LogProb(x))
	cov := ad.Add(ad.MatMul(w, ad.T(w)), ad.Const([]float64{0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.4}, 3, 3)) // W W^T + diag(d)
	show(dist.MultivariateNormal(mu, cov).LogProb(x))
	// Output:
	// [-3.9810 -1.8938]
	// [-3.9810 -1.8938]
}

func ExampleDist_Fill() {
	d := dist.MultivariateNormal([]float64{1, -1}, ad.Const([]float64{1, 0.9, 0.9, 1}, 2, 2))
	stream := tensor.NewStream(42, 0, 0)
	draws := make([]float64, 2*3)
	mu, l := []float64{1, -1}, []float64{1, 0, 0.9, 0.4358898943540673}
	if err := d.Fill(&stream, draws, []int{3, 2}, [][]float64{mu, l}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(draws) == 6)
	// Output: true
}
