// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// The function of Faddeeva, w(z) = exp(-z^2) erfc(-i z), by a continued fraction far out and by sums of exponentials near the origin.
//
// References: Gautschi, SIAM J. Numer. Anal. 7, 187 (1970), doi:10.1137/0707012; Zaghloul & Ali, ACM Trans. Math. Softw. 38, 15 (2011), doi:10.1145/2049673.2049679.

// faddeevaStep is the spacing of the sums, small enough that what they leave is below 1e-16.
const faddeevaStep = 0.518321480430086

// Faddeeva returns the real and the imaginary part of w(x + i y). Accuracy: 1e-13 relative to |w|.
func Faddeeva(x, y float64) (re, im float64) {
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN(), math.NaN()
	case y < 0: // w(z) = 2 exp(-z^2) - w(-z)
		re, im = Faddeeva(-x, -y)
		size := 2 * math.Exp((y-x)*(y+x))
		sin, cos := math.Sincos(-2 * x * y)
		return size*cos - re, size*sin - im
	case x < 0: // w(-conj z) = conj w(z)
		re, im = Faddeeva(-x, y)
		return re, -im
	case y > 7 || x > 6 && (y > 0.1 || x > 8 && y > 1e-10 || x > 28):
		return faddeevaFraction(x, y)
	}
	return faddeevaSums(x, y)
}

// faddeevaFraction is i/sqrt(pi) / (z - (1/2)/(z - 1/(z - (3/2)/(z - ...)))).
func faddeevaFraction(x, y float64) (re, im float64) {
	if x > 1e15 || y > 1e15 { // i/(sqrt(pi) z), without overflow
		if x > y {
			t := y / x
			d := 1 / (math.Sqrt(math.Pi) * (x + t*y))
			return t * d, d
		}
		t := x / y
		d := 1 / (math.Sqrt(math.Pi) * (y + t*x))
		return d, t * d
	}
	a, b := x, y
	for k := math.Floor(4 + 180/(x+2*y)); k > 0; k-- {
		d := 0.5 * k / (a*a + b*b)
		a, b = x-a*d, y+b*d
	}
	d := 1 / (math.Sqrt(math.Pi) * (a*a + b*b))
	return b * d, a * d
}

func faddeevaSums(x, y float64) (re, im float64) {
	const a = faddeevaStep
	fall := math.Exp(-x * x)
	sin2, cos2 := math.Sincos(2 * x * y)
	sin := math.Sin(x * y)
	sinc, sinc2 := 1.0, 1.0
	if p := x * y; p != 0 {
		sinc, sinc2 = sin/p, sin2/(2*p)
	}
	var s1, s2, s4 float64 // of exp(-a^2 n^2 - x^2), of both other exponentials, and of their difference times a n
	for n := 1.0; n < 200; n++ {
		at := a * n
		w := 1 / (at*at + y*y)
		up, down := math.Exp(-(at+x)*(at+x)), math.Exp(-(at-x)*(at-x))
		s1 += w * math.Exp(-at*at) * fall
		s2 += w * (up + down)
		s4 += w * at * (down - up)
		if at > x+6.5 {
			break
		}
	}
	const part = 2 * a / math.Pi
	e := fall * Erfcx(y)
	re = e*cos2 + part*(x*sin*fall*sinc-y*cos2*s1+y*s2/2)
	im = -e*sin2 + part*(x*fall*sinc2+y*sin2*s1+s4/2)
	return re, im
}

// CUDAFaddeeva is Faddeeva in C; part 0 is the real one and part 1 the imaginary one.
const CUDAFaddeeva = `__device__ double eu_faddeeva_upper(double x, double y, int part) {
	double a = x, b = y;
	if (y > 7.0 || (x > 6.0 && (y > 0.1 || (x > 8.0 && y > 1e-10) || x > 28.0))) {
		if (x > 1e15 || y > 1e15) {
			double big = x > y ? x : y, t = (x > y ? y : x) / big;
			double d = 1.0 / (1.7724538509055160273 * (big + t * (x > y ? y : x)));
			return (part == 0) == (x > y) ? t * d : d;
		}
		for (double k = floor(4.0 + 180.0 / (x + 2.0 * y)); k > 0.0; k -= 1.0) {
			double d = 0.5 * k / (a * a + b * b);
			a = x - a * d; b = y + b * d;
		}
		return (part == 0 ? b : a) / (1.7724538509055160273 * (a * a + b * b));
	}
	double fall = exp(-x * x), p = x * y, s = sin(p), s2 = sin(2.0 * p), c2 = cos(2.0 * p);
	double sinc = p == 0.0 ? 1.0 : s / p, sinc2 = p == 0.0 ? 1.0 : s2 / (2.0 * p), t1 = 0.0, t2 = 0.0, t4 = 0.0;
	for (double n = 1.0; n < 200.0; n += 1.0) {
		double at = 0.518321480430086 * n, w = 1.0 / (at * at + y * y);
		double up = exp(-(at + x) * (at + x)), down = exp(-(at - x) * (at - x));
		t1 += w * exp(-at * at) * fall; t2 += w * (up + down); t4 += w * at * (down - up);
		if (at > x + 6.5) break;
	}
	double e = fall * exp(y * y) * erfc(y), f = 0.3299737028846291;
	if (part == 0) return e * c2 + f * (x * s * fall * sinc - y * c2 * t1 + 0.5 * y * t2);
	return -e * s2 + f * (x * fall * sinc2 + y * s2 * t1 + 0.5 * t4);
}
__device__ double eu_faddeeva(double x, double y, int part) {
	if (x != x || y != y) return x + y;
	double sign = 1.0, size = 0.0, turn = 0.0, ux = x, uy = y;
	if (y < 0.0) { size = 2.0 * exp((y - x) * (y + x)); turn = -2.0 * x * y; ux = -x; uy = -y; sign = -1.0; }
	double w = eu_faddeeva_upper(fabs(ux), uy, part);
	if (part == 1 && ux < 0.0) w = -w;
	if (size != 0.0) return size * (part == 0 ? cos(turn) : sin(turn)) - w;
	return sign * w;
}
`
