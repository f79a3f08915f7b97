// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/subnormal"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// unary are the functions of one number that apply to all elements of a container.
var unary = map[string]struct {
	native func(float64) float64 // nil where the graph is evaluated
	graph  func(*ad.Node) *ad.Node
}{
	"exp": {math.Exp, ad.Exp}, "exp2": {math.Exp2, ad.Exp2}, "expm1": {math.Expm1, ad.Expm1}, "log": {subnormal.Log, ad.Log}, "log2": {math.Log2, ad.Log2},
	"log10": {nil, ad.Log10}, "log1p": {math.Log1p, ad.Log1p}, "sqrt": {math.Sqrt, root}, "cbrt": {math.Cbrt, ad.Cbrt},
	"sin": {math.Sin, ad.Sin}, "cos": {math.Cos, ad.Cos}, "tan": {math.Tan, ad.Tan}, "asin": {math.Asin, ad.Asin}, "acos": {math.Acos, ad.Acos},
	"atan": {math.Atan, ad.Atan}, "sinh": {math.Sinh, ad.Sinh}, "cosh": {math.Cosh, ad.Cosh}, "tanh": {math.Tanh, ad.Tanh},
	"asinh": {math.Asinh, ad.Asinh}, "acosh": {math.Acosh, ad.Acosh}, "atanh": {math.Atanh, ad.Atanh},
	"erf": {math.Erf, ad.Erf}, "erfc": {math.Erfc, ad.Erfc}, "tgamma": {math.Gamma, func(x *ad.Node) *ad.Node { return ad.Exp(ad.Lgamma(x)) }},
	"lgamma": {lg, ad.Lgamma}, "digamma": {nil, ad.Digamma}, "trigamma": {nil, func(x *ad.Node) *ad.Node { return ad.Polygamma(1, x) }},
	"square":     {func(x float64) float64 { return x * x }, ad.Square},
	"inv":        {func(x float64) float64 { return 1 / x }, ad.Reciprocal},
	"inv_sqrt":   {func(x float64) float64 { return 1 / math.Sqrt(x) }, ad.Rsqrt},
	"inv_square": {func(x float64) float64 { return 1 / (x * x) }, func(x *ad.Node) *ad.Node { return ad.Reciprocal(ad.Square(x)) }},
	"inv_logit":  {sigmoid, ad.Sigmoid}, "logit": {func(x float64) float64 { return subnormal.Log(x) - math.Log1p(-x) }, func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(x), ad.Log1p(ad.Neg(x))) }},
	"inv_cloglog": {func(x float64) float64 { return -math.Expm1(-math.Exp(x)) }, func(x *ad.Node) *ad.Node { return ad.Neg(ad.Expm1(ad.Neg(ad.Exp(x)))) }},
	"cloglog":     {nil, func(x *ad.Node) *ad.Node { return ad.Log(ad.Neg(ad.Log1p(ad.Neg(x)))) }},
	"Phi":         {func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }, ad.Phi}, "inv_Phi": {nil, invPhi}, "std_normal_qf": {nil, invPhi},
	"Phi_approx": {nil, func(x *ad.Node) *ad.Node {
		return ad.Sigmoid(ad.Add(ad.Scale(0.07056, ad.Mul(x, ad.Square(x))), ad.Scale(1.5976, x)))
	}},
	"inv_erfc":          {nil, func(x *ad.Node) *ad.Node { return ad.Scale(-math.Sqrt2/2, invPhi(ad.Scale(0.5, x))) }},
	"std_normal_log_qf": {nil, func(x *ad.Node) *ad.Node { return logQuantile(x) }},
	"log1m":             {func(x float64) float64 { return math.Log1p(-x) }, func(x *ad.Node) *ad.Node { return ad.Log1p(ad.Neg(x)) }},
	"log1m_exp":         {func(x float64) float64 { return log1mExp(x) }, ad.Log1mExp},
	"log1p_exp":         {softplus, ad.Softplus},
	"log_inv_logit":     {func(x float64) float64 { return -softplus(-x) }, ad.LogSigmoid}, "log1m_inv_logit": {func(x float64) float64 { return -softplus(x) }, func(x *ad.Node) *ad.Node { return ad.LogSigmoid(ad.Neg(x)) }},
	"floor": {math.Floor, ad.Floor}, "ceil": {math.Ceil, ad.Ceil}, "round": {math.Round, roundAway}, "trunc": {math.Trunc, ad.Trunc},
	"lambert_w0": {nil, lambertW0}, "lambert_wm1": {nil, lambertWm1}, "step": {func(x float64) float64 { return b2f(x >= 0) }, func(x *ad.Node) *ad.Node { return ad.GreaterEqual(x, ad.Scalar(0)) }},
}

// kept are the functions of one number whose results are integers for integers.
var kept = map[string]struct {
	native func(float64) float64
	graph  func(*ad.Node) *ad.Node
}{
	"abs": {math.Abs, ad.Abs}, "fabs": {math.Abs, ad.Abs},
}

// binary are the functions of two numbers that apply to all elements of containers, of which one may be a scalar.
var binary = map[string]struct {
	native func(x, y float64) float64
	graph  func(x, y *ad.Node) *ad.Node
}{
	"pow": {math.Pow, power}, "fmax": {math.Max, ad.Fmax}, "fmin": {math.Min, ad.Fmin}, "fmod": {math.Mod, ad.Mod}, "hypot": {math.Hypot, ad.Hypot},
	"atan2": {math.Atan2, ad.Atan2}, "fdim": {math.Dim, func(x, y *ad.Node) *ad.Node { return ad.Maximum(ad.Sub(x, y), ad.Scalar(0)) }},
	"log_sum_exp": {logAddExp, ad.LogAddExp}, "log_diff_exp": {func(x, y float64) float64 { return x + log1mExp(y-x) }, func(x, y *ad.Node) *ad.Node { return ad.Add(x, ad.Log1mExp(ad.Sub(y, x))) }},
	"lmultiply": {func(x, y float64) float64 { return timesLog(x, y) }, timesLogNode}, "multiply_log": {func(x, y float64) float64 { return timesLog(x, y) }, timesLogNode},
	"ldexp": {func(x, y float64) float64 { return math.Ldexp(x, int(y)) }, func(x, y *ad.Node) *ad.Node { return ad.Mul(x, ad.Exp2(y)) }},
	"lbeta": {func(a, b float64) float64 { return lg(a) + lg(b) - lg(a+b) }, lbeta}, "beta": {nil, func(x, y *ad.Node) *ad.Node { return ad.Exp(lbeta(x, y)) }},
	"lchoose": {func(n, k float64) float64 { return lg(n+1) - lg(k+1) - lg(n-k+1) }, lchoose}, "binomial_coefficient_log": {nil, lchoose},
	"choose": {nil, func(x, y *ad.Node) *ad.Node { return ad.Exp(lchoose(x, y)) }},
	"log_falling_factorial": {nil, func(x, y *ad.Node) *ad.Node {
		return ad.Sub(ad.Lgamma(ad.Shift(x, 1)), ad.Lgamma(ad.Shift(ad.Sub(x, y), 1)))
	}},
	"log_rising_factorial": {nil, func(x, y *ad.Node) *ad.Node { return ad.Sub(ad.Lgamma(ad.Add(x, y)), ad.Lgamma(x)) }},
	"falling_factorial": {nil, func(x, y *ad.Node) *ad.Node {
		return ad.Exp(ad.Sub(ad.Lgamma(ad.Shift(x, 1)), ad.Lgamma(ad.Shift(ad.Sub(x, y), 1))))
	}},
	"rising_factorial": {nil, func(x, y *ad.Node) *ad.Node { return ad.Exp(ad.Sub(ad.Lgamma(ad.Add(x, y)), ad.Lgamma(x))) }},
	"gamma_p":          {nil, func(a, x *ad.Node) *ad.Node { return ad.Exp(ad.LogGammaP(a, x)) }},
	"gamma_q":          {nil, func(a, x *ad.Node) *ad.Node { return ad.Exp(ad.LogGammaQ(a, x)) }},
	"binary_log_loss": {nil, func(y, p *ad.Node) *ad.Node {
		return ad.Neg(ad.Where(ad.Equal(y, ad.Scalar(1)), ad.Log(p), ad.Log1p(ad.Neg(p))))
	}},
	"log_inv_logit_diff": {nil, func(x, y *ad.Node) *ad.Node {
		return ad.Add(ad.Sub(ad.LogSigmoid(x), ad.Softplus(y)), ad.Log1mExp(ad.Sub(y, x)))
	}},
	"hypergeometric_1F0":             {nil, func(a, z *ad.Node) *ad.Node { return ad.Exp(ad.Neg(ad.Mul(a, ad.Log1p(ad.Neg(z))))) }},
	"owens_t":                        {nil, owensT},
	"bessel_first_kind":              {nil, besselJ},
	"bessel_second_kind":             {nil, besselY},
	"modified_bessel_first_kind":     {nil, besselI},
	"modified_bessel_second_kind":    {nil, besselK},
	"log_modified_bessel_first_kind": {nil, logBesselI},
	"lmgamma":                        {nil, lmgamma},
}

// binomial is n over k.
func binomial(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	out := 1.0
	for i := 1; i <= min(k, n-k); i++ {
		out = out * float64(n-i+1) / float64(i)
	}
	return math.Round(out)
}

func sigmoid(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

func softplus(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func log1mExp(x float64) float64 {
	if x > -math.Ln2 {
		return subnormal.Log(-math.Expm1(x))
	}
	return math.Log1p(-math.Exp(x))
}

func logAddExp(x, y float64) float64 {
	if x == y && math.IsInf(x, 0) {
		return x
	}
	return math.Max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
}

func timesLog(x, y float64) float64 {
	if x == 0 && y == 0 {
		return 0
	}
	return x * subnormal.Log(y)
}

// timesLogNode is x log y, and 0 where both are 0.
func timesLogNode(x, y *ad.Node) *ad.Node {
	zero := ad.Mul(ad.Equal(x, ad.Scalar(0)), ad.Equal(y, ad.Scalar(0)))
	one := ad.Add(y, zero)
	return ad.Mul(x, ad.Log(one))
}

func lbeta(x, y *ad.Node) *ad.Node {
	return ad.Sub(ad.Add(ad.Lgamma(x), ad.Lgamma(y)), ad.Lgamma(ad.Add(x, y)))
}

// lchoose is the logarithm of n over k.
func lchoose(n, k *ad.Node) *ad.Node {
	return ad.Sub(ad.Lgamma(ad.Shift(n, 1)), ad.Add(ad.Lgamma(ad.Shift(k, 1)), ad.Lgamma(ad.Shift(ad.Sub(n, k), 1))))
}

// root is the square root, whose derivative at 0 counts as 0, so that numbers that underflow spoil no gradient.
func root(x *ad.Node) *ad.Node {
	zero := ad.Equal(x, ad.Scalar(0))
	return ad.Where(zero, ad.Scalar(0), ad.Sqrt(ad.Where(zero, ad.Scalar(1), x)))
}

// roundAway rounds halves away from zero.
func roundAway(x *ad.Node) *ad.Node { return ad.Mul(ad.Sign(x), ad.Floor(ad.Shift(ad.Abs(x), 0.5))) }

// scalars registers them.
func scalars() {
	for name, f := range unary {
		register(name, true, func(c *Call) (value.Value, error) {
			return elementwise(c.Args[0], reals(c.Args[0].Type), f.native, f.graph)
		})
		overload(name, everywhere(true))
	}
	for name, f := range kept {
		register(name, true, func(c *Call) (value.Value, error) {
			if c.Args[0].Type.Kind.IsComplex() {
				re, im := c.Args[0].Parts()
				return combine(re, im, c.Result, math.Hypot, ad.Hypot)
			}
			return elementwise(c.Args[0], c.Result, f.native, f.graph)
		})
		overload(name, everywhere(false))
	}
	for name, f := range binary {
		register(name, true, func(c *Call) (value.Value, error) { return combine(c.Args[0], c.Args[1], c.Result, f.native, f.graph) })
		overload(name, pairs())
	}
	for _, name := range []string{"max", "min"} {
		graph, native := ad.Maximum, math.Max
		if name == "min" {
			graph, native = ad.Minimum, math.Min
		}
		extreme := ad.MaxAxes
		if name == "min" {
			extreme = ad.MinAxes
		}
		register(name, true, func(c *Call) (value.Value, error) {
			if len(c.Args) == 2 {
				return combine(c.Args[0], c.Args[1], c.Result, native, graph)
			}
			v := c.Args[0]
			if v.Size() == 0 {
				if c.Result.Kind == typing.Int {
					return v, fmt.Errorf("%s of an array without elements: check its size first", c.Name)
				}
				return value.Real(native(inf, -inf) * -1), nil
			}
			return reduced(c, v, func(f []float64) float64 {
				m := f[0]
				for _, x := range f[1:] {
					m = native(m, x)
				}
				return m
			}, extreme)
		}, "int int => int", "int[] => int", "list|matrix => real")
	}
	ways := functions["choose"].Do
	functions["choose"].Do = func(c *Call) (value.Value, error) {
		if c.Result.Kind != typing.Int {
			return ways(c)
		}
		ways, err := combine(c.Args[0], c.Args[1], c.Result, func(n, k float64) float64 { return binomial(int(n), int(k)) }, func(n, k *ad.Node) *ad.Node { return roundAway(ad.Exp(lchoose(n, k))) })
		for i, x := range ways.F {
			if err == nil && x > math.MaxInt32 {
				return ways, fmt.Errorf("choose: element %d is %g, which is above the largest integer, %d: use exp(lchoose(n, k))", i+1, x, math.MaxInt32)
			}
		}
		return ways, err
	}
	functions["choose"].Overloads = append([]typing.Overload{typing.Sig("int int => int")}, functions["choose"].Overloads...)
	register("fma", true, func(c *Call) (value.Value, error) {
		p, err := combine(c.Args[0], c.Args[1], c.Result, func(x, y float64) float64 { return x * y }, ad.Mul)
		if err != nil {
			return p, err
		}
		return combine(p, c.Args[2], c.Result, func(x, y float64) float64 { return x + y }, ad.Add)
	}, "real real real => real")
	register("log_mix", true, logMix, "real real real => real", "vector|row_vector|real[] vector|row_vector|real[] => real")
	register("is_nan", true, func(c *Call) (value.Value, error) {
		return elementwise(c.Args[0], c.Result, func(x float64) float64 { return b2f(math.IsNaN(x)) }, func(x *ad.Node) *ad.Node { return ad.NotEqual(x, x) })
	}, "real => int")
	register("is_inf", true, func(c *Call) (value.Value, error) {
		return elementwise(c.Args[0], c.Result, func(x float64) float64 { return b2f(math.IsInf(x, 0)) }, func(x *ad.Node) *ad.Node { return ad.Equal(ad.Abs(x), ad.Scalar(inf)) })
	}, "real => int")
	register("to_int", true, func(c *Call) (value.Value, error) {
		return elementwise(c.Args[0], c.Result, math.Trunc, ad.Trunc)
	}, "real => int", "int => int")
	register("int_step", true, func(c *Call) (value.Value, error) {
		return elementwise(c.Args[0], c.Result, func(x float64) float64 { return b2f(x > 0) }, func(x *ad.Node) *ad.Node { return ad.Greater(x, ad.Scalar(0)) })
	}, "real => int")
	for name, x := range map[string]float64{"pi": math.Pi, "e": math.E, "sqrt2": math.Sqrt2, "log2": math.Ln2, "log10": math.Ln10, "not_a_number": math.NaN(),
		"positive_infinity": inf, "negative_infinity": -inf, "machine_precision": 2.220446049250313e-16} {
		constant := func(c *Call) (value.Value, error) { return value.Real(x), nil }
		if f := functions[name]; f != nil { // log2() beside log2(x)
			one := f.Do
			f.Do = func(c *Call) (value.Value, error) {
				if len(c.Args) == 0 {
					return constant(c)
				}
				return one(c)
			}
			overload(name, typing.Sig(" => real"))
			continue
		}
		register(name, true, constant, " => real")
	}
}

// everywhere is the overload of a function of one number that applies to all elements; with real results even for integers if real is set.
func everywhere(real bool) typing.Overload {
	o := typing.Sig("ints|reals|matrix|int[,]|real[,]|vector[]|row_vector[]|matrix[]|real[,,]|vector[,]|row_vector[,]|matrix[,]|complex => $1")
	if real {
		o = typing.Sig("reals|ints|matrix|int[,]|real[,]|vector[]|row_vector[]|matrix[]|real[,,]|vector[,]|row_vector[,]|matrix[,] => $1~")
	} else {
		keep := o.Result
		o.Result = func(args []typing.Type) (typing.Type, bool) {
			if args[0].Is(typing.Complex) {
				return typing.Of(typing.Real), true
			}
			return keep(args)
		}
	}
	return o
}

// pairs is the overload of a function of two numbers that applies to all elements.
func pairs() typing.Overload {
	o := typing.Sig("reals|ints|matrix|int[,]|real[,]|vector[]|row_vector[]|matrix[] reals|ints|matrix|int[,]|real[,]|vector[]|row_vector[]|matrix[] => real")
	o.Result = func(args []typing.Type) (typing.Type, bool) {
		a, b := reals(args[0]), reals(args[1])
		switch {
		case typing.Equal(a, b):
			return a, true
		case a.Is(typing.Real):
			return b, true
		case b.Is(typing.Real):
			return a, true
		}
		return a, false
	}
	return o
}

// reduced computes one number of all elements of each lane.
func reduced(c *Call, v value.Value, native func([]float64) float64, graph func(x *ad.Node, axes ...int) *ad.Node) (value.Value, error) {
	out := value.Value{Type: c.Result, Lanes: v.Lanes}
	n := v.Size()
	if v.Known() && native != nil {
		for l := range max(1, v.Lanes) {
			out.F = append(out.F, native(v.F[l*n:(l+1)*n]))
		}
		return out, nil
	}
	if len(v.Shape) == 0 {
		v.Type, v.Shape = c.Result, nil
		return v, nil
	}
	out.N = graph(v.Node(), trailing(v)...)
	if v.Known() && out.N.Err() == nil {
		return evaluate(out)
	}
	return out, out.N.Err()
}

// logMix is the logarithm of a mixture of two densities, or of as many as there are weights.
func logMix(c *Call) (value.Value, error) {
	if len(c.Args) == 2 {
		w, lp := c.Args[0], c.Args[1]
		if w.Size() != lp.Size() {
			return w, fmt.Errorf("there are %d weights and %d densities: give each density one weight", w.Size(), lp.Size())
		}
		if w.Size() == 0 {
			return value.Real(-inf), nil
		}
		n := ad.Add(ad.Log(ranked(w, 1)), ranked(lp, 1))
		lanes := lanesOf(w, lp)
		axis := len(n.Shape()) - 1
		return result(c, ad.LogSumExp(n, axis), lanes)
	}
	theta := c.Args[0].Node()
	n := ad.LogAddExp(ad.Add(ad.Log(theta), c.Args[1].Node()), ad.Add(ad.Log1p(ad.Neg(theta)), c.Args[2].Node()))
	return result(c, n, lanesOf(c.Args...))
}
