// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"math/big"
	"sync"
)

// Reference values from series in math/big, a hundred digits and more. They are slow and short, and share nothing with
// the kernels.

func num(prec uint, v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }

func small(x, than *big.Float, prec uint) bool {
	return x.Sign() == 0 || x.MantExp(nil) < than.MantExp(nil)-int(prec)-8
}

// atanhInverse is atanh(1/n), or atan(1/n) with sign -1.
func atanhInverse(prec uint, n, sign float64) *big.Float {
	p := new(big.Float).SetPrec(prec).Quo(num(prec, 1), num(prec, n))
	sum := new(big.Float).Copy(p)
	for k := 3.0; ; k += 2 {
		p.Quo(p, num(prec, sign*n*n))
		t := new(big.Float).Quo(p, num(prec, k))
		if small(t, sum, prec) {
			return sum
		}
		sum.Add(sum, t)
	}
}

type constants struct{ ln2, pi *big.Float }

var cache sync.Map

func constantsOf(prec uint) constants {
	if c, ok := cache.Load(prec); ok {
		return c.(constants)
	}
	ln2 := new(big.Float).Mul(num(prec, 2), atanhInverse(prec, 3, 1))
	a := new(big.Float).Mul(num(prec, 16), atanhInverse(prec, 5, -1))
	b := new(big.Float).Mul(num(prec, 4), atanhInverse(prec, 239, -1))
	c := constants{ln2, new(big.Float).Sub(a, b)}
	cache.Store(prec, c)
	return c
}

// nearest is the integer nearest to x/step and the rest of x.
func nearest(x, step *big.Float) (int, *big.Float) {
	q, _ := new(big.Float).Quo(x, step).Float64()
	k := math.RoundToEven(q)
	t := new(big.Float).Mul(num(x.Prec(), k), step)
	return int(k), t.Sub(x, t)
}

func bigExp(x *big.Float) *big.Float {
	prec := x.Prec()
	k, r := nearest(x, constantsOf(prec).ln2)
	r.SetMantExp(r, -10)
	sum, t := num(prec, 1), num(prec, 1)
	for n := 1.0; ; n++ {
		t.Mul(t, r)
		t.Quo(t, num(prec, n))
		if small(t, sum, prec) {
			break
		}
		sum.Add(sum, t)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, k)
}

// bigLog refines math.Log by Newton's method.
func bigLog(x *big.Float) *big.Float {
	prec := x.Prec()
	m := new(big.Float)
	e := x.MantExp(m)
	f, _ := m.Float64()
	y := num(prec, math.Log(f))
	for bits := uint(50); bits < prec; bits *= 2 {
		t := bigExp(new(big.Float).Neg(y))
		y.Add(y, t.Sub(t.Mul(t, m), num(prec, 1)))
	}
	return y.Add(y, new(big.Float).Mul(num(prec, float64(e)), constantsOf(prec).ln2))
}

// bigSin is sin(x + shift pi/2).
func bigSin(x *big.Float, shift int) *big.Float {
	prec := x.Prec()
	half := new(big.Float).Quo(constantsOf(prec).pi, num(prec, 2))
	k, r := nearest(x, half)
	k += shift
	r2 := new(big.Float).Mul(r, r)
	t, n := num(prec, 1), 0.0
	if k&1 == 0 {
		t, n = r, 1
	}
	sum := new(big.Float).Copy(t)
	for t.Sign() != 0 {
		t = new(big.Float).Mul(t, r2)
		t.Quo(t, num(prec, -(n+1)*(n+2)))
		n += 2
		if small(t, sum, prec) {
			break
		}
		sum.Add(sum, t)
	}
	if k&2 != 0 {
		sum.Neg(sum)
	}
	return sum
}

// bigAtan halves the angle ten times, by tan(a/2) = t / (1 + sqrt(1 + t^2)), before it sums the series.
func bigAtan(x *big.Float) *big.Float {
	prec := x.Prec()
	t := new(big.Float).Copy(x)
	for range 10 {
		root := new(big.Float).Mul(t, t)
		root.Sqrt(root.Add(root, num(prec, 1)))
		t.Quo(t, root.Add(root, num(prec, 1)))
	}
	t2 := new(big.Float).Mul(t, t)
	t2.Neg(t2)
	sum, p := new(big.Float).Copy(t), new(big.Float).Copy(t)
	for k := 3.0; p.Sign() != 0; k += 2 {
		p.Mul(p, t2)
		term := new(big.Float).Quo(p, num(prec, k))
		if small(term, sum, prec) {
			break
		}
		sum.Add(sum, term)
	}
	return sum.SetMantExp(sum, 10)
}

// bigErf is erf(x) = 2/sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1)/(2n+1)!!.
func bigErf(x *big.Float) *big.Float {
	prec := x.Prec()
	x2 := new(big.Float).Mul(x, x)
	t := new(big.Float).Copy(x)
	sum := new(big.Float).Copy(x)
	for n := 1.0; t.Sign() != 0; n++ {
		t.Mul(t, x2)
		t.Quo(t, num(prec, n+0.5))
		if small(t, sum, prec) {
			break
		}
		sum.Add(sum, t)
	}
	sum.Mul(sum, bigExp(new(big.Float).Neg(x2)))
	sum.Mul(sum, num(prec, 2))
	return sum.Quo(sum, new(big.Float).Sqrt(constantsOf(prec).pi))
}

// references holds the functions that need more than package math to check.
var references = map[string]func(x *big.Float) *big.Float{
	"exp": bigExp,
	"exp2": func(x *big.Float) *big.Float {
		return bigExp(x.Mul(x, constantsOf(x.Prec()).ln2))
	},
	"expm1": func(x *big.Float) *big.Float { return x.Sub(bigExp(x), num(x.Prec(), 1)) },
	"log":   bigLog,
	"log1p": func(x *big.Float) *big.Float { return bigLog(x.Add(x, num(x.Prec(), 1))) },
	"log2": func(x *big.Float) *big.Float {
		return new(big.Float).Quo(bigLog(x), constantsOf(x.Prec()).ln2)
	},
	"tanh": func(x *big.Float) *big.Float {
		e := bigExp(x.Add(x, x))
		return new(big.Float).Quo(new(big.Float).Sub(e, num(x.Prec(), 1)), new(big.Float).Add(e, num(x.Prec(), 1)))
	},
	"sigmoid": func(x *big.Float) *big.Float {
		e := bigExp(x.Neg(x))
		return x.Quo(num(x.Prec(), 1), e.Add(e, num(x.Prec(), 1)))
	},
	"sigmoid_slope": func(x *big.Float) *big.Float {
		e := bigExp(x.Neg(x.Abs(x)))
		d := num(x.Prec(), 1)
		d.Add(d, e)
		return x.Quo(e, d.Mul(d, d))
	},
	"softplus": func(x *big.Float) *big.Float {
		e := bigExp(x)
		return bigLog(e.Add(e, num(x.Prec(), 1)))
	},
	"sin":  func(x *big.Float) *big.Float { return bigSin(x, 0) },
	"cos":  func(x *big.Float) *big.Float { return bigSin(x, 1) },
	"atan": bigAtan,
	"erf":  bigErf,
	"erfc": func(x *big.Float) *big.Float { return new(big.Float).Sub(num(x.Prec(), 1), bigErf(x)) },
	"rsqrt": func(x *big.Float) *big.Float {
		return new(big.Float).Quo(num(x.Prec(), 1), x.Sqrt(x))
	},
}

// reference is f(x) in two parts.
func reference(name string, x float64) (hi, lo float64) {
	prec := uint(200)
	switch name {
	case "erfc":
		prec += uint(3.2 * x * max(x, 0))
	case "softplus":
		prec += uint(1.5 * max(-x, 0))
	case "expm1", "log1p", "tanh":
		prec += uint(max(-2*math.Logb(x), 0))
	}
	v := references[name](num(prec, x))
	hi, _ = v.Float64()
	if math.IsInf(hi, 0) {
		return hi, 0
	}
	lo, _ = new(big.Float).Sub(v, num(prec, hi)).Float64()
	return hi, lo
}
