package autodiff

import "math"

// LogBesselIScaled returns log I_nu(x) - eta for the modified Bessel function of
// order nu >= 0 at x > 0, without its exponential growth or fall in either,
//
//	eta = w + nu log(x/(nu + w)), w = sqrt(nu^2 + x^2)
//
// (https://dlmf.nist.gov/10.41.E3): close to -log(2 pi w)/2.
//
// Gradient: I_(nu+1)/I_nu + (nu - w)/x for x; none for the order.
func LogBesselIScaled(nu, x *Node) *Node { return apply(besselIeOp, nu, x) }

var besselIeOp *Op

// logBesselIScaled integrates, with t = tanh(w),
//
//	I_nu(x) = (x/2)^nu/(sqrt(pi) Gamma(nu+1/2)) integral of exp(x t) (1-t^2)^(nu-1/2)
//
// (https://dlmf.nist.gov/10.32.E2) from its peak to both sides. With h = nu + 1/2
// the value there is, by Stirling's error s, eta(h) + log(h/(pi^2 x))/2 - s(h).
func logBesselIScaled(nu, x float64) float64 {
	if !(nu >= 0 && x > 0) || math.IsInf(x, 1) {
		return math.NaN()
	}
	h := nu + 0.5
	t := x / (h + math.Hypot(h, x)) // x (1 - t^2) = 2 h t
	e := flank{kind: besselPeak, c: math.Asinh(t / math.Sqrt(2*h*t/x)), p: 2 * h, q: x}
	var sum [maxOrder + 1][maxOrder + 1]float64
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	e.right = true
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	return etaStep(nu, 0.5, x) + 0.5*math.Log(h/x) - math.Log(math.Pi) - stirlingError(0, h) + math.Log(sum[0][0])
}

// etaStep returns eta(nu + d) - eta(nu).
func etaStep(nu, d, x float64) float64 {
	w, v := math.Hypot(nu, x), math.Hypot(nu+d, x)
	dw := d * (2*nu + d) / (w + v)
	return dw + d*math.Log(x/(nu+d+v)) - nu*math.Log1p((d+dw)/(nu+w))
}

// besselSlope is the derivative of logBesselIScaled with respect to x.
func besselSlope(nu, x float64) float64 {
	ratio := math.Exp(logBesselIScaled(nu+1, x) - logBesselIScaled(nu, x) + etaStep(nu, 1, x))
	return ratio - x/(nu+math.Hypot(nu, x))
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
	helpers := cudaStirling + cudaPolygamma + cudaLog1pmx + cudaIncomplete + cudaBesselOrder
	sample := func(op *Op) func(in Source) []*Node {
		return func(in Source) []*Node {
			return []*Node{apply(op, Const([]float64{0, 1, 2, 7}), in(0.2, 12, 4))}
		}
	}
	besselIeOp = Binary{
		Name: "log_bessel_i_scaled", CPU: logBesselIScaled, CUDA: "eu_log_bessel_i(x, y)", Helper: helpers,
		VJP: func(g, _, nu, x *Node) (dnu, dx *Node) {
			return nil, Mul(g, apply(besselSlopeOp, nu, x))
		},
		Domain: Interval{0.2, 12},
	}.define()
	besselIeOp.Sample = sample(besselIeOp)
	besselSlopeOp = Binary{
		Name: "log_bessel_i_slope", CPU: besselSlope, CUDA: "eu_bessel_slope(x, y)", Helper: helpers,
		// With l = I'/I = slope + w/x: l' = 1 + nu^2/x^2 - l/x - l^2, and (w/x)' = -nu^2/(x^2 w).
		VJP: func(g, y, nu, x *Node) (dnu, dx *Node) {
			w := Hypot(nu, x)
			l := Add(y, Div(w, x))
			r := Square(Div(nu, x))
			second := Sub(Shift(r, 1), Add(Div(l, x), Square(l)))
			return nil, Mul(g, Add(second, Div(r, w)))
		},
		Domain: Interval{0.2, 12},
	}.define()
	besselSlopeOp.Sample = sample(besselSlopeOp)
}

var besselSlopeOp *Op

const cudaBesselOrder = `
__device__ double eu_eta_step(double nu, double d, double x) {
	double w = hypot(nu, x), v = hypot(nu + d, x), dw = d * (2.0 * nu + d) / (w + v);
	return dw + d * log(x / (nu + d + v)) - nu * log1p((d + dw) / (nu + w));
}
__device__ double eu_log_bessel_i(double nu, double x) {
	if (!(nu >= 0.0 && x > 0.0) || isinf(x)) return NAN;
	double h = nu + 0.5, t = x / (h + hypot(h, x));
	eu_flank e = {4, 0, 0.0, asinh(t / sqrt(2.0 * h * t / x)), 2.0 * h, x};
	double sum[7][7] = {{0.0}};
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	e.right = 1;
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	return eu_eta_step(nu, 0.5, x) + 0.5 * log(h / x) - 1.1447298858494001741 - eu_stirling_error(0, h) + log(sum[0][0]);
}
__device__ double eu_bessel_slope(double nu, double x) {
	double ratio = exp(eu_log_bessel_i(nu + 1.0, x) - eu_log_bessel_i(nu, x) + eu_eta_step(nu, 1.0, x));
	return ratio - x / (nu + hypot(nu, x));
}
`
