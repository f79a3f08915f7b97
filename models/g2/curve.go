// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Curve is the data of one bin: X is the delay (s) and Y is g2, or X is q (1/Angstrom) and Y a
// relaxation time (s). Err is the standard deviation of Y, or nil if it is not known.
type Curve struct {
	Bin       int     // number of the bin, from 1
	Q, Phi    float64 // q in 1/Angstrom and azimuth in degrees; NaN if they do not apply
	X, Y, Err []float64
	// Age is the age of the sample in s in whose neighbourhood the curve was taken. Curves of all frames have 0, and so has one of several
	// ages that begins with the movie.
	Age float64

	// Cov is the covariance of Y, row-major (point, point), for points whose errors are not
	// independent, such as those of a multi-tau correlation; nil for independent errors. Samples is
	// the number of samples, such as pixels, from which it was estimated: the inverse of an
	// estimate is too large by (Samples-1)/(Samples-points-2), which is corrected. 0 stands for an
	// exact covariance.
	Cov     []float64
	Samples int
	// Skew corrects the bias of a fit that weights Y by a covariance estimated from samples with a
	// skewed distribution; fits add it to Y. It may be nil. See correlate.Result.
	Skew []float64

	// Axis and AxisUnit say what Q holds if a map of q has another first axis, such as x in pixels.
	// If empty, it is q in 1/Angstrom.
	Axis, AxisUnit string

	flaws    []check.Alteration // what happened to the frames of the curve
	spread   float64            // standard deviation of q over the pixels of the bin, divided by Q; 0 if it is not known
	step     *step              // step of the intensity of the movie; nil if there is none
	lost     float64            // share of the photons that the detector misses at the mean counts; 0 if none, or not known
	pair     bool               // whether only the error at the longest delay was replaced, which was 0
	blind    float64            // share by which products of counts in neighbouring frames are too small; 0 if they are not, or that is not known
	strays   [2]string          // readings of the bin that are no photons, and what to do
	few      [2]string          // that photons are too few for errors of a normal distribution, and what to do
	unjudged bool               // whether they are too few to judge residuals
	full     [2]string          // that the counter is at its limit, and what to do
	replaced int                // number of errors that repaired replaced
	fill     float64            // value that replaced them
	believed int                // number of errors that repaired left unchanged
	without  bool               // whether all errors were 0, and repaired treated them as not given
	white    *white             // what makes the errors independent; nil: they are
	unusable string             // why Cov was not used
}

// AxisLabel names what Q holds, with its unit.
func (c Curve) AxisLabel() string {
	switch {
	case c.Axis == "":
		return "q (1/Å)"
	case c.AxisUnit == "":
		return c.Axis
	}
	return c.Axis + " (" + c.AxisUnit + ")"
}

// check returns the first problem that makes the curve unusable.
func (c Curve) check(params int, of string) error {
	column, value := "tau", "g2"
	if of == "q" {
		column, value = "q", "tau"
	}
	if len(c.Y) != len(c.X) || (c.Err != nil && len(c.Err) != len(c.X)) {
		return fmt.Errorf("g2: bin %d has %s, %s and %s: give as many of each", c.Bin, errtext.Count(len(c.X), "delay"), errtext.Count(len(c.Y), "value"), errtext.Count(len(c.Err), "error"))
	}
	if c.Cov != nil && len(c.Cov) != len(c.X)*len(c.X) {
		return fmt.Errorf("g2: bin %d has a covariance of %s for %s: want one for each pair of points", c.Bin, errtext.Count(len(c.Cov), "number"), errtext.Count(len(c.X), "point"))
	}
	if c.Skew != nil && len(c.Skew) != len(c.X) {
		return fmt.Errorf("g2: bin %d has %d of the corrections for skewness, but %s: give one for each point", c.Bin, len(c.Skew), errtext.Count(len(c.X), "point"))
	}
	if len(c.X) < params {
		return fmt.Errorf("g2: bin %d: only %s for %s: give at least as many, fix parameters, or leave the bin out", c.Bin, errtext.Count(len(c.X), "point"), errtext.Count(params, "parameter"))
	}
	for i := range c.X {
		for k, v := range [2]float64{c.X[i], c.Y[i]} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("g2: bin %d: %s of point %d is %g: leave such points out (--drop-invalid), or leave the bin out", c.Bin, [2]string{column, value}[k], i+1, v)
			}
		}
		if !(c.X[i] > 0) {
			return fmt.Errorf("g2: bin %d: %s of point %d is %g: want it above 0; --drop-invalid leaves such points out", c.Bin, column, i+1, c.X[i])
		}
		if c.extreme(i) {
			return fmt.Errorf("g2: bin %d: point %d is %s = %.3g, %s = %.3g: numbers above %g, or %s below %g, are beyond what a fit can compute with: give %s; --drop-invalid leaves such points out", c.Bin, i+1, column, c.X[i], value, c.Y[i], largest, column, 1/largest, map[bool]string{true: "q in 1/Angstrom and tau in s", false: "tau in s"}[of == "q"])
		}
		if c.Err != nil && !(c.Err[i] >= 0 && c.Err[i] < math.Inf(1)) {
			wrong := 0
			for _, e := range c.Err[i:] {
				if !(e >= 0 && e < math.Inf(1)) {
					wrong++
				}
			}
			return fmt.Errorf("g2: bin %d: the error of point %d is %g, and the errors of %d of %s cannot be used: want finite numbers of at least 0; --drop-invalid leaves such points out", c.Bin, i+1, c.Err[i], wrong, errtext.Count(len(c.Err), "point"))
		}
	}
	return nil
}

// rounding is a difference of costs that rounding errors of the model alone can make: residuals of 1e-12 of the values.
func (c Curve) rounding() float64 {
	sum := 0.0
	for i, y := range c.Y {
		if c.Err != nil {
			y /= c.Err[i]
		}
		sum += y * y
	}
	return 1e-24 * sum / 2
}

// largest is the size of numbers, and the inverse of the smallest delay or q, of which fits can compute squares and products.
const largest = 1e100

// extreme reports whether a point has numbers beyond largest.
func (c Curve) extreme(i int) bool {
	return !(c.X[i] <= largest && c.X[i] >= 1/largest && math.Abs(c.Y[i]) <= largest && (c.Err == nil || !(c.Err[i] > largest)))
}

// unknown reports whether the size of the errors is not known.
func (c Curve) unknown() bool { return c.Err == nil && c.white == nil }

// smallestError is the size below which an error estimate is not believed.
const smallestError = 1e-6

// repaired returns the curve with errors of at most 1e-6 replaced by the mean of the larger ones, or
// by 1e-6 if there are none. Errors of relaxation times are kept. If all errors are 0, they are
// treated as not given. An error of 0 at the longest delay alone is that of a single pair of frames.
// If there is a covariance, it also finds what makes the errors independent.
func (c Curve) repaired(of string) Curve {
	c = c.repairedErrors(of)
	if c.Cov != nil {
		c.white, c.unusable = c.whitened()
	}
	return c
}

func (c Curve) repairedErrors(of string) Curve {
	if len(c.Err) > 0 && slices.Max(c.Err) == 0 {
		c.Err, c.without = nil, true
	}
	if c.Err == nil || of != "delay" {
		return c
	}
	sum := 0.0
	c.believed, c.fill = 0, smallestError
	for _, e := range c.Err {
		if e > smallestError {
			sum, c.believed = sum+e, c.believed+1
		}
	}
	if c.believed > 0 {
		c.fill = sum / float64(c.believed)
	}
	c.Err = slices.Clone(c.Err)
	last := len(c.Err) - 1
	c.pair = c.believed == last && c.Err[last] == 0 && c.X[last] == slices.Max(c.X)
	for i, e := range c.Err {
		if !(e > smallestError) {
			c.Err[i] = c.fill
			c.replaced++
		}
	}
	return c
}

// valid returns the curve without the points that no fit can use, and what was left out: delays that
// are not positive, errors below 0, and numbers that are not finite or are extreme.
func (c Curve) valid() (Curve, []check.Alteration) {
	if len(c.Y) != len(c.X) || c.Err != nil && len(c.Err) != len(c.X) {
		return c, nil // check tells
	}
	good := func(i int) bool {
		return !c.extreme(i) && (c.Err == nil || c.Err[i] >= 0)
	}
	out, left := c, []string{}
	out.X, out.Y, out.Err = nil, nil, nil
	if len(c.Cov) == len(c.X)*len(c.X) {
		out.Cov = nil
		for i := range c.X {
			for j := range c.X {
				if c.Cov != nil && good(i) && good(j) {
					out.Cov = append(out.Cov, c.Cov[i*len(c.X)+j])
				}
			}
		}
	}
	if len(c.Skew) == len(c.X) {
		out.Skew = nil
		for i, v := range c.Skew {
			if good(i) {
				out.Skew = append(out.Skew, v)
			}
		}
	}
	for i := range c.X {
		if !good(i) {
			left = append(left, strconv.Itoa(i+1))
			continue
		}
		out.X, out.Y = append(out.X, c.X[i]), append(out.Y, c.Y[i])
		if c.Err != nil {
			out.Err = append(out.Err, c.Err[i])
		}
	}
	if len(left) == 0 {
		return c, nil
	}
	return out, []check.Alteration{{Kind: "points left out", Count: len(left), Note: true,
		Text: fmt.Sprintf("%d of %s %s left out, because %s delay, value or error is not a usable number: %s", len(left), errtext.Count(len(c.X), "point"), errtext.Agree(len(left), "was", "were"), errtext.Agree(len(left), "its", "their"), strings.Join(left[:min(10, len(left))], ", "))}}
}

// Guess holds rough values read off a curve, as starts of fits: Tau in seconds, Baseline and Contrast as numbers.
type Guess struct{ Tau, Baseline, Contrast float64 }

// Guess estimates baseline, contrast and relaxation time of a decay: the level of the last tenth,
// the drop to that level, and twice the delay at which 1/e of the drop is left. Tau may therefore lie beyond the longest delay. The
// points may be in any order.
func (c Curve) Guess() Guess {
	if !slices.IsSorted(c.X) {
		order := make([]int, len(c.X))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.X[i], c.X[j]) })
		sorted := Curve{}
		for _, i := range order {
			sorted.X, sorted.Y = append(sorted.X, c.X[i]), append(sorted.Y, c.Y[i])
		}
		c = sorted
	}
	n := len(c.Y)
	tail := max(1, n/10)
	mean := func(v []float64) float64 {
		s := 0.0
		for _, x := range v {
			s += x
		}
		return s / float64(len(v))
	}
	g := Guess{Baseline: mean(c.Y[n-tail:])}
	g.Contrast = max(mean(c.Y[:min(3, n)])-g.Baseline, 1e-3)
	x := c.X[n-1]
	for i, y := range c.Y {
		if y-g.Baseline < g.Contrast/math.E {
			x = c.X[i]
			break
		}
	}
	g.Tau = 2 * x
	return g
}

// logLine fits log y = a + b log x.
func (c Curve) logLine() (a, b float64) {
	var n, sx, sy, sxx, sxy float64
	for i, x := range c.X {
		if !(c.Y[i] > 0) {
			continue
		}
		u, v := math.Log(x), math.Log(c.Y[i])
		n, sx, sy, sxx, sxy = n+1, sx+u, sy+v, sxx+u*u, sxy+u*v
	}
	if d := n*sxx - sx*sx; d > 0 {
		b = (n*sxy - sx*sy) / d
		return (sy - b*sx) / n, b
	}
	return 0, -2
}
