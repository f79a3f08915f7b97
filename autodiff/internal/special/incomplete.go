// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

// The incomplete gamma and beta functions are integrals over s, the logarithm or
// the logit of x,
//
//	e^(a s - e^s)/Gamma(a),  e^(a s) (1 + e^s)^-(a+b)/B(a, b)
//
// of functions whose logarithm is concave. Cut off at s, they are computed from the
// peak s0 of what is left (the mode, or s where the mode was cut off): the value
// there, by Stirling's errors, times the integral of the rest in units of it, by
// Gauss-Legendre panels. Nothing is subtracted, so a tail keeps its digits however
// far out it is. Derivatives with respect to a and b are cumulants of log x and
// log(1-x) under the distribution that is cut off, from the same nodes.

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Incomplete says which integral: beta from the left, gamma from the left or from
// the right, or those of skew_normal.go,
// bessel_order.go and partial_moment.go.
type Incomplete int

const (
	LowerBeta Incomplete = iota
	LowerGamma
	UpperGamma
	skewTail
	besselPeak
	PartialPeak
)

// flank is the integrand on one side of its peak.
type flank struct {
	kind  Incomplete
	right bool
	k     float64 // derivative of the logarithm at the peak, towards larger s; for skew, z^2
	// parameter of the integrand. Beta: a + b; gamma: x at the peak; skew: asinh alpha; Bessel and
	// partial moment: the peak
	c float64
	// further parameters. Beta: x and 1-x at the peak, exchanged on the right; Bessel: 2 nu + 1 and
	// x; partial moment: nu + 1 and m
	p, q float64
}

// at returns the logarithm of the integrand v >= 0 away from the peak, relative to
// the peak, its derivative, and how much log x and log(1-x) have changed.
func (e *flank) at(v float64) (f, d, x, y float64) {
	switch e.kind {
	case skewTail:
		w := e.c + v
		f = -e.k/2*math.Sinh(v)*math.Sinh(e.c+w) - v - math.Log1p(math.Expm1(-2*v)*Sigmoid(-2*e.c))
		return f, -e.k/2*math.Sinh(2*w) - math.Tanh(w), 0, 0
	case besselPeak:
		f, d = e.bessel(v)
		return f, d, 0, 0
	case PartialPeak:
		return e.partial(v)
	case LowerGamma, UpperGamma:
		if e.right {
			r := expm1mx(v)
			return e.k*v - e.c*r, e.k - e.c*math.Expm1(v), v, 0
		}
		return -e.k*v - e.c*expm1mx(-v), -e.k + e.c*math.Expm1(-v), -v, 0
	}
	k, e1, r := e.k, math.Expm1(-v), bernoulli(e.p, e.q, v)
	if e.right {
		k = -k
	}
	f, d = -k*v-e.c*r, -k+e.c*e.p*e.q*e1/(e.q+e.p*math.Exp(-v))
	if x, y = -e.q*v-r, e.p*v-r; e.right {
		x, y = y, x
	}
	return f, d, x, y
}

// expm1mx returns exp(v) - 1 - v.
func expm1mx(v float64) float64 {
	if math.Abs(v) > 0.5 {
		return math.Expm1(v) - v
	}
	return v * v * series(factorialReciprocals[:], v, math.Abs(v))
}

// log1pmx returns log(1 + y) - y, with z = y/(2+y) as -y z + 2(z^3/3 + z^5/5 + ...)
// near 0.
func log1pmx(y float64) float64 {
	if math.Abs(y) > 0.4 {
		return math.Log1p(y) - y
	}
	z := y / (2 + y)
	q := z * z
	return 2*z*q*series(oddReciprocals[:], q, q) - y*z
}

// oddReciprocals are 1/3, 1/5, ..., 1/27; factorialReciprocals are 1/2!, 1/3!, ..., 1/16!.
var oddReciprocals, factorialReciprocals = reciprocals()

func reciprocals() (odd [13]float64, factorial [15]float64) {
	for k := range odd {
		odd[k] = 1 / float64(2*k+3)
	}
	for k, f := 0, 2.0; k < len(factorial); k++ {
		factorial[k] = 1 / f
		f *= float64(k + 3)
	}
	return odd, factorial
}

// series returns c[0] + c[1] x + ... with as many terms as count; size is |x|.
func series(c []float64, x, size float64) float64 {
	switch {
	case size < 2e-6:
		c = c[:4]
	case size < 4e-3:
		c = c[:8]
	}
	s := 0.0
	for k := len(c) - 1; k >= 0; k-- {
		s = s*x + c[k]
	}
	return s
}

// bernoulli returns log(q + p exp(-v)) + p v: what is left of the cumulants of a
// Bernoulli distribution after the mean.
func bernoulli(p, q, v float64) float64 {
	switch {
	case v < 0.5 && p <= q:
		return p*expm1mx(-v) + log1pmx(p*math.Expm1(-v))
	case v < 0.5:
		return q*expm1mx(v) + log1pmx(q*math.Expm1(v))
	case p <= q:
		return math.Log1p(p*math.Expm1(-v)) + p*v
	case v < 700:
		return math.Log1p(q*math.Expm1(v)) - q*v
	}
	return subnormal.Log(q+p*math.Exp(-v)) + p*v
}

// reach returns the point where the integrand has fallen by at least 40 nepers, or limit. The
// logarithm is concave, so Newton's steps from below approach from one side.
func (e *flank) reach(limit float64) float64 {
	v := math.Min(1, limit)
	if e.kind == PartialPeak && e.c > 10 { // its width is at most 1/c
		v = 10 / e.c
	}
	for range 1100 { // at least this far
		if f, _, _, _ := e.at(v); v >= limit || f < -40 {
			break
		}
		v = math.Min(2*v, limit)
	}
	for range 200 {
		f, d, _, _ := e.at(v)
		if f > -44 {
			break
		}
		next := math.Max(v-(f+40)/d, -40/d) // the slope is nowhere steeper, although the difference may cancel
		if !(next < v) {
			break
		}
		if math.IsInf(f, -1) || e.kind >= besselPeak { // not concave
			if next = 0.95 * v; f < -1e4 {
				next = 0.7 * v
			}
		}
		v = next
	}
	return v
}

// moments adds the integrals of (x - mx)^i (y - my)^j times the integrand, for
// i <= m, j <= n, from the peak to reach(limit).
func (e *flank) moments(limit, mx, my float64, m, n int, sum *[maxOrder + 1][maxOrder + 1]float64) {
	end := e.reach(limit)
	if f, _, _, _ := e.at(end); math.IsNaN(f) || math.IsInf(end, 1) { // parameters beyond numbers
		sum[0][0] = math.NaN()
		return
	}
	base := math.Min(end/3, 2)
	if e.kind == PartialPeak { // y^2 varies twice as fast
		base = math.Min(base, 1)
	}
	at, size := 0.0, base
	for at < end {
		if at >= 4 { // a long tail: panels may grow while the function stays tame
			_, before, _, _ := e.at(at)
			for size *= 2; size > base; size /= 2 {
				_, d, _, _ := e.at(at + size)
				if -d*size <= 14 && (size <= 4 || math.Abs(before-d)*size <= 1e-6) {
					break
				}
			}
			size = math.Max(size, base)
		}
		half := math.Min(size, end-at) / 2
		for i, node := range legendreNodes {
			for sign := -1.0; sign <= 1; sign += 2 {
				f, _, x, y := e.at(at + half*(1+sign*node))
				w := half * legendreWeights[i] * math.Exp(f)
				for a := 0; a <= m; a, w = a+1, w*(x-mx) {
					for b, u := 0, w; b <= n; b, u = b+1, u*(y-my) {
						sum[a][b] += u
					}
				}
			}
		}
		if at += size; half < size/2 {
			break
		}
	}
}

// maxOrder is the largest derivative with respect to one of a and b.
const maxOrder = 6

// legendreNodes and weights are the positive half of Gauss-Legendre with 20 points.
var (
	legendreNodes   = [10]float64{0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098, 0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906, 0.963971927277913791, 0.993128599185094925}
	legendreWeights = [10]float64{0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627, 0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636, 0.0406014298003869413, 0.0176140071391521183}
)

// cutOff is an incomplete integral, ready to be computed.
type cutOff struct {
	kind        Incomplete
	a, b        float64
	left, right flank
	over        float64 // distance of the cut beyond the peak
	logPeak     float64 // logarithm at the peak of the density of the whole distribution
	logX, logY  float64 // log x and log(1-x) at the peak, less their means under the whole distribution
}

func cutAt(kind Incomplete, a, b, x float64) cutOff {
	if kind == LowerBeta {
		return cutBeta(a, b, x)
	}
	return cutGamma(kind, a, x)
}

// digammaRest returns log a - digamma(a).
func digammaRest(a float64) float64 { return 0.5/a - StirlingError(1, a) }

func cutGamma(kind Incomplete, a, x float64) cutOff {
	t, r := a, 0.0 // x at the peak, its logarithm less the mode's
	away := LogRatio(x, a)
	w := cutOff{kind: kind, a: a, over: math.Abs(away)}
	if (x > a) == (kind == UpperGamma) {
		t, r, w.over = x, away, 0
	}
	w.left = flank{kind: kind, k: a - t, c: t}
	w.right = flank{kind: kind, k: a - t, c: t, right: true}
	w.logPeak = a*r - (t - a)
	if math.Abs(r) < 0.3 {
		w.logPeak = a * log1pmx((t-a)/a)
	}
	w.logPeak += 0.5*subnormal.Log(a/(2*math.Pi)) - StirlingError(0, a)
	w.logX = r + digammaRest(a)
	return w
}

// LogRatio returns log(x/a), exact near x = a.
func LogRatio(x, a float64) float64 {
	if d := (x - a) / a; math.Abs(d) < 0.5 {
		return math.Log1p(d)
	}
	return subnormal.Log(x) - subnormal.Log(a)
}

func cutBeta(a, b, s float64) cutOff {
	c, mode := a+b, subnormal.Log(a/b)
	w := cutOff{kind: LowerBeta, a: a, b: b}
	p, q, peak := a/c, b/c, mode
	if s < mode {
		p, q, peak = Sigmoid(s), Sigmoid(-s), s
	}
	w.over = s - peak
	k := a*q - b*p
	if d := s - mode; d < 0 && d > -0.5 { // the difference would cancel
		e := math.Expm1(d)
		k = -a / c * b * e / (1 + a/c*e)
	} else if d >= 0 {
		k = 0
	}
	w.left = flank{kind: LowerBeta, k: k, c: c, p: p, q: q}
	w.right = flank{kind: LowerBeta, k: k, c: c, p: q, q: p, right: true}
	dx, dy := -k/a, k/b // relative to the mode
	lx, ly := -Softplus(-peak)+Softplus(-mode), -Softplus(peak)+Softplus(mode)
	if math.Abs(dx) < 0.3 && math.Abs(dy) < 0.3 {
		w.logPeak = a*log1pmx(dx) + b*log1pmx(dy)
		lx, ly = math.Log1p(dx), math.Log1p(dy)
	} else {
		w.logPeak = a*lx + b*ly
	}
	w.logPeak += 0.5*subnormal.Log(a/c*b/(2*math.Pi)) + StirlingError(0, c) - StirlingError(0, a) - StirlingError(0, b)
	w.logX = lx + digammaRest(a) - digammaRest(c)
	w.logY = ly + digammaRest(b) - digammaRest(c)
	return w
}

// moments returns the remaining integrals of both sides.
func (w *cutOff) moments(mx, my float64, m, n int) (sum [maxOrder + 1][maxOrder + 1]float64) {
	l, r := w.over, math.Inf(1)
	if w.kind != UpperGamma {
		l, r = r, l
	}
	if l > 0 {
		w.left.moments(l, mx, my, m, n, &sum)
	}
	if r > 0 {
		w.right.moments(r, mx, my, m, n, &sum)
	}
	return sum
}

// direct returns the derivative of order m in a and n in b of the logarithm of the
// integral.
func (w *cutOff) direct(m, n int) float64 {
	if m+n == 0 {
		sum := w.moments(0, 0, 0, 0)
		return w.logPeak + subnormal.Log(sum[0][0])
	}
	sum := w.moments(0, 0, min(m, 1), min(n, 1))
	mx, my := sum[1][0]/sum[0][0], sum[0][1]/sum[0][0]
	if m+n == 1 {
		return float64(m)*(w.logX+mx) + float64(n)*(w.logY+my)
	}
	k := cumulants(w.moments(mx, my, m, n), m, n)
	if w.kind == LowerBeta {
		k += Polygamma(m+n-1, w.a+w.b)
	}
	if n == 0 {
		k -= Polygamma(m-1, w.a)
	}
	if m == 0 {
		k -= Polygamma(n-1, w.b)
	}
	return k
}

// hazard returns the derivative of the logarithm of the integral with respect to where it is cut, s: the integrand there
// over the integral, both in units of the peak, so that nothing is subtracted however far out the cut is.
func (w *cutOff) hazard() float64 {
	f := 0.0
	if w.over > 0 {
		side := &w.right
		if w.kind == UpperGamma {
			side = &w.left
		}
		f, _, _, _ = side.at(w.over)
	}
	if math.IsInf(f, -1) {
		return 0
	}
	sum := w.moments(0, 0, 0, 0)
	return math.Exp(f) / sum[0][0]
}

// IncompleteHazard returns the derivative with respect to x of LogIncomplete of order 0, without its sign: with respect
// to x itself for gamma, to the logit for beta.
func IncompleteHazard(kind Incomplete, a, b, x float64) float64 {
	switch {
	case !(a > 0 && b > 0) || x != x || kind != LowerBeta && x < 0:
		return math.NaN()
	case math.IsInf(x, 1):
		return truth(kind == UpperGamma)
	case kind == LowerBeta && math.IsInf(x, -1):
		return a
	case x == 0 && kind == LowerGamma:
		return math.Inf(1)
	case x == 0 && kind == UpperGamma: // the density at 0
		return [3]float64{math.Inf(1), 1, 0}[1+compare(a, 1)]
	}
	w := cutAt(kind, a, b, x)
	if kind == LowerBeta {
		return w.hazard()
	}
	return w.hazard() / x
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func compare(x, y float64) int { return int(truth(x > y) - truth(x < y)) }

// GammaShapeScore returns log x - digamma(a), the derivative of a Gamma distribution's log density with respect to its
// shape, which is near 0 where both are large.
func GammaShapeScore(a, x float64) float64 {
	if !(a > 0) || x < 0 {
		return math.NaN()
	}
	return LogRatio(x, a) + digammaRest(a)
}

// BetaShapeScore returns log x - digamma(a) + digamma(a+b) at the logit s of x, the derivative of a Beta distribution's
// log density with respect to a, which is near 0 near the mode.
func BetaShapeScore(a, b, s float64) float64 {
	if !(a > 0 && b > 0) {
		return math.NaN()
	}
	c := a + b
	d := s - subnormal.Log(a/b)
	log := -Softplus(-s) + Softplus(-subnormal.Log(a/b)) // log(x/mode)
	if math.Abs(d) < 0.5 {
		log = d - math.Log1p(a/c*math.Expm1(d))
		if a > b {
			log = -math.Log1p(b / c * math.Expm1(-d))
		}
	}
	return log + digammaRest(a) - digammaRest(c)
}

// LogBetaDensity returns a log x + b log(1-x) - log B(a, b) at the logit s of x.
func LogBetaDensity(a, b, s float64) float64 {
	if !(a > 0 && b > 0) || s != s {
		return math.NaN()
	}
	if s > subnormal.Log(a/b) {
		a, b, s = b, a, -s
	}
	if math.IsInf(s, -1) {
		return s
	}
	w := cutBeta(a, b, s)
	return w.logPeak
}

// cumulants returns the joint cumulant of order (m, n), from moments about the
// mean, by E[x^i y^j] as a sum over cumulants of the first factor.
func cumulants(sum [maxOrder + 1][maxOrder + 1]float64, m, n int) float64 {
	var k [maxOrder + 1][maxOrder + 1]float64
	for i := 0; i <= m; i++ {
		for j := 0; j <= n; j++ {
			if i+j < 2 {
				continue
			}
			k[i][j] = sum[i][j] / sum[0][0]
			for p := 0; p <= i; p++ {
				for q := 0; q <= j; q++ {
					if p+q < 2 || p+q == i+j {
						continue
					}
					c := Binomial(i-1, p-1) * Binomial(j, q)
					if i == 0 {
						c = Binomial(j-1, q-1)
					}
					k[i][j] -= c * k[p][q] * sum[i-p][j-q] / sum[0][0]
				}
			}
		}
	}
	return k[m][n]
}

// Binomial returns n choose k.
func Binomial(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// LogIncomplete is the derivative of order m in a and n in b of the logarithm of
// the integral, cut at x (gamma) or at the logit x (beta); where that is near 0 it
// comes from the other tail.
func LogIncomplete(kind Incomplete, m, n int, a, b, x float64) float64 {
	other, oa, ob, ox, om, on := LowerBeta, b, a, -x, n, m
	first := -math.MaxFloat64 // the least x, and less than it
	if kind != LowerBeta {
		other, oa, ob, ox, om, on = LowerGamma+UpperGamma-kind, a, 1, x, m, n
		first = 5e-324
	}
	if !(a > 0 && b > 0) || x != x || m > maxOrder || n > maxOrder || kind != LowerBeta && x < 0 {
		return math.NaN()
	}
	if x < first || x > math.MaxFloat64 {
		if (x < first) == (kind != UpperGamma) { // nothing is left
			if n > 0 || m > 1 {
				return 0
			}
			return math.Inf(int(2*truth(m == 1 && kind == UpperGamma) - 1)) // log x, as its derivative in a is
		}
		return 0
	}
	w := cutAt(kind, a, b, x)
	if m+n > 1 || w.over == 0 && (a > 0.3 || w.direct(0, 0) < -0.7) { // small shapes have tails near 1 before their mode
		return w.direct(m, n)
	}
	v := cutAt(other, oa, ob, ox)
	rest := v.direct(0, 0)
	if rest > -0.7 {
		return w.direct(m, n)
	}
	value := math.Log1p(-math.Exp(rest))
	if m+n == 0 {
		return value
	}
	return -math.Exp(rest-value) * v.direct(om, on)
}
