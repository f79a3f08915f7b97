// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// KindSize is the flag of residuals that are too large or too small for the errors.
const KindSize = "size of the residuals"

// sizeTest compares the sum of squares with chi-square of the degrees of freedom.
func (w *residuals) sizeTest() test {
	t := test{kind: KindSize, p: 1}
	square, dof := w.atPoint()
	if dof < 1 {
		return t
	}
	exact := w.exact()
	if w.d.Relative {
		if exact {
			t.p, t.always, t.say = 1, true, func(*test) Flag {
				return w.onTheModel()
			}
		}
		return t
	}
	below, above := chiSquaredTails(square, dof)
	reduced := square / dof
	switch t.p = min(1, 2*min(below, above)); {
	case w.d.Many:
		t.p = above
	case w.d.SigmaFitted && w.absorbed && below < above: // the fitted errors hold what was named before
		t.p = 1
	}
	t.harmless = math.Abs(math.Sqrt(reduced)-1) < 0.05
	t.effect = math.Abs(math.Log(reduced))
	t.say = func(*test) Flag {
		f := Flag{Text: fmt.Sprintf("%s %.3g, but between %.3g and %.3g is expected", w.chiSquareIs(), reduced, w.expected(0, dof), w.expected(1, dof))}
		switch {
		case exact:
			return w.onTheModel()
		case w.d.Counts && below < above:
			f.Text += ": the counts scatter less than their distribution predicts"
			f.Remedy = "check whether the counts were smoothed or repeated, or use a narrower distribution, such as a binomial instead of a Poisson"
			return f
		case w.d.Counts:
			f.Text += ": the counts scatter more than their distribution predicts (overdispersion)"
			f.Remedy = "use a distribution whose dispersion is free, such as a negative binomial or a beta-binomial, let a rate differ between groups, or look for an excess of zeros"
			return f
		case w.d.Quantiles && below < above:
			f.Text += fmt.Sprintf(": the data scatter about %.3g times less than their distribution predicts", 1/math.Sqrt(reduced))
			f.Remedy = "use a distribution whose scatter is free, such as a gamma instead of an exponential"
			return f
		case w.d.Quantiles:
			f.Text += fmt.Sprintf(": the data scatter about %.3g times more than their distribution predicts", math.Sqrt(reduced))
			f.Remedy = "use a distribution whose scatter is free or larger, or look for a term that the model lacks"
			return f
		case below < above:
			f.Text += fmt.Sprintf(": the errors are about %.3g times too large, or the data were smoothed or repeated", 1/math.Sqrt(reduced))
			f.Remedy = "check where the errors come from; if only their ratios are known, fit a common factor of the errors too"
			if w.d.SigmaFitted {
				f.Remedy = "check what keeps the errors of the model from being smaller: their formula, or the prior of the parameters in it"
			}
			return f
		}
		f.Text += fmt.Sprintf(": the errors are about %.3g times too small, or the model lacks something", math.Sqrt(reduced))
		f.Remedy = "look whether the residuals follow a pattern: if so, the model lacks a term, and if not, the errors are too small"
		return f
	}
	return t
}

// chiSquareIs begins a sentence about the sum of squares by what it is of.
func (w *residuals) chiSquareIs() string {
	text := "the reduced chi-square"
	if w.d.rescaled {
		text += " with the errors at the predicted values"
	}
	switch {
	case w.outliers:
		return "even without the outliers, " + text + " would be"
	case w.absorbed:
		return "with the departures above in the model, " + text + " would be"
	}
	return text + " is"
}

// onTheModel is what is said of residuals that are exact.
func (w *residuals) onTheModel() Flag {
	f := Flag{Text: "the data lie exactly on the model", Remedy: "check that the data were measured and not computed"}
	if w.square > 0 {
		f.Text = "the data lie on the model to within rounding errors"
	}
	return f
}

// exact reports whether the residuals are no larger than the rounding errors of the data.
func (w *residuals) exact() bool {
	if w.square == 0 {
		return true
	}
	if w.d.Mean == nil {
		return false
	}
	off := 0.0
	for i, z := range w.z {
		if w.d.Sigma != nil {
			z *= w.d.Sigma[i]
		}
		off = max(off, math.Abs(z))
	}
	return off <= 1e-13*linalg.MaxAbs(w.d.Mean) && (w.d.Relative || w.d.Sigma != nil)
}

// expected returns the lower (0) or upper (1) end of the central 99 % of the reduced
// chi-square of dof degrees of freedom.
func (w *residuals) expected(end int, dof float64) float64 {
	m := w.mem
	if m.dof != dof {
		m.dof, m.expected = dof, [2]float64{chiSquaredQuantile(0.005, dof) / dof, chiSquaredQuantile(0.995, dof) / dof}
	}
	return m.expected[end]
}

// farTooLarge is the reduced chi-square of all other points from which outliers may be points like the others, whose errors are all
// too small. It was chosen by simulation (TestSizeBeforeOutliersIsCalibrated): of data with right errors and up to three outliers, at most
// one in twenty points, the size comes first in at most 0.3 %; of data with errors 1.5 times too small, it does in 98 % from 100 points on,
// in 65 % at 40 and in 29 % at 20, where the interval of the reduced chi-square decides. With 1.2, errors 1.1 times too small
// would come before the outliers of 1000 points in half of the cases; with 2, errors 1.5 times too small would not in a quarter of those of 100.
// Where more than one point in ten is an outlier of 20, the two cannot be told apart.
const farTooLarge = 1.5

// sizeBeforeOutliers tells the size of the residuals before the outliers if the residuals are far too large without these, too: if
// all errors are too small, or the model is wrong, nothing is to be masked.
func (w *residuals) sizeBeforeOutliers(v *Verdict) {
	of := func(kind string) int { return slices.IndexFunc(v.Flags, func(f Flag) bool { return f.Kind == kind }) }
	outliers, size := of(KindOutliers), of(KindSize)
	square, dof := w.atPoint()
	if outliers < 0 || size < outliers || dof < 1 || square/dof < max(farTooLarge, w.expected(1, dof)) {
		return
	}
	w.outliers = true
	t := w.sizeTest()
	late := v.Flags[outliers]
	late.Remedy = "mask nothing before the size of the residuals is right: these points may belong to the same scatter"
	v.Flags[size] = t.flag()
	v.Flags = append(slices.Delete(v.Flags, outliers, outliers+1), late)
}
