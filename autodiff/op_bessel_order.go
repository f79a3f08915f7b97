package autodiff

import "math"

// LogBesselIe returns log(exp(-x) I_nu(x)), the logarithm of the scaled modified
// Bessel function of order nu >= 0 at x >= 0.
//
// Gradient: I_(nu+1)/I_nu + nu/x - 1 for x; none for the order.
func LogBesselIe(nu, x *Node) *Node { return apply(besselIeOp, nu, x) }

var besselIeOp *Op

// logBesselIe integrates, with t = tanh(w),
//
//	I_nu(x) = (x/2)^nu/(sqrt(pi) Gamma(nu+1/2)) integral of exp(x t) (1-t^2)^(nu-1/2)
//
// (https://dlmf.nist.gov/10.32.E2) from its peak to both sides.
func logBesselIe(nu, x float64) float64 {
	switch {
	case !(nu >= 0 && x >= 0) || math.IsInf(x, 1):
		return math.NaN()
	case x == 0 && nu == 0:
		return 0
	case x == 0:
		return math.Inf(-1)
	}
	m := 2*nu + 1
	t := 2 * x / (m + math.Hypot(m, 2*x)) // x (1 - t^2) = m t
	rest := t * m / x                     // 1 - t^2
	e := flank{kind: besselPeak, c: math.Asinh(t / math.Sqrt(rest)), p: m, q: x}
	var sum [maxOrder + 1][maxOrder + 1]float64
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	e.right = true
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	return nu*math.Log(x/2) - lgamma(nu+0.5) - 0.5*math.Log(math.Pi) + m/2*math.Log(rest) - x*rest/(1+t) + math.Log(sum[0][0])
}

// bessel is at for besselPeak: -(2 nu + 1) log cosh(w) + x tanh(w), relative to the
// peak.
func (e *flank) bessel(v float64) (f, d float64) {
	u, side := v, 1.0
	if !e.right {
		u, side = -v, -1
	}
	w := e.c + u
	h := 1 / math.Cosh(w)
	r := v + math.Log1p(math.Expm1(-2*v)*sigmoid(-2*side*e.c)) // log cosh(w)/cosh(c)
	return -e.p*r + e.q*math.Sinh(u)*h/math.Cosh(e.c), side * (-e.p*math.Tanh(w) + e.q*h*h)
}

func init() {
	besselIeOp = Binary{
		Name:   "log_bessel_ie",
		CPU:    logBesselIe,
		CUDA:   "eu_log_bessel_ie(x, y)",
		Helper: cudaStirling + cudaPolygamma + cudaLog1pmx + cudaIncomplete + cudaBesselOrder,
		VJP: func(g, y, nu, x *Node) (dnu, dx *Node) {
			ratio := Exp(Sub(LogBesselIe(Shift(nu, 1), x), y))
			return nil, Mul(g, Add(Shift(ratio, -1), Div(nu, x)))
		},
		Domain: Interval{0.2, 12},
	}.define()
	besselIeOp.Sample = func(in Source) []*Node {
		return []*Node{LogBesselIe(Const([]float64{0, 1, 2, 7}), in(0.2, 12, 4))}
	}
}

const cudaBesselOrder = `
__device__ double eu_log_bessel_ie(double nu, double x) {
	if (!(nu >= 0.0 && x >= 0.0) || isinf(x)) return NAN;
	if (x == 0.0) return nu == 0.0 ? 0.0 : -INFINITY;
	double m = 2.0 * nu + 1.0, t = 2.0 * x / (m + hypot(m, 2.0 * x)), rest = t * m / x;
	eu_flank e = {4, 0, 0.0, asinh(t / sqrt(rest)), m, x};
	double sum[7][7] = {{0.0}};
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	e.right = 1;
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	return nu * log(x / 2.0) - lgamma(nu + 0.5) - 0.57236494292470008707 + m / 2.0 * log(rest) - x * rest / (1.0 + t) + log(sum[0][0]);
}
`
