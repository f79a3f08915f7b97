package main

import (
	"fmt"
	"math/rand/v2"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// benchRow is one operation of bench gpu.
type benchRow struct {
	name  string
	bits  int
	bytes float64 // that must be moved between the device's memory and its processors
	flops float64
	graph func() (outs, in []*ad.Node)
}

// reals makes an input.
func reals(name string, shape ...int) *ad.Node { return ad.Input(name, shape...) }

// benchRows are the operations that bench gpu times.
func benchRows() []benchRow {
	var rows []benchRow
	add := func(name string, bits int, bytes, flops float64, graph func() (outs, in []*ad.Node)) {
		rows = append(rows, benchRow{name, bits, bytes, flops, graph})
	}
	one := func(f func(x *ad.Node) *ad.Node, shape ...int) func() (outs, in []*ad.Node) {
		return func() ([]*ad.Node, []*ad.Node) {
			x := reals("x", shape...)
			return []*ad.Node{f(x)}, []*ad.Node{x}
		}
	}
	for _, n := range []int{1e3, 1e4, 1e5, 1e6, 1e7} {
		add(fmt.Sprintf("add %d", n), 32, 12*float64(n), float64(n), func() ([]*ad.Node, []*ad.Node) {
			x, y := reals("x", n), reals("y", n)
			return []*ad.Node{ad.Add(x, y)}, []*ad.Node{x, y}
		})
	}
	add("relu 1000000", 32, 8e6, 1e6, one(func(x *ad.Node) *ad.Node { return ad.Maximum(x, ad.Scalar(0)) }, 1e6))
	add("sum 10000000", 32, 4e7, 1e7, one(ad.Sum, 1e7))
	add("softmax 4096 x 1024", 32, 8*4096*1024, 5*4096*1024, one(func(x *ad.Node) *ad.Node { return ad.Softmax(x, 1) }, 4096, 1024))
	add("transpose 4096 x 4096", 32, 8*4096*4096, 0, one(func(x *ad.Node) *ad.Node { return ad.Add(ad.Permute(x, 1, 0), ad.Scalar(1)) }, 4096, 4096))
	add("cumsum 10000000", 32, 8e7, 1e7, one(func(x *ad.Node) *ad.Node { return ad.Cumsum(x, 0) }, 1e7))
	add("sort 1000000", 32, 8e6, 0, one(func(x *ad.Node) *ad.Node { return ad.Sort(x, 0, false) }, 1e6))
	add("fft 1024 x 1024", 32, 16*1024*1024, 5*1024*1024*10, one(func(x *ad.Node) *ad.Node { return ad.FFT(x, ad.NormBackward, 1) }, 1024, 1024, 2))
	add("fft2 1024 x 1024", 32, 32*1024*1024, 5*1024*1024*20, one(func(x *ad.Node) *ad.Node { return ad.FFT(x, ad.NormBackward, 0, 1) }, 1024, 1024, 2))
	for _, n := range []int{128, 256, 512, 1024, 2048} {
		for _, bits := range []int{32, 64} {
			add(fmt.Sprintf("matmul %d", n), bits, float64(3*n*n*bits/8), 2*float64(n)*float64(n)*float64(n), func() ([]*ad.Node, []*ad.Node) {
				x, y := reals("x", n, n), reals("y", n, n)
				return []*ad.Node{ad.MatMul(x, y)}, []*ad.Node{x, y}
			})
		}
	}
	add("cholesky 1000 x 32 x 32", 64, 2*8*1000*32*32, 1000*32*32*32/3, one(func(x *ad.Node) *ad.Node {
		// Symmetric and positive definite for numbers below 1.
		return ad.Cholesky(ad.Add(ad.Add(x, ad.Permute(x, 0, 2, 1)), ad.Scale(64, ad.Eye(32))))
	}, 1000, 32, 32))
	add("batch norm 32 x 64 x 32 x 32", 32, 3*4*32*64*32*32, 8*32*64*32*32, func() ([]*ad.Node, []*ad.Node) {
		x, scale, shift := reals("x", 32, 64, 32, 32), reals("scale", 1, 64, 1, 1), reals("shift", 1, 64, 1, 1)
		shape := []int{1, 64, 1, 1}
		mean, variance := ad.Reshape(ad.MeanAxes(x, 0, 2, 3), shape...), ad.Reshape(ad.Variance(x, 0, 0, 2, 3), shape...)
		y := ad.Add(ad.Mul(ad.Div(ad.Sub(x, mean), ad.Sqrt(ad.Add(variance, ad.Scalar(1e-5)))), scale), shift)
		return []*ad.Node{y}, []*ad.Node{x, scale, shift}
	})
	add("eight schools, gradient", 64, 400, 400, func() ([]*ad.Node, []*ad.Node) {
		mu, tau, z := reals("mu"), reals("log tau"), reals("z", 8)
		se := ad.Const([]float64{15, 10, 16, 11, 9, 11, 10, 18}, 8)
		y := ad.Const([]float64{28, 8, -3, 7, -1, 1, 18, 12}, 8)
		res := ad.Div(ad.Sub(y, ad.Add(mu, ad.Mul(ad.Exp(tau), z))), se)
		lp := ad.Neg(ad.Scale(0.5, ad.AddN(ad.Sum(ad.Mul(res, res)), ad.Sum(ad.Mul(z, z)), ad.Mul(mu, mu), ad.Mul(tau, tau))))
		in := []*ad.Node{mu, tau, z}
		return append([]*ad.Node{lp}, ad.Grad(lp, in...)...), in
	})
	add("value and gradient, 1e6 points", 64, 8*4e6, 2e7, func() ([]*ad.Node, []*ad.Node) {
		a, rate, x, y := reals("a"), reals("rate"), reals("x", 1e6), reals("y", 1e6)
		res := ad.Sub(y, ad.Mul(a, ad.Exp(ad.Neg(ad.Mul(rate, x)))))
		lp := ad.Sum(ad.Mul(res, res))
		return append([]*ad.Node{lp}, ad.Grad(lp, a, rate)...), []*ad.Node{a, rate, x, y}
	})
	return rows
}

// fillRandom gives a state's inputs random numbers in (0, 1), sent once.
func fillRandom(s *ad.State, in []*ad.Node, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 11))
	for i, x := range in {
		v := make([]float64, x.Size())
		for k := range v {
			v[k] = rng.Float64()
		}
		if err := s.SetInput(i, v); err != nil {
			return err
		}
	}
	return nil
}
