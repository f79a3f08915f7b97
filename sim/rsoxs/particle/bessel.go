// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"
	"runtime"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// sphericalJ returns j_n(x)/x^n of the spherical Bessel function, and cylindricalJ J_n(x)/x^n of the cylindrical one. Both are even
// functions without a singularity, and the derivative of either is -x times the next one.
func sphericalJ(n int, x *ad.Node) *ad.Node {
	if n == 0 {
		return ad.Sinc(x)
	}
	return reduced("spherical Bessel function over a power", n, 2*n+1, func(n int, x float64) float64 {
		s, c := math.Sincos(x)
		lower, j := s/x, (s/x-c)/x
		for i := 1; i < n; i++ {
			lower, j = j, float64(2*i+1)/x*j-lower
		}
		return j / power(x, n)
	}, x)
}

func cylindricalJ(n int, x *ad.Node) *ad.Node {
	if n == 0 {
		return ad.BesselJ0(x)
	}
	return reduced("Bessel function over a power", n, 2*n, func(n int, x float64) float64 { return math.Jn(n, x) / power(x, n) }, x)
}

// power returns x^n for a small whole n, faster than math.Pow.
func power(x float64, n int) float64 {
	p := 1.0
	for range n {
		p *= x
	}
	return p
}

// reduced is an even function f_n(x) whose series is sum_k (-x^2/2)^k/(k! m (m+2) ... ) over its value 1/(m (m-2) ...) at 0, with m the
// largest factor, and whose derivative is -x f_(n+1).
func reduced(name string, n, m int, far func(n int, x float64) float64, x *ad.Node) *ad.Node {
	near := float64(n + 3)
	series := even(m, near)
	value := func(x float64) float64 {
		if !(math.Abs(x) <= near) {
			return far(n, math.Abs(x))
		}
		square, sum := x*x, 0.0
		for _, c := range series {
			sum = sum*square + c
		}
		return sum
	}
	const block = 2048
	return ad.Call(&ad.Custom{Name: name,
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			parallel.Do(runtime.GOMAXPROCS(0), (len(out)+block-1)/block, func(_, task int) {
				for i := task * block; i < min(len(out), (task+1)*block); i++ {
					out[i] = value(in[0][i])
				}
			})
			return nil
		},
		VJP: func(g, _ *ad.Node, in []*ad.Node) []*ad.Node {
			return []*ad.Node{ad.Neg(ad.Mul(g, ad.Mul(in[0], reduced(name, n+1, m+2, far, in[0]))))}
		}}, x)
}

// even returns the coefficients of the series of [reduced] in x^2, the highest power first, as many as count up to near.
func even(m int, near float64) []float64 {
	c := 1.0
	for i := m; i > 1; i -= 2 {
		c /= float64(i)
	}
	list := []float64{c}
	for k, size := 1, c; size > 1e-18*list[0]; k++ {
		c /= -2 * float64(k) * float64(m+2*k)
		list, size = append(list, c), math.Abs(c)*math.Pow(near, float64(2*k))
	}
	slices.Reverse(list)
	return list
}
