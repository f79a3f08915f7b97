// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Quantile returns the u-quantile, the smallest x with CDF(x) >= u, with p as in Rand. It
// uses bisection if there is no closed form. The result is NaN if the distribution has no
// CDF or u is not in 0..1.
func (d Dist) Quantile(u float64, p []float64) float64 {
	if !(u >= 0 && u <= 1) || d.QuantileOf == nil && d.CDFOf == nil || len(p) != d.sizeOfParams() {
		return math.NaN()
	}
	lo, hi := d.ends(p)
	cdf := func(x float64) float64 { return d.CDF(x, p) }
	switch {
	case u == 0:
		return lo
	case u == 1:
		return hi
	case d.QuantileOf != nil:
		return d.QuantileOf(u, p)
	case d.Discrete:
		return bisectWhole(u, cdf, lo, hi)
	}
	return bisect(u, cdf, lo, hi)
}

// bisect returns the number in lo..hi at which cdf reaches u. It uses Chandrupatla's
// method, which takes inverse quadratic steps where they are safe and halves the interval
// otherwise.
//
// Reference: Chandrupatla, doi 10.1016/S0965-9978(96)00051-8.
func bisect(u float64, cdf func(x float64) float64, lo, hi float64) float64 {
	a, b := bracket(u, cdf, lo, hi)
	fa, fb := cdf(a)-u, cdf(b)-u
	if fa >= 0 || fb < 0 || a >= b {
		return b
	}
	next := between(a, b)
	for range 2200 {
		f := cdf(next) - u
		var c, fc float64
		if (f < 0) == (fa < 0) {
			c, fc = a, fa
		} else {
			c, fc, b, fb = b, fb, a, fa
		}
		a, fa = next, f
		if fa == 0 || math.Abs(b-a) <= 2e-16*math.Abs(a) || between(min(a, b), max(a, b)) == a || between(min(a, b), max(a, b)) == b {
			break
		}
		next = between(min(a, b), max(a, b))
		// Take an inverse quadratic step through a, b and c if it stays inside.
		xi, phi := (a-b)/(c-b), (fa-fb)/(fc-fb)
		if phi*phi < xi && (1-phi)*(1-phi) < 1-xi {
			t := fa/(fb-fa)*(fc/(fb-fc)) + (c-a)/(b-a)*(fa/(fc-fa))*(fb/(fc-fb))
			if x := a + t*(b-a); x > min(a, b) && x < max(a, b) {
				next = x
			}
		}
	}
	if fa < 0 && math.Abs(fb) < math.Abs(fa) {
		return b
	}
	return a
}

// bracket returns finite lo < hi with cdf(lo) < u <= cdf(hi), within the range of
// float64.
func bracket(u float64, cdf func(x float64) float64, lo, hi float64) (a, b float64) {
	if math.IsInf(lo, -1) {
		for lo = min(-1, hi-1); cdf(lo) >= u && lo > -math.MaxFloat64; {
			lo = max(2*lo, -math.MaxFloat64)
		}
	}
	if math.IsInf(hi, 1) {
		for hi = max(1, lo+1); cdf(hi) < u && hi < math.MaxFloat64; {
			hi = min(2*hi, math.MaxFloat64)
		}
	}
	return lo, hi
}

// between returns a midpoint of lo..hi, the geometric mean if the interval spans orders
// of magnitude.
func between(lo, hi float64) float64 {
	switch {
	case lo >= 0 && lo < hi/4:
		return math.Sqrt(max(lo, 5e-324)) * math.Sqrt(hi)
	case hi <= 0 && hi > lo/4:
		return -math.Sqrt(-lo) * math.Sqrt(max(-hi, 5e-324))
	}
	return lo + (hi-lo)/2
}

// bisectWhole is bisect for integers. It lowers u slightly to allow for rounding in sums
// of probabilities.
func bisectWhole(u float64, cdf func(x float64) float64, lo, hi float64) float64 {
	u -= 1e-14 * min(u, 1-u)
	lo, hi = bracket(u, cdf, lo, hi)
	lo, hi = math.Floor(lo), math.Ceil(hi)
	if cdf(lo) >= u {
		return lo
	}
	for hi-lo > 1 {
		mid := math.Floor(lo + (hi-lo)/2)
		if mid <= lo || mid >= hi {
			break
		}
		if cdf(mid) < u {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// ends returns the ends of the support at parameter values p. An end that is a Node must
// be a constant or a parameter, unless the distribution has its own bounds.
func (d Dist) ends(p []float64) (lo, hi float64) {
	if d.BoundsOf != nil {
		return d.BoundsOf(p)
	}
	return d.end(d.Support.Lower, p, math.Inf(-1)), d.end(d.Support.Upper, p, math.Inf(1))
}

func (d Dist) end(n *ad.Node, p []float64, infinite float64) float64 {
	at := 0
	for i, q := range d.Params {
		if q == n && at < len(p) {
			return p[at]
		}
		at += d.valueSize(i)
	}
	return number(n, infinite)
}

// valueSize returns the number of elements in one value of parameter i.
func (d Dist) valueSize(i int) int {
	if d.ParamEvent == nil || d.ParamEvent[i] == 0 {
		return 1
	}
	s := d.Params[i].Shape()
	return s[max(0, len(s)-d.ParamEvent[i]):].Size()
}
