// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"errors"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/subnormal"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

var errRandom = errors.New("stan: random numbers are drawn for known parameters only")

var errOrder = errors.New("stan: the order must be an integer that does not depend on parameters")

// complexPower is a^b = exp(b log a), and 0 where a is 0, as in C++.
func complexPower(a, b value.Value, t typing.Type) (value.Value, error) {
	re, im := a.Parts()
	if zero := func(v value.Value) bool { return v.Known() && len(v.F) == 1 && v.F[0] == 0 }; zero(re) && zero(im) {
		return value.Complex(t, value.Real(0), value.Real(0)), nil
	}
	l, err := complexUnary("log", a)
	if err != nil {
		return a, err
	}
	p, err := Operator("*", b, l, t)
	if err != nil {
		return a, err
	}
	return complexUnary("exp", p)
}

// complexUnary applies exp, log or sqrt to a complex value.
func complexUnary(name string, v value.Value) (value.Value, error) {
	re, im := v.Parts()
	r := re.Type
	one := func(x value.Value, native func(float64) float64, graph func(*ad.Node) *ad.Node) value.Value {
		out, err := elementwise(x, r, native, graph)
		if err != nil && out.N == nil {
			out.N = ad.Fail(err)
		}
		return out
	}
	two := func(x, y value.Value, native func(x, y float64) float64, graph func(x, y *ad.Node) *ad.Node) value.Value {
		out, err := combine(x, y, r, native, graph)
		if err != nil && out.N == nil {
			out.N = ad.Fail(err)
		}
		return out
	}
	times := func(x, y float64) float64 { return x * y }
	switch name {
	case "exp":
		e := one(re, math.Exp, ad.Exp)
		return value.Complex(v.Type, two(e, one(im, math.Cos, ad.Cos), times, ad.Mul), two(e, one(im, math.Sin, ad.Sin), times, ad.Mul)), nil
	case "log":
		return value.Complex(v.Type, one(two(re, im, math.Hypot, ad.Hypot), subnormal.Log, ad.Log), two(im, re, math.Atan2, ad.Atan2)), nil
	case "sqrt":
		half := func(x float64) float64 { return 0.5 * x }
		l, err := complexUnary("log", v)
		if err != nil {
			return v, err
		}
		lr, li := l.Parts()
		scale := func(x *ad.Node) *ad.Node { return ad.Scale(0.5, x) }
		return complexUnary("exp", value.Complex(v.Type, one(lr, half, scale), one(li, half, scale)))
	}
	pair := func(a, b value.Value) value.Value { return two(a, b, times, ad.Mul) }
	sine := func(x value.Value) value.Value { return one(x, math.Sin, ad.Sin) }
	cosine := func(x value.Value) value.Value { return one(x, math.Cos, ad.Cos) }
	sinh := func(x value.Value) value.Value { return one(x, math.Sinh, ad.Sinh) }
	cosh := func(x value.Value) value.Value { return one(x, math.Cosh, ad.Cosh) }
	minus := func(x value.Value) value.Value { return one(x, func(x float64) float64 { return -x }, ad.Neg) }
	switch name {
	case "sin":
		return value.Complex(v.Type, pair(sine(re), cosh(im)), pair(cosine(re), sinh(im))), nil
	case "cos":
		return value.Complex(v.Type, pair(cosine(re), cosh(im)), minus(pair(sine(re), sinh(im)))), nil
	case "sinh":
		return value.Complex(v.Type, pair(sinh(re), cosine(im)), pair(cosh(re), sine(im))), nil
	case "cosh":
		return value.Complex(v.Type, pair(cosh(re), cosine(im)), pair(sinh(re), sine(im))), nil
	case "tan", "tanh":
		over := map[string][2]string{"tan": {"sin", "cos"}, "tanh": {"sinh", "cosh"}}[name]
		above, err := complexUnary(over[0], v)
		if err != nil {
			return v, err
		}
		below, err := complexUnary(over[1], v)
		if err != nil {
			return v, err
		}
		return Operator("/", above, below, v.Type)
	}
	return v, errors.New("stan: no complex form of " + name + ": use its real and imaginary parts")
}

// paired makes a complex value of two real ones, of which one may be a number for all elements of the other one.
func paired(t typing.Type, re, im value.Value) (value.Value, error) {
	zero := func(x value.Value, like value.Value) (value.Value, error) {
		none := value.Known(like.Type, make([]float64, like.Size()), like.Shape...)
		return combine(x, none, like.Type, func(x, y float64) float64 { return x + y }, ad.Add)
	}
	var err error
	switch {
	case len(re.Shape) == 0 && len(im.Shape) > 0:
		re, err = zero(re, im)
	case len(im.Shape) == 0 && len(re.Shape) > 0:
		im, err = zero(im, re)
	case len(re.Shape) > 0:
		_, err = broadcast(re, im)
	}
	return value.Complex(t, re, im), err
}

// complexNumbers registers them.
func complexNumbers() {
	register("to_complex", false, func(c *Call) (value.Value, error) {
		re, im := value.Real(0), value.Real(0)
		if len(c.Args) > 0 {
			re = c.Args[0].As(reals(c.Args[0].Type))
		}
		if len(c.Args) > 1 {
			im = c.Args[1].As(reals(c.Args[1].Type))
		}
		return paired(c.Result, re, im)
	}, " => complex", "real => complex", "real real => complex", "vector => complex_vector", "row_vector => complex_row_vector", "matrix => complex_matrix", "real[] => complex[]",
		"vector|real vector => complex_vector", "vector real => complex_vector", "row_vector|real row_vector => complex_row_vector", "row_vector real => complex_row_vector",
		"matrix|real matrix => complex_matrix", "matrix real => complex_matrix", "real[]|real real[] => complex[]", "real[] real => complex[]")
	for name, f := range map[string]func(x *ad.Node, norm ad.FourierNorm, axes ...int) *ad.Node{"fft": ad.FFT, "inv_fft": ad.IFFT} {
		transform := func(c *Call) (value.Value, error) {
			re, im := c.Args[0].Parts()
			y := f(ad.Complex(re.Node(), im.Node()), ad.NormBackward)
			if err := y.Err(); err != nil {
				return c.Args[0], err
			}
			part := func(n *ad.Node, like value.Value) (value.Value, error) {
				own := *c
				own.Result = like.Type
				return result(&own, n, 0, like.Shape...)
			}
			a, err := part(ad.Real(y), re)
			if err != nil {
				return a, err
			}
			b, err := part(ad.Imag(y), im)
			return value.Complex(c.Result, a, b), err
		}
		register(name, false, transform, "complex_vector => complex_vector")
		register(name+"2", false, transform, "complex_matrix => complex_matrix")
	}
	for i, name := range []string{"get_real", "get_imag"} {
		register(name, false, func(c *Call) (value.Value, error) { return c.Args[0].Elems[i], nil },
			"complex => real", "complex_vector => vector", "complex_row_vector => row_vector", "complex_matrix => matrix", "complex[] => real[]")
	}
	register("norm", false, func(c *Call) (value.Value, error) {
		re, im := c.Args[0].Parts()
		return combine(re, im, c.Result, func(x, y float64) float64 { return x*x + y*y }, func(x, y *ad.Node) *ad.Node { return ad.Add(ad.Square(x), ad.Square(y)) })
	}, "complex => real")
	register("arg", false, func(c *Call) (value.Value, error) {
		re, im := c.Args[0].Parts()
		return combine(im, re, c.Result, math.Atan2, ad.Atan2)
	}, "complex => real")
	register("conj", false, func(c *Call) (value.Value, error) {
		re, im := c.Args[0].Parts()
		im, err := Prefix("-", im, im.Type)
		return value.Complex(c.Args[0].Type, re, im), err
	}, "complex|complex_vector|complex_row_vector|complex_matrix => $1")
	register("polar", false, func(c *Call) (value.Value, error) {
		zero := value.Complex(typing.Of(typing.Complex), value.Real(0), c.Args[1].As(typing.Of(typing.Real)))
		u, err := complexUnary("exp", zero)
		if err != nil {
			return u, err
		}
		return Operator("*", c.Args[0], u, typing.Of(typing.Complex))
	}, "real real => complex")
	for _, name := range []string{"exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"} {
		f := functions[name]
		plain := f.Do
		f.Do = func(c *Call) (value.Value, error) {
			if len(c.Args) == 1 && c.Args[0].Type.Kind.IsComplex() {
				return complexUnary(name, c.Args[0])
			}
			return plain(c)
		}
		overload(name, typing.Sig("complex => complex"))
	}
	complexScalars()
	complexMatrices()
}
