package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Quantile returns the u-quantile for parameter values p: the smallest x with
// CDF(x) >= u, by bisection where it has no closed form. NaN where the law has no
// distribution function or u is not in 0..1.
func (d Dist) Quantile(u float64, p []float64) float64 {
	if !(u >= 0 && u <= 1) || d.quantile == nil && d.cdf == nil {
		return math.NaN()
	}
	lo, hi := d.ends(p)
	switch {
	case u == 0:
		return lo
	case u == 1:
		return hi
	case d.quantile != nil:
		return d.quantile(u, p)
	case d.Discrete:
		return d.wholeQuantile(u, p, lo, hi)
	}
	lo, hi = d.bracket(u, p, lo, hi)
	for range 2000 {
		mid := between(lo, hi)
		if mid == lo || mid == hi {
			break
		}
		if d.CDF(mid, p) < u {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// bracket returns finite lo < hi with CDF(lo) < u <= CDF(hi), as far as numbers go.
func (d Dist) bracket(u float64, p []float64, lo, hi float64) (a, b float64) {
	if math.IsInf(lo, -1) {
		for lo = min(-1, hi-1); d.CDF(lo, p) >= u && lo > -math.MaxFloat64; {
			lo = max(2*lo, -math.MaxFloat64)
		}
	}
	if math.IsInf(hi, 1) {
		for hi = max(1, lo+1); d.CDF(hi, p) < u && hi < math.MaxFloat64; {
			hi = min(2*hi, math.MaxFloat64)
		}
	}
	return lo, hi
}

// between halves lo..hi: geometrically where it spans orders of magnitude.
func between(lo, hi float64) float64 {
	switch {
	case lo >= 0 && hi > 4*lo && lo < hi/4:
		return math.Sqrt(max(lo, 5e-324)) * math.Sqrt(hi)
	case hi <= 0 && lo < 4*hi:
		return -math.Sqrt(-lo) * math.Sqrt(max(-hi, 5e-324))
	}
	return lo + (hi-lo)/2
}

// wholeQuantile is Quantile of a discrete law.
func (d Dist) wholeQuantile(u float64, p []float64, lo, hi float64) float64 {
	u -= 1e-14 * min(u, 1-u) // a sum of probabilities is rounded
	lo, hi = d.bracket(u, p, lo, hi)
	lo, hi = math.Floor(lo), math.Ceil(hi)
	if d.CDF(lo, p) >= u {
		return lo
	}
	for hi-lo > 1 {
		mid := math.Floor(lo + (hi-lo)/2)
		if mid == lo || mid == hi {
			break
		}
		if d.CDF(mid, p) < u {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// ends returns the ends of the support at parameter values p: an end that is a
// Node is a constant or a parameter.
func (d Dist) ends(p []float64) (lo, hi float64) {
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

// valueSize returns how many numbers one value of parameter i has.
func (d Dist) valueSize(i int) int {
	if d.paramEvent == nil || d.paramEvent[i] == 0 {
		return 1
	}
	s := d.Params[i].Shape()
	return s[max(0, len(s)-d.paramEvent[i]):].Size()
}
