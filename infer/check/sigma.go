// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// KindReadings is the note about errors that were computed from the observed values.
const KindReadings = "errors of the observed values"

// atPredicted rescales residuals and Jacobian to the standard deviations at the predicted values if
// those given were computed from the observed values, like the root of a count or a percentage of
// the reading: residuals that share their noise with the errors are not normal. The residuals are
// those of a fit with the rescaled errors, linear in the parameters, moved back by what the fit
// itself left along the Jacobian, which the tests of priors look at.
func (d *Data) atPredicted(v *Verdict) {
	n := len(d.Z)
	if d.SigmaFitted || d.Sigma == nil || d.Mean == nil || n < fewestReadings || slices.Min(d.Sigma) == slices.Max(d.Sigma) {
		return
	}
	y := make([]float64, n)
	for i, z := range d.Z {
		y[i] = d.Mean[i] + z*d.Sigma[i]
	}
	spread := d.fromReadings(y)
	if spread == nil {
		return
	}
	at, coef, ok := d.reweighted(y, spread)
	if !ok {
		return
	}
	given := new(Workspace).residuals(d)
	left := given.estimate(d.Z)
	name, shift := "", 0.0
	for i, k := range given.kept {
		if s := (coef[k] - left[k]) / math.Sqrt(inverseRow(given.r, 0, i)); math.Abs(s) > math.Abs(shift) {
			name, shift = d.Names[k], s
		}
	}
	for k := range d.Names {
		axpy(at.Z, left[k], at.Jacobian[k*n:(k+1)*n])
	}
	d.Z, d.Jacobian, d.Sigma, d.rescaled, v.rescaled = at.Z, at.Jacobian, at.Sigma, true, true
	text := "the errors follow the observed values, as the square root of a count or a percentage of the reading does; the verdict takes them at the predicted values instead, but weights of this kind draw a fit towards values with small errors"
	if math.Abs(shift) >= 0.1 {
		text += fmt.Sprintf("; with errors at the predicted values, %s would move by about %s standard deviations", name, Rough(shift))
	}
	v.add(Flag{Kind: KindReadings, Text: text}, true)
}

// Constants of the decision whether errors were computed from the observed values.
const (
	fewestReadings = 8    // smallest number of points from which it is said
	mostReweighted = 20   // largest number of fits with errors at the values predicted by the last
	clearly        = 0.25 // largest scatter about a function of the observed values, in units of the alternatives'
	rounded        = 1e-6 // scatter of errors that is nothing but the rounding of files
)

// reweighted fits y with the standard deviation size of the values that the fit before predicts, until
// these settle. Between fits the predictions follow the Jacobian, each in proportion to its value
// where all are above 0, so that none becomes negative. It returns what the last fit leaves, and by how much it moves the parameters.
func (d *Data) reweighted(y []float64, size func(float64) float64) (at Data, coef []float64, ok bool) {
	n, growing := len(y), slices.Min(d.Mean) > 0
	coef = make([]float64, len(d.Names))
	mean := slices.Clone(d.Mean)
	for range mostReweighted {
		at = Data{Z: make([]float64, n), Sigma: make([]float64, n), Names: d.Names, Jacobian: slices.Clone(d.Jacobian)}
		for i, m := range mean {
			s := size(m)
			if !(s > 0) || math.IsInf(s, 0) {
				return at, coef, false
			}
			at.Sigma[i], at.Z[i] = s, (y[i]-m)/s
			for k := range d.Names {
				at.Jacobian[k*n+i] *= d.Sigma[i] / s
				if growing {
					at.Jacobian[k*n+i] *= m / d.Mean[i]
				}
			}
		}
		w := new(Workspace).residuals(&at)
		step, far, part := w.estimate(at.Z), 0.0, 1.0
		move := make([]float64, n) // in standard deviations
		for k := range d.Names {
			axpy(move, step[k], at.Jacobian[k*n:(k+1)*n])
		}
		for i, m := range move {
			far = max(far, math.Abs(m))
			if growing {
				part = min(part, mean[i]/(math.Abs(m)*at.Sigma[i]))
			}
		}
		for i, m := range move {
			if growing {
				mean[i] *= math.Exp(part * m * at.Sigma[i] / mean[i])
			} else {
				mean[i] += m * at.Sigma[i]
			}
		}
		axpy(coef, part, step)
		if copy(at.Z, w.z); far < 1e-3 {
			break
		}
	}
	return at, coef, true
}

// estimate returns the coefficients of the parameters' columns that fit z best, 0 for columns that
// add nothing.
func (w *residuals) estimate(z []float64) []float64 {
	coef, along := make([]float64, len(w.d.Names)), make([]float64, len(w.kept))
	for i, q := range w.base.q {
		along[i] = dot(q, z)
	}
	for i, x := range backward(w.r, 0, along) {
		coef[w.kept[i]] = x
	}
	return coef
}

// fromReadings returns the standard deviation as a function of the value if sigma was computed from
// the observed values y, or nil. Errors that were computed from true or predicted values scatter
// about every smooth function of y as much as y scatters about them, and less about one of the
// predicted values. Only errors that scatter much less about a function of y, and much less than
// about the same function of the predicted values, were computed from y.
func (d *Data) fromReadings(y []float64) func(float64) float64 {
	if size := d.fromValues(y, d.Mean); size != nil {
		return size
	}
	if slices.Min(y) >= 0 {
		return nil
	}
	if size := d.fromValues(absolute(y), absolute(d.Mean)); size != nil {
		return func(v float64) float64 { return size(math.Abs(v)) }
	}
	return nil
}

// fromValues is fromReadings for readings whose signs do not matter, or do.
func (d *Data) fromValues(y, mean []float64) func(float64) float64 {
	order := sorted(y)
	if !follows(d.Sigma, order) {
		return nil
	}
	for _, family := range []func(v, sigma []float64) func(float64) float64{powers, variances} {
		of, ofMean := family(y, d.Sigma), family(mean, d.Sigma)
		if of == nil || ofMean == nil {
			continue
		}
		about, aboutMean, noise := 0.0, 0.0, 0.0
		for i, s := range d.Sigma {
			about += sqr(math.Log(s / of(y[i])))
			aboutMean += sqr(math.Log(s / ofMean(mean[i])))
			noise += sqr(math.Log(of(y[i]+s/10)/of(y[i])) * 10)
		}
		if math.IsNaN(aboutMean) { // a variance below 0
			aboutMean = math.Inf(1)
		}
		n := float64(len(y))
		least := math.Sqrt(min(aboutMean, noise) / n)
		if about = math.Sqrt(about / n); about < clearly*least && least > rounded {
			return func(v float64) float64 { return interpolated(y, d.Sigma, order, v) }
		}
	}
	return nil
}

// powers fits the logarithm of sigma with a polynomial of log v; nil if v has values that are not
// above 0.
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

// variances fits the square of sigma with a quadratic polynomial of v, which holds constant errors,
// roots of counts and percentages together, relative to the square.
func variances(v, sigma []float64) func(float64) float64 {
	most := maxAbs(v)
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

// regress returns the coefficients of the terms that fit n values best.
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

func absolute(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Abs(x)
	}
	return out
}

// fewestSteps is the number of changes of the errors along the observed values from which they are
// said to follow them: if errors are constant except for a few, those few may lie at an end by
// chance.
const fewestSteps = 4

// follows reports whether sigma rises or falls monotonically with y, up to the rounding of files.
// Constant errors follow nothing.
func follows(sigma []float64, order []int) bool {
	rises, falls := 0, 0
	for k := 1; k < len(order); k++ {
		a, b := sigma[order[k-1]], sigma[order[k]]
		near := 1e-6 * max(math.Abs(a), math.Abs(b))
		if b > a+near {
			rises++
		} else if b < a-near {
			falls++
		}
	}
	return min(rises, falls) == 0 && max(rises, falls) >= fewestSteps
}

// interpolated returns sigma at a value x of y, interpolated in the given order: along a power of y
// where y is above 0, and else linearly.
func interpolated(y, sigma []float64, order []int, x float64) float64 {
	n := len(order)
	k := sort.Search(n, func(i int) bool { return y[order[i]] >= x })
	k = min(max(k, 1), n-1)
	low, high := k-1, k
	for high-low < n/10 && (x < y[order[0]] || x > y[order[n-1]]) { // a longer base beyond the ends
		if x < y[order[0]] {
			high++
		} else {
			low--
		}
	}
	a, b := order[low], order[high]
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
