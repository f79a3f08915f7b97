// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// positive chooses between a where x > 0 and b elsewhere.
func positive(x, a, b *ad.Node) *ad.Node { return ad.Where(ad.Greater(x, ad.Scalar(0)), a, b) }

// ReLU is max(x, 0), with slope 0 at 0.
func ReLU(x *ad.Node) *ad.Node { return ad.ReLU(x) }

// LeakyReLU is x where it is positive, and slope times x elsewhere.
func LeakyReLU(x *ad.Node, slope float64) *ad.Node { return positive(x, x, ad.Scale(slope, x)) }

// ELU is x where it is positive, and alpha (e^x - 1) elsewhere (arXiv:1511.07289).
func ELU(x *ad.Node, alpha float64) *ad.Node { return positive(x, x, ad.Scale(alpha, ad.Expm1(x))) }

// CELU is x where it is positive, and alpha (e^(x/alpha) - 1) elsewhere (arXiv:1704.07483).
func CELU(x *ad.Node, alpha float64) *ad.Node {
	return positive(x, x, ad.Scale(alpha, ad.Expm1(ad.Scale(1/alpha, x))))
}

// SELU is ELU, scaled so that layers keep mean 0 and variance 1 (arXiv:1706.02515).
func SELU(x *ad.Node) *ad.Node {
	return ad.Scale(1.0507009873554804934193349852946, ELU(x, 1.6732632423543772848170429916717))
}

// GELU is x times the probability that a standard normal number is below x (arXiv:1606.08415).
func GELU(x *ad.Node) *ad.Node { return ad.Mul(x, ad.Phi(x)) }

// GELUTanh is the approximation of GELU by a tanh.
func GELUTanh(x *ad.Node) *ad.Node {
	inner := ad.Scale(math.Sqrt(2/math.Pi), ad.Add(x, ad.Scale(0.044715, ad.Mul(x, ad.Square(x)))))
	return ad.Mul(ad.Scale(0.5, x), ad.Shift(ad.Tanh(inner), 1))
}

// SiLU is x times its sigmoid, also known as swish.
func SiLU(x *ad.Node) *ad.Node { return ad.Mul(x, ad.Sigmoid(x)) }

// Mish is x tanh(log(1 + e^x)) (arXiv:1908.08681).
func Mish(x *ad.Node) *ad.Node { return ad.Mul(x, ad.Tanh(ad.Softplus(x))) }

// Softsign is x / (1 + |x|).
func Softsign(x *ad.Node) *ad.Node { return ad.Div(x, ad.Shift(ad.Abs(x), 1)) }

// Hardsigmoid is (x + 3)/6, clipped to 0..1.
func Hardsigmoid(x *ad.Node) *ad.Node { return ad.Scale(1./6, ad.Clip(ad.Shift(x, 3), 0, 6)) }

// Hardswish is x times its Hardsigmoid (arXiv:1905.02244).
func Hardswish(x *ad.Node) *ad.Node { return ad.Mul(x, Hardsigmoid(x)) }

// Hardtanh is x, clipped to -1..1.
func Hardtanh(x *ad.Node) *ad.Node { return ad.Clip(x, -1, 1) }

// ReLU6 is x, clipped to 0..6.
func ReLU6(x *ad.Node) *ad.Node { return ad.Clip(x, 0, 6) }
