package dist

import "math"

// exponential draws from the exponential distribution of rate 1.
func exponential(src Source) float64 { return -math.Log(open(src)) }

// logGamma draws the logarithm of a Gamma variable of shape a and rate 1: small
// shapes give numbers far below the least positive one.
//
// Reference: Marsaglia and Tsang, doi 10.1145/358407.358414; a shape below 1 is
// that of a+1 times a uniform number to the power of 1/a.
func logGamma(src Source, a float64) float64 {
	switch {
	case !(a > 0):
		return math.NaN()
	case a > 1e30: // the distribution has no width left
		return math.Log(a)
	case a < 1:
		return logGamma(src, a+1) - exponential(src)/a
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := src.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(open(src)) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d) + math.Log(v)
		}
	}
}

// gammaRand draws from the Gamma distribution of shape a and rate 1.
func gammaRand(src Source, a float64) float64 { return math.Exp(logGamma(src, a)) }

// logitBeta draws the logit of a Beta variable.
func logitBeta(src Source, a, b float64) float64 { return logGamma(src, a) - logGamma(src, b) }

// chance reports true with probability p.
func chance(src Source, p float64) bool { return src.Float64() < p }

// words makes random words of a Source, for gonum's samplers.
type words struct{ src Source }

// Uint64 returns 64 random bits: those of src where it has them, else of two
// numbers.
func (w words) Uint64() uint64 {
	if u, ok := w.src.(interface{ Uint64() uint64 }); ok {
		return u.Uint64()
	}
	return uint64(w.src.Float64()*(1<<32))<<32 | uint64(w.src.Float64()*(1<<32))
}
