// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// BesselRatio is J_nu(x)/x^nu for nu = 0, 1/2, 1, ..., an even function of x: by its power series where x is small, and
// otherwise by the recurrence in the order, which is stable for orders below x. Other orders are rounded down to one of
// these; it is NaN for orders below 0. From order 160, its largest value, which is that at 0, is below all numbers.
func BesselRatio(nu, x float64) float64 {
	nu, x = math.Floor(2*nu)/2, math.Abs(x)
	switch {
	case !(nu >= 0) || x != x:
		return math.NaN()
	case nu >= 160 || x > math.MaxFloat64:
		return 0
	}
	if x < 8 && (x < 4 || x < 1.5*nu) && 2*nu < float64(len(besselSeries)) {
		return besselSeries[int(2*nu)].at(x)
	}
	if x < 4 || x < 1.5*nu {
		term, sum, quarter := besselFirst(nu), 0.0, -x*x/4
		for k := 1.0; k < 200; k++ {
			sum += term
			term *= quarter / (k * (nu + k))
			if math.Abs(term) < 1e-18*math.Abs(sum) && k > x {
				break
			}
		}
		return sum
	}
	var a, b, order float64 // of two successive orders
	if nu == math.Floor(nu) {
		a, b, order = math.J0(x), math.J1(x), 1
	} else {
		f := math.Sqrt(2 / (math.Pi * x))
		sin, cos := math.Sincos(x)
		a, b, order = f*sin, f*(sin/x-cos), 1.5
	}
	if nu < 1 {
		b = a
	}
	for ; order < nu; order++ {
		a, b = b, 2*order/x*b-a
	}
	return b / halfPower(x, nu)
}

// evenSeries holds the coefficients of a power series in x^2.
type evenSeries [32]float64

// besselSeries holds the series of BesselRatio for orders that are multiples of 1/2.
var besselSeries [32]evenSeries

func init() {
	for i := range besselSeries {
		nu := float64(i) / 2
		c := besselFirst(nu)
		for k := range besselSeries[i] {
			besselSeries[i][k] = c
			c /= -4 * float64(k+1) * (nu + float64(k+1))
		}
	}
}

// besselTerms says how many terms matter where x is below 1, 2, ...: an even number, so that the next is below 1e-20 of the largest.
var besselTerms = func() (out [8]int) {
	for i := range out {
		for term, k := 1.0, 1; term > 1e-20 || out[i]%2 != 0; k++ {
			x := float64(i + 1)
			term *= x * x / 4 / float64(k*k)
			out[i] = k
		}
	}
	return out
}()

// at returns the sum of the series for x in [0, 8), the even and the odd terms side by side.
func (s *evenSeries) at(x float64) float64 {
	z := x * x
	square, even, odd := z*z, 0.0, 0.0
	for k := besselTerms[int(x)] - 2; k >= 0; k -= 2 {
		even, odd = even*square+s[k], odd*square+s[k+1]
	}
	return even + z*odd
}

// besselFirst returns the first term of the series for an order, its value at 0.
func besselFirst(nu float64) float64 { return math.Exp(-nu*math.Ln2 - logGammaOne(nu)) }

// halfPower returns x^nu for an order that is a multiple of 1/2.
func halfPower(x, nu float64) float64 {
	if !(nu >= 0 && nu <= 8) {
		return math.Pow(x, nu)
	}
	p := 1.0
	for range int(nu) {
		p *= x
	}
	if nu != math.Floor(nu) {
		p *= math.Sqrt(x)
	}
	return p
}

func logGammaOne(nu float64) float64 {
	l, _ := math.Lgamma(nu + 1)
	return l
}

// CUDABesselRatio is BesselRatio in C.
const CUDABesselRatio = `__device__ double eu_bessel_ratio(double nu, double x) {
	x = fabs(x);
	if (!(nu >= 0.0) || x != x) return nu + x + NAN;
	if (nu >= 160.0 || x > 1.7976931348623157e308) return 0.0;
	if (x < 4.0 || x < 1.5 * nu) {
		double term = exp(-nu * 0.693147180559945309417 - lgamma(nu + 1.0)), sum = 0.0;
		for (double k = 1.0; k < 200.0; k += 1.0) {
			sum += term;
			term *= -x * x / (4.0 * k * (nu + k));
			if (fabs(term) < 1e-18 * fabs(sum) && k > x) break;
		}
		return sum;
	}
	double a, b, order;
	if (nu == floor(nu)) {
		a = j0(x); b = j1(x); order = 1.0;
	} else {
		double f = sqrt(0.636619772367581343076 / x), s = sin(x), c = cos(x);
		a = f * s; b = f * (s / x - c); order = 1.5;
	}
	if (nu < 1.0) b = a;
	for (; order < nu; order += 1.0) { double next = 2.0 * order / x * b - a; a = b; b = next; }
	return b / pow(x, nu);
}
`
