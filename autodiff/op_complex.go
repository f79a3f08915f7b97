package autodiff

import "github.com/euryale-dev/euryale/tensor"

// Complex returns re + i im, which broadcast: real arrays as one of complex
// numbers, with a last axis of length 2. Gradient: the parts of g.
func Complex(re, im *Node) *Node {
	if bad := firstErr(re, im); bad != nil {
		return bad
	}
	s, ok := tensor.Broadcast(re.shape, im.shape)
	if !ok {
		return failed(&tensor.ShapeError{Op: "complex", Got: shapesOf([]*Node{re, im}), Want: "shapes that broadcast: equal lengths or 1, matched from the last axis"})
	}
	return Stack(-1, Broadcast(re, s...), Broadcast(im, s...))
}

// Real returns the real parts of the complex x. Gradient: g as real parts.
func Real(x *Node) *Node { return part(x, 0) }

// Imag returns the imaginary parts of the complex x. Gradient: g as imaginary parts.
func Imag(x *Node) *Node { return part(x, 1) }

// Conj returns the conjugates of the complex x. Gradient: conj g.
func Conj(x *Node) *Node {
	if bad := notComplex("conj", x); bad != nil {
		return bad
	}
	return Mul(x, Const([]float64{1, -1}))
}

// CMul returns the products of the complex x and y, which broadcast. Gradients:
// conj(y) g and conj(x) g.
func CMul(x, y *Node) *Node {
	if bad := notComplex("cmul", x, y); bad != nil {
		return bad
	}
	a, b, c, d := Real(x), Imag(x), Real(y), Imag(y)
	return Complex(Sub(Mul(a, c), Mul(b, d)), Add(Mul(a, d), Mul(b, c)))
}

// Abs2 returns |x|^2 of the complex x. Gradient: 2 x g.
func Abs2(x *Node) *Node {
	if bad := notComplex("abs2", x); bad != nil {
		return bad
	}
	return SumAxes(Square(x), -1)
}

// CExp returns exp(i phase) of the real phase. Gradient: Re(-i conj(y) g).
func CExp(phase *Node) *Node { return Complex(Cos(phase), Sin(phase)) }

func part(x *Node, i int) *Node {
	if bad := notComplex("part", x); bad != nil {
		return bad
	}
	return Index(x, -1, i)
}

// notComplex returns a Node with the mistake if one of xs is not complex.
func notComplex(op string, xs ...*Node) *Node {
	if bad := firstErr(xs...); bad != nil {
		return bad
	}
	for _, x := range xs {
		if k := len(x.shape); k == 0 || x.shape[k-1] != 2 {
			return failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape}, Want: "a last axis of length 2, the parts of complex numbers; see Complex"})
		}
	}
	return nil
}
