// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"slices"
	"sort"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Thresholds of the decision whether standard deviations were computed from the observed values.
const (
	// muchLess is the largest scatter of the standard deviations about a function of the observed
	// values, in units of the scatter that there would be if they had another origin.
	muchLess = 0.25
	// roundingScatter is the relative scatter of standard deviations that is only the rounding of files.
	roundingScatter = 1e-6
	// fewestSteps is the number of changes of the standard deviations along the observed values from
	// which they are said to follow them: if they are constant except for a few, those few may lie
	// at an end by chance.
	fewestSteps = 4
)

// sigmaOfValue returns the standard deviation as a function of the value if the standard deviations
// were computed from the observed values y, and nil if they were not.
//
// Standard deviations that were computed from the observed values are a smooth function of these. If
// they were computed from the true values or from the predicted ones instead, they scatter about
// every smooth function of the observed values, as far as the noise of the values moves the function,
// and they scatter less about a function of the predicted values. The function may be one of the
// values or, where some of these are negative, of their absolute values.
//
// The roots of counts are known by their values, with the error of 1 that a count of 0 has by convention. At a predicted value they are its root, also below 1.
func (d *Data) sigmaOfValue(y []float64) func(float64) float64 {
	if d.rootsOf(y) {
		return math.Sqrt
	}
	if sigmaAt := d.sigmaOf(y, d.Mean); sigmaAt != nil {
		return sigmaAt
	}
	if slices.Min(y) >= 0 {
		return nil
	}
	if sigmaAt := d.sigmaOf(absolute(y), absolute(d.Mean)); sigmaAt != nil {
		return func(v float64) float64 { return sigmaAt(math.Abs(v)) }
	}
	return nil
}

// rootsOf reports whether the standard deviations are the roots of counts y, to within rounding errors.
func (d *Data) rootsOf(y []float64) bool {
	for i, v := range y {
		if n := math.Round(v); n < 0 || math.Abs(v-n) > roundingScatter*max(1, n) || math.Abs(sqr(d.Sigma[i])/max(n, 1)-1) > roundingScatter {
			return false
		}
	}
	return true
}

// sigmaOf is sigmaOfValue for observed values y and predicted values mean, or the absolute values of
// both.
func (d *Data) sigmaOf(y, mean []float64) func(float64) float64 {
	order := sorted(y)
	if !follows(d.Sigma, order) {
		return nil
	}
	for _, family := range []smoothFamily{powers, variances} {
		if d.computedFrom(y, mean, family) {
			return func(v float64) float64 { return interpolated(y, d.Sigma, order, v) }
		}
	}
	return nil
}

// computedFrom reports whether the standard deviations scatter about a smooth function of the
// observed values y much less than about the same kind of function of the predicted values mean, and
// much less than the noise of y would move that function.
func (d *Data) computedFrom(y, mean []float64, family smoothFamily) bool {
	ofObserved, ofPredicted := family(y, d.Sigma), family(mean, d.Sigma)
	if ofObserved == nil || ofPredicted == nil {
		return false
	}
	aboutObserved, aboutPredicted, noise := 0.0, 0.0, 0.0 // sums of squares of logarithms
	for i, s := range d.Sigma {
		aboutObserved += sqr(math.Log(s / ofObserved(y[i])))
		aboutPredicted += sqr(math.Log(s / ofPredicted(mean[i])))
		noise += sqr(math.Log(ofObserved(y[i]+s/10)/ofObserved(y[i])) * 10)
	}
	if math.IsNaN(aboutPredicted) { // a variance below 0
		aboutPredicted = math.Inf(1)
	}
	n := float64(len(y))
	otherwise := math.Sqrt(min(aboutPredicted, noise) / n)
	return math.Sqrt(aboutObserved/n) < muchLess*otherwise && otherwise > roundingScatter
}

// smoothFamily fits standard deviations sigma with a smooth function of the values v; it returns nil if the
// values do not suit it.
type smoothFamily func(v, sigma []float64) func(float64) float64

// powers fits the logarithm of sigma with a polynomial of log v, of the third degree for 12 points or
// more; nil if some v is not above 0.
func powers(v, sigma []float64) func(float64) float64 {
	if slices.Min(v) <= 0 {
		return nil
	}
	middle := math.Log(slices.Min(v))/2 + math.Log(slices.Max(v))/2
	terms := func(v float64) []float64 {
		x := math.Log(v) - middle
		return []float64{1, x, x * x, x * x * x}[:min(4, len(sigma)/4+1)]
	}
	coef := regress(len(sigma), func(i int) ([]float64, float64) { return terms(v[i]), math.Log(sigma[i]) })
	return func(v float64) float64 { return math.Exp(dot(terms(v), coef)) }
}

// variances fits the square of sigma with a quadratic polynomial of v, which describes constant
// errors, roots of counts and percentages together. Each point counts relative to the square of its
// sigma. It returns nil if all v are 0.
func variances(v, sigma []float64) func(float64) float64 {
	most := linalg.MaxAbs(v)
	if most == 0 {
		return nil
	}
	terms := func(v float64) []float64 { return []float64{1, v / most, sqr(v / most)} }
	coef := regress(len(sigma), func(i int) ([]float64, float64) {
		t := terms(v[i])
		for k := range t {
			t[k] /= sqr(sigma[i])
		}
		return t, 1
	})
	return func(v float64) float64 { return math.Sqrt(dot(terms(v), coef)) }
}

// regress returns the coefficients of the terms that fit n values best in the sense of least squares.
func regress(n int, row func(i int) (terms []float64, value float64)) []float64 {
	first, _ := row(0)
	d := Data{Z: make([]float64, n), Names: make([]string, len(first)), Jacobian: make([]float64, n*len(first))}
	for i := range n {
		terms, value := row(i)
		d.Z[i] = value
		for k, t := range terms {
			d.Jacobian[k*n+i] = t
		}
	}
	return new(Workspace).residuals(&d).estimate(d.Z)
}

func sqr(x float64) float64 { return x * x }

// absolute returns the absolute values of v.
func absolute(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Abs(x)
	}
	return out
}

// follows reports whether sigma only rises or only falls in the given order of the values, up to the
// rounding of files. Standard deviations that are constant follow nothing.
func follows(sigma []float64, order []int) bool {
	rises, falls := 0, 0
	for k := 1; k < len(order); k++ {
		a, b := sigma[order[k-1]], sigma[order[k]]
		near := roundingScatter * max(math.Abs(a), math.Abs(b))
		if b > a+near {
			rises++
		} else if b < a-near {
			falls++
		}
	}
	return min(rises, falls) == 0 && max(rises, falls) >= fewestSteps
}

// interpolated returns the standard deviation at a value x, from those at the observed values y, which
// are ascending in the given order: along a power of the value where values are above 0, and else
// linearly. It extrapolates beyond the ends, and takes the standard deviation of the nearest value
// where a straight line would not be positive.
func interpolated(y, sigma []float64, order []int, x float64) float64 {
	a, b := bracket(y, order, x)
	near := a
	if x > y[a]/2+y[b]/2 {
		near = b
	}
	if y[a] == y[b] {
		return math.Sqrt(sigma[a] * sigma[b])
	}
	if y[a] > 0 && x > 0 {
		return sigma[near] * math.Pow(x/y[near], math.Log(sigma[b]/sigma[a])/math.Log(y[b]/y[a]))
	}
	u := (x - y[a]) / (y[b] - y[a])
	if s := sigma[a] + u*(sigma[b]-sigma[a]); s > 0 {
		return s
	}
	return sigma[near]
}

// bracket returns the places of the two values of y between which to interpolate at x: the neighbours
// of x or, beyond the ends, two values a tenth of the points apart, so that the rounding of the last
// ones is not extrapolated.
func bracket(y []float64, order []int, x float64) (below, above int) {
	n := len(order)
	k := sort.Search(n, func(i int) bool { return y[order[i]] >= x })
	k = min(max(k, 1), n-1)
	low, high := k-1, k
	for high-low < n/10 && (x < y[order[0]] || x > y[order[n-1]]) {
		if x < y[order[0]] {
			high++
		} else {
			low--
		}
	}
	return order[low], order[high]
}
