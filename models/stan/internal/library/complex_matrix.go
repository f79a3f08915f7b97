// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// linears are functions that move, repeat and add elements only, and thus act on the real and on the imaginary parts of a container alike.
var linears = []string{"add_diag", "append_col", "append_row", "block", "col", "cumulative_sum", "diag_matrix", "diagonal", "head", "rep_matrix", "rep_row_vector",
	"rep_vector", "reverse", "row", "segment", "sub_col", "sub_row", "symmetrize_from_lower_tri", "tail", "to_array_1d", "to_array_2d", "to_matrix", "to_row_vector", "to_vector",
	"trace"}

// bilinears are functions of two containers that are linear in each: the product of two sums of parts is the sum of the products. Those that
// are true take the complex conjugate of the first one, as dot_product of Stan does, which leaves columns_dot_product as it is.
var bilinears = map[string]bool{"dot_product": true, "diag_pre_multiply": false, "diag_post_multiply": false, "columns_dot_product": false, "rows_dot_product": false}

// complexMatrices extends functions of real containers to complex ones.
func complexMatrices() {
	for _, name := range linears {
		extend(name, func(plain func(c *Call) (value.Value, error), c *Call) (value.Value, error) {
			re, err := plain(c.parts(0))
			if err != nil {
				return re, err
			}
			im, err := plain(c.parts(1))
			return value.Complex(c.Result, re, im), err
		})
	}
	for name, conjugate := range bilinears {
		extend(name, func(plain func(c *Call) (value.Value, error), c *Call) (value.Value, error) {
			return bilinear(plain, c, conjugate)
		})
	}
	for _, name := range []string{"dot_self", "columns_dot_self", "rows_dot_self"} { // sums of squares of absolute values
		extend(name, func(plain func(c *Call) (value.Value, error), c *Call) (value.Value, error) {
			re, err := plain(c.parts(0))
			if err != nil {
				return re, err
			}
			im, err := plain(c.parts(1))
			if err != nil {
				return im, err
			}
			sum, err := combine(re, im, re.Type, func(x, y float64) float64 { return x + y }, ad.Add)
			zero := value.Known(re.Type, make([]float64, re.Size()), re.Shape...)
			return value.Complex(c.Result, sum, zero), err
		})
	}
	extend("prod", func(_ func(c *Call) (value.Value, error), c *Call) (value.Value, error) { return complexProd(c) })
}

// extend gives a function of real containers a form for complex ones. do gets the real form, and a call whose arguments are promoted.
func extend(name string, do func(plain func(c *Call) (value.Value, error), c *Call) (value.Value, error)) {
	f := functions[name]
	plain := f.Do
	var more []typing.Overload
	for _, o := range f.Overloads {
		if c, ok := complexed(o); ok {
			more = append(more, c)
		}
	}
	f.Overloads = append(f.Overloads, more...)
	f.Do = func(c *Call) (value.Value, error) {
		if !c.Result.Kind.IsComplex() {
			return plain(c)
		}
		own := *c
		own.Args = promoted(more, c.Args)
		return do(plain, &own)
	}
}

// complexed returns an overload for complex numbers in place of the real ones; false if there are none.
func complexed(o typing.Overload) (typing.Overload, bool) {
	turn := func(t typing.Type) typing.Type {
		if t.Kind != typing.Int {
			t.Kind = t.Kind.Complexed()
		}
		return t
	}
	back := func(t typing.Type) typing.Type { t.Kind = t.Kind.Realed(); return t }
	out := typing.Overload{}
	some := false
	for _, choices := range o.Args {
		var list []typing.Type
		for _, t := range choices {
			if t.Kind == typing.Int && slices.ContainsFunc(choices, func(u typing.Type) bool { return u.Kind != typing.Int }) {
				continue
			}
			some = some || t.Kind != typing.Int
			list = append(list, turn(t))
		}
		out.Args = append(out.Args, list)
	}
	out.Result = func(args []typing.Type) (typing.Type, bool) {
		var plain []typing.Type
		for _, t := range args {
			plain = append(plain, back(t))
		}
		r, ok := o.Result(plain)
		return turn(r), ok
	}
	return out, some
}

// promoted returns arguments as the types that an overload wants.
func promoted(list []typing.Overload, args []value.Value) []value.Value {
	var have []typing.Type
	for _, a := range args {
		have = append(have, a.Type)
	}
	for _, o := range list {
		if want, _, _, ok := o.Match(have); ok {
			out := slices.Clone(args)
			for i := range out {
				out[i] = out[i].As(want[i])
			}
			return out
		}
	}
	return args
}

// parts returns the call of the real form with the real parts of complex arguments, or the imaginary ones.
func (c *Call) parts(i int) *Call {
	own := *c
	own.Args = slices.Clone(c.Args)
	for k, a := range own.Args {
		if a.Type.Kind.IsComplex() {
			own.Args[k] = a.Elems[i]
		}
	}
	own.Result.Kind = c.Result.Kind.Realed()
	return &own
}

func bilinear(plain func(c *Call) (value.Value, error), c *Call, conjugate bool) (value.Value, error) {
	at := func(i, j int) (value.Value, error) {
		own := c.parts(i)
		own.Args[1] = c.Args[1].Elems[j]
		return plain(own)
	}
	var p [2][2]value.Value
	for i := range 2 {
		for j := range 2 {
			v, err := at(i, j)
			if err != nil {
				return v, err
			}
			p[i][j] = v
		}
	}
	re, im := "-", "+"
	if conjugate {
		re, im = "+", "-"
	}
	a, err := Operator(re, p[0][0], p[1][1], p[0][0].Type)
	if err != nil {
		return a, err
	}
	b, err := Operator(im, p[0][1], p[1][0], a.Type)
	return value.Complex(c.Result, a, b), err
}

// complexProd multiplies all elements.
func complexProd(c *Call) (value.Value, error) {
	out := value.Complex(typing.Of(typing.Complex), value.Real(1), value.Real(0))
	v := c.Args[0]
	for i := range v.Size() {
		x := v.Take([]int{i}, typing.Of(typing.Complex), 0)
		next, err := Operator("*", out, x, out.Type)
		if err != nil {
			return next, err
		}
		out = next
	}
	return out, nil
}

// inverses of complex functions, by the formulas of Kahan (1987, Branch cuts for complex elementary functions), which keep their digits and
// the branches of C.
var complexInverses = map[string]func(x, y *ad.Node) (re, im *ad.Node){
	"asin":  complexAsin,
	"acos":  complexAcos,
	"atanh": complexAtanh,
	"acosh": func(x, y *ad.Node) (*ad.Node, *ad.Node) {
		ar, ai := complexRoot(ad.Shift(x, -1), y)
		br, bi := complexRoot(ad.Shift(x, 1), y)
		return ad.Asinh(ad.Add(ad.Mul(ar, br), ad.Mul(ai, bi))), ad.Scale(2, ad.Atan2(ai, br))
	},
	"asinh": func(x, y *ad.Node) (*ad.Node, *ad.Node) { return turned(complexAsin, x, y) },
	"atan":  func(x, y *ad.Node) (*ad.Node, *ad.Node) { re, im := complexAtanh(ad.Neg(y), x); return im, ad.Neg(re) },
	"log10": func(x, y *ad.Node) (*ad.Node, *ad.Node) {
		return ad.Scale(1/math.Ln10, ad.Log(ad.Hypot(x, y))), ad.Scale(1/math.Ln10, ad.Atan2(y, x))
	},
}

// turned is -i f(i z).
func turned(f func(x, y *ad.Node) (re, im *ad.Node), x, y *ad.Node) (re, im *ad.Node) {
	re, im = f(ad.Neg(y), x)
	return im, ad.Neg(re)
}

// complexRoot is the square root with a positive real part.
func complexRoot(x, y *ad.Node) (re, im *ad.Node) {
	r := ad.Hypot(x, y)
	right := ad.GreaterEqual(x, ad.Scalar(0))
	big := root(ad.Scale(0.5, ad.Add(r, ad.Abs(x))))
	none := ad.Equal(big, ad.Scalar(0))
	small := ad.Div(y, ad.Scale(2, ad.Where(none, ad.Scalar(1), big)))
	sign := ad.Where(ad.Less(y, ad.Scalar(0)), ad.Scalar(-1), ad.Scalar(1))
	return ad.Where(right, big, ad.Abs(small)), ad.Where(right, small, ad.Mul(sign, big))
}

func complexAsin(x, y *ad.Node) (re, im *ad.Node) {
	ar, ai := complexRoot(ad.Sub(ad.Scalar(1), x), ad.Neg(y))
	br, bi := complexRoot(ad.Shift(x, 1), y)
	return ad.Atan2(x, ad.Sub(ad.Mul(ar, br), ad.Mul(ai, bi))), ad.Asinh(ad.Sub(ad.Mul(ar, bi), ad.Mul(ai, br)))
}

func complexAcos(x, y *ad.Node) (re, im *ad.Node) {
	ar, ai := complexRoot(ad.Sub(ad.Scalar(1), x), ad.Neg(y))
	br, bi := complexRoot(ad.Shift(x, 1), y)
	return ad.Scale(2, ad.Atan2(ar, br)), ad.Asinh(ad.Sub(ad.Mul(br, ai), ad.Mul(bi, ar)))
}

func complexAtanh(x, y *ad.Node) (re, im *ad.Node) {
	y2 := ad.Square(y)
	away := ad.Add(ad.Square(ad.Sub(ad.Scalar(1), x)), y2)
	re = ad.Scale(0.25, ad.Log1p(ad.Div(ad.Scale(4, x), away)))
	im = ad.Scale(0.5, ad.Atan2(ad.Scale(2, y), ad.Sub(ad.Mul(ad.Sub(ad.Scalar(1), x), ad.Shift(x, 1)), y2)))
	return re, im
}

// complexScalars registers functions of one or two complex numbers beyond those of complexNumbers.
func complexScalars() {
	for name, f := range complexInverses {
		g := functions[name]
		plain := g.Do
		g.Do = func(c *Call) (value.Value, error) {
			if len(c.Args) != 1 || !c.Args[0].Type.Kind.IsComplex() {
				return plain(c)
			}
			re, im := c.Args[0].Parts()
			a, b := f(re.Node(), im.Node())
			return c.complexOf(a, b)
		}
		overload(name, typing.Sig("complex => complex"))
	}
	g := functions["pow"]
	plain := g.Do
	g.Do = func(c *Call) (value.Value, error) {
		if c.Result.Kind.IsComplex() {
			return complexPower(c.Args[0], c.Args[1], c.Result)
		}
		return plain(c)
	}
	overload("pow", typing.Sig("complex complex => complex"))
	// infinite numbers are one point of the sphere: positive infinity, with the sign of the imaginary part
	register("proj", false, func(c *Call) (value.Value, error) {
		re, im := c.Args[0].Parts()
		x, y := re.Node(), im.Node()
		far := ad.Equal(ad.Maximum(ad.Abs(x), ad.Abs(y)), ad.Scalar(inf))
		return c.complexOf(ad.Where(far, ad.Scalar(inf), x), ad.Where(far, ad.Mul(ad.Scalar(0), ad.Sign(y)), y))
	}, "complex => complex")
}

// complexOf returns nodes of the parts of a complex result, as known numbers if all arguments are known.
func (c *Call) complexOf(re, im *ad.Node, shape ...int) (value.Value, error) {
	own := *c
	own.Result.Kind = c.Result.Kind.Realed()
	a, err := result(&own, re, 0, shape...)
	if err != nil {
		return a, err
	}
	b, err := result(&own, im, 0, shape...)
	c.Evaluated = own.Evaluated
	return value.Complex(c.Result, a, b), err
}

// complexRight divides a complex row vector or matrix by a complex matrix. It solves the real equations of twice the size.
func complexRight(a, b value.Value, t typing.Type) (value.Value, error) {
	if err := square(b, "division"); err != nil {
		return a, err
	}
	if a.Shape[len(a.Shape)-1] != b.Shape[0] {
		return a, fmt.Errorf("sizes do not match: %s divided by %s: the columns must be as many", sizes(a.Shape), sizes(b.Shape))
	}
	n := b.Shape[0]
	re, im := b.Parts()
	top := ad.Concat(1, re.Node(), im.Node())
	both := ad.Concat(0, top, ad.Concat(1, ad.Neg(im.Node()), re.Node()))
	ar, ai := a.Parts()
	rows := ad.Concat(1, ad.Reshape(ar.Node(), a.Size()/n, n), ad.Reshape(ai.Node(), a.Size()/n, n))
	x := ad.T(ad.Solve(ad.T(both), ad.T(rows)))
	part := func(i int) *ad.Node { return ad.Reshape(ad.Slice(x, 1, i*n, (i+1)*n), a.Shape...) }
	c := &Call{Args: []value.Value{a, b}, Result: t}
	return c.complexOf(part(0), part(1), a.Shape...)
}
