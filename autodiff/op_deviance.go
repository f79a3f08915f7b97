package autodiff

import "math"

// PoissonDeviance returns k log(k/m) - (k - m) for k >= 0 and m > 0, half the unit
// deviance of a Poisson law of mean m: how far log p(k) falls below its largest
// value. It is exact near k = m, where the terms cancel; m at k = 0.
//
// Gradient: log(k/m) for k, 1 - k/m for m.
//
// Reference: Loader, "Fast and accurate computation of binomial probabilities"
// (2000).
func PoissonDeviance(k, m *Node) *Node { return apply(devianceOp, k, m) }

// LogFactorialRest returns log Gamma(k+1) - (k log k - k) for k >= 0, which is 0 at
// k = 0 and grows as log(2 pi k)/2: log k! = k log k - k + LogFactorialRest(k)
// splits binomial coefficients into parts that do not cancel.
//
// Gradient: Digamma(k+1) - log k.
func LogFactorialRest(k *Node) *Node { return apply(factorialOp, k) }

var devianceOp, factorialOp *Op

func poissonDeviance(k, m float64) float64 {
	switch d := m - k; {
	case k == 0 || math.IsInf(m, 1):
		return m
	case math.Abs(d) < 0.4*k:
		return -k * log1pmx(d/k)
	default:
		return k*(math.Log(k)-math.Log(m)) + d
	}
}

func logFactorialRest(k float64) float64 {
	if k < 1e-3 { // Stirling's error would be large
		if k == 0 {
			return 0
		}
		return lgamma(k+1) - k*math.Log(k) + k
	}
	return stirlingError(0, k) + 0.5*math.Log(2*math.Pi*k)
}

func init() {
	devianceOp = Binary{
		Name:   "poisson_deviance",
		CPU:    poissonDeviance,
		CUDA:   "eu_poisson_deviance(x, y)",
		Helper: cudaLog1pmx + cudaPoissonDeviance,
		VJP: func(g, _, k, m *Node) (dk, dm *Node) {
			return Mul(g, Sub(Log(k), Log(m))), Mul(g, Div(Sub(m, k), m))
		},
		Domain: Interval{0.3, 5},
	}.define()
	factorialOp = Unary{
		Name:   "log_factorial_rest",
		CPU:    logFactorialRest,
		CUDA:   "eu_log_factorial_rest(x)",
		Helper: cudaStirling + cudaFactorialRest,
		VJP:    func(g, _, k *Node) *Node { return Mul(g, Sub(Digamma(Shift(k, 1)), Log(k))) },
		Domain: Interval{0.3, 14},
	}.define()
}

const cudaLog1pmx = `
__device__ double eu_log1pmx(double y) {
	if (fabs(y) > 0.4) return log1p(y) - y;
	double z = y / (2.0 + y), q = z * z, s = 0.0;
	for (double k = 27.0; k >= 3.0; k -= 2.0) s = s * q + 1.0 / k;
	return 2.0 * z * q * s - y * z;
}
`

const cudaPoissonDeviance = `
__device__ double eu_poisson_deviance(double k, double m) {
	double d = m - k;
	if (k == 0.0 || m > 1.7976931348623157e308) return m;
	if (fabs(d) < 0.4 * k) return -k * eu_log1pmx(d / k);
	return k * (log(k) - log(m)) + d;
}
`

const cudaFactorialRest = `
__device__ double eu_log_factorial_rest(double k) {
	if (k < 1e-3) return k == 0.0 ? 0.0 : lgamma(k + 1.0) - k * log(k) + k;
	return eu_stirling_error(0, k) + 0.5 * log(6.28318530717958647693 * k);
}
`
