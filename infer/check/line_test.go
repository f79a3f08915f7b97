// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// A line has the strongest finding without its evidence, what to try first and the kinds of the others, whatever the verdict is.
func TestLine(t *testing.T) {
	nan := math.NaN()
	drift := Flag{Kind: "drift", Text: "a drift of 3 would fit better; this explains 90 % of the scatter (as; told)", Remedy: "add a slope; or leave out the end"}
	outlier := Flag{Kind: KindOutliers, Text: "1 point lies farther off (at x; y)"}
	bound := Flag{Kind: KindBound, Where: "tau", Text: "tau lies on its bound"}
	loose := Flag{Kind: KindUnknown, Where: "tau", Text: "the data do not determine tau", Remedy: "fix it"}
	all := Flag{Kind: KindUnknown, Where: "a, tau", Text: "all values are 0, so the data do not determine the 2 parameters one by one", Remedy: "fit a constant"}
	unjudged := Flag{Kind: KindUnjudged, Text: "nothing is left", Remedy: "measure more points"}
	stopped := Flag{Kind: KindUnconverged, Text: "the fit did not converge: it is slow", Remedy: "raise max_nfev"}
	for want, flags := range map[string][]Flag{
		"The model agrees with the data.": nil,
		"The model disagrees with the data: a drift of 3 would fit better. Try: add a slope.":                                                       {drift},
		"The model disagrees with the data: a drift of 3 would fit better. Try: add a slope. Also: outliers (2 times), parameter at a bound (tau).": {drift, outlier, outlier, bound},
		"The model disagrees with the data: 1 point lies farther off (at x; y). Also: parameter at a bound (tau).":                                  {outlier, outlier, bound},
		"The residuals agree with the model, but the data do not determine tau. Try: fix it.":                                                       {loose},
		"The residuals agree with the model, but the data do not determine a and tau. Try: fit a constant.":                                         {all, loose},
		"The model could not be judged: nothing is left. Try: measure more points. Also: drift.":                                                    {drift, unjudged},
		"The fit did not converge, so the model cannot be judged. Try: raise max_nfev.":                                                             {stopped, drift},
	} {
		v := Verdict{OK: flags == nil, Points: 9, P: nan, Reduced: nan, Flags: flags}
		if got := v.Line(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// A digest counts verdicts and says once what several fits show, in the words of the one that is farthest off.
func TestDigest(t *testing.T) {
	name := func(which []int) string { return fmt.Sprint("bins ", which) }
	good := Verdict{OK: true, Points: 9}
	drift := func(size float64, others ...Flag) Verdict {
		return Verdict{Points: 9, Reduced: size, Flags: append([]Flag{{Kind: "drift", Text: fmt.Sprintf("a drift of %g would fit better; this explains much", size), Remedy: "add a slope"}}, others...)}
	}
	loose := Verdict{Points: 9, Flags: []Flag{{Kind: KindUnknown, Where: "tau", Text: "the data do not determine tau"}}}
	got := Digest("bins", []Verdict{good, loose, drift(2), drift(5, Flag{Kind: KindSize})}, name)
	want := []string{"The model agrees with the data in 1 of 4 bins; misfit: 2; undetermined: 1.",
		"bins [2 3]: drift, such as in bins [3]: a drift of 5 would fit better. Try: add a slope. Also: size of the residuals.",
		"bins [1]: the data do not determine tau."}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := Digest("bins", []Verdict{good, good}, name); !slices.Equal(got, []string{"The model agrees with the data in all 2 bins."}) {
		t.Errorf("%q", got)
	}
}

// Errors that are too small in one fit and too large in another are two findings.
func TestDigestOfOppositeFindings(t *testing.T) {
	sized := func(reduced float64, text string) Verdict {
		return Verdict{Points: 9, Reduced: reduced, Expected: [2]float64{0.9, 1.1}, Flags: []Flag{{Kind: KindSize, Text: text}}}
	}
	got := Digest("stars", []Verdict{sized(4, "the errors are 2 times too small"), sized(0.5, "the errors are 1.4 times too large"), sized(0.25, "the errors are 2 times too large")}, func(which []int) string { return fmt.Sprint(which) })
	want := []string{"The model agrees with the data in 0 of 3 stars; misfit: 3.",
		"[1 2]: size of the residuals, such as in [2]: the errors are 2 times too large.",
		"[0]: the errors are 2 times too small."}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
