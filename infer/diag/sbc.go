// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// SBC collects ranks for simulation-based calibration: parameters are drawn from the prior, data
// from the parameters, and the posterior of these data is sampled. If all of this is correct, the
// rank of the prior draw among independent posterior draws is uniform.
//
//	s, err := diag.NewSBC([]string{"mu", "tau"}, 99)
//	err = s.Add(prior, posterior) // a thousand times
//	fmt.Println(s.Test(diag.SBCSettings{}))
//
// Reference: Talts, Betancourt, Simpson, Vehtari and Gelman, arXiv 1804.06788.
type SBC struct {
	Names []string
	Draws int     // number of posterior draws that a prior draw is ranked among; ranks are 0 to Draws
	Ranks [][]int // [quantity][fit]
}

// NewSBC returns an empty collection. draws is the number of posterior draws that are compared,
// spread evenly over each posterior; it should not exceed the number of independent ones. 99 gives
// 100 ranks.
func NewSBC(names []string, draws int) (*SBC, error) {
	if len(names) == 0 || draws < 1 {
		return nil, fmt.Errorf("diag: the calibration has %d quantities and %d draws: want at least one of each", len(names), draws)
	}
	return &SBC{Names: names, Draws: draws, Ranks: make([][]int, len(names))}, nil
}

// Add ranks one prior draw per quantity among the draws
// posterior[quantity][chain][draw]. Ties are broken at random, the same way in
// every run.
func (s *SBC) Add(prior []float64, posterior [][][]float64) error {
	return s.AddFit(len(s.Ranks[0]), prior, posterior)
}

// AddFit is Add for a fit of a given number, by which ties are broken: ranks are the same wherever and in
// whatever order the fits are made.
func (s *SBC) AddFit(fit int, prior []float64, posterior [][][]float64) error {
	if len(prior) != len(s.Names) || len(posterior) != len(s.Names) {
		return fmt.Errorf("diag: there are %d prior draws and %d posteriors for %d quantities: give one of each for every quantity", len(prior), len(posterior), len(s.Names))
	}
	thinned := make([][]float64, len(prior))
	for i, x := range posterior {
		var err error
		if thinned[i], err = Thin(x, s.Draws); err != nil {
			return fmt.Errorf("diag: calibration of %s: %w", s.Names[i], err)
		}
		if math.IsNaN(prior[i]) {
			return fmt.Errorf("diag: calibration of %s: the prior draw is NaN: check the prior and its simulation", s.Names[i])
		}
	}
	random := rand.New(rand.NewPCG(0x736263+uint64(fit), uint64(s.Draws)))
	for i := range prior {
		below, ties := Rank(prior[i], thinned[i])
		s.Ranks[i] = append(s.Ranks[i], below+int(uniform01(random)*float64(ties+1)))
	}
	return nil
}

// Rank returns the number of draws smaller than v, and the number equal to it.
func Rank(v float64, draws []float64) (below, ties int) {
	for _, d := range draws {
		switch {
		case d < v:
			below++
		case d == v:
			ties++
		}
	}
	return below, ties
}

// Thin returns n draws spread evenly over all chains. It returns an error if there are fewer, or if
// any is NaN.
func Thin(x [][]float64, n int) ([]float64, error) {
	all := Flatten(x)
	if len(all) < n {
		return nil, fmt.Errorf("there are %d draws, but %d are needed: draw more, or rank among fewer", len(all), n)
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = all[(2*i+1)*len(all)/(2*n)]
		if math.IsNaN(out[i]) {
			return nil, fmt.Errorf("a draw is NaN: correct the model first")
		}
	}
	return out, nil
}

// CheckCalibration is the check of an SBCReport.
const CheckCalibration Check = "calibration"

// SBCSettings are the settings of SBC.Test; the zero value is the default.
type SBCSettings struct {
	// probability that any test of any quantity fails although everything is right. Default 0.01
	FalseAlarms float64
	Bins        int // number of bins of the histogram and the chi-square test. Default 20, fewer for few fits
}

// SBCReport is the outcome of the tests of ranks.
type SBCReport struct {
	Names       []string
	Rows        []Uniformity
	Fits        int
	FalseAlarms float64
	Failed      int    // number of fits that failed or dropped out and so have no ranks
	Note        string // sentences about what has no ranks, to be printed below the table
}

// Test judges the ranks collected so far: two tests per quantity, chi-square and
// the empirical distribution function, with Bonferroni's correction so that the
// stated rate of false alarms holds for all of them together.
func (s *SBC) Test(set SBCSettings) (SBCReport, error) {
	if set.FalseAlarms == 0 {
		set.FalseAlarms = 0.01
	}
	out := SBCReport{Names: s.Names, FalseAlarms: set.FalseAlarms, Rows: make([]Uniformity, len(s.Names))}
	for i, ranks := range s.Ranks {
		u, err := TestUniform(ranks, s.Draws+1, set.Bins)
		if err != nil {
			return SBCReport{}, fmt.Errorf("%w (%s): add fits before the test", err, s.Names[i])
		}
		out.Rows[i], out.Fits = u, u.N
	}
	return out, nil
}

// level returns the p-value below which a single test fails.
func (r SBCReport) level() float64 { return r.FalseAlarms / float64(2*len(r.Rows)) }

// Diagnose says for each quantity whether its ranks are uniform, and what their
// shape means.
func (r SBCReport) Diagnose() Report {
	var out Report
	for i, u := range r.Rows {
		p := math.Min(u.PChi, u.PECDF)
		a := pass(CheckCalibration, fmt.Sprintf("the smallest p-value of %s is %s", r.Names[i], pValue(p)))
		if p < r.level() {
			a = fail(CheckCalibration, fmt.Sprintf("the smallest p-value of %s is %s, which is below %s: %s%s", r.Names[i], pValue(p), short(r.level(), 2), u.shape(), r.dropped()),
				"check that the simulator and the density are the same model, priors included, that the log Jacobian of every transform of your own is right, and that the draws are thinned until they are independent")
		}
		a.Of = r.Names[i]
		out = append(out, a)
	}
	return out
}

// manyFailed is the share of fits without ranks from which the others need not be uniform.
const manyFailed = 0.02

// dropped says that fits without ranks can be why those of the others are uneven.
func (r SBCReport) dropped() string {
	all := r.Fits + r.Failed
	if float64(r.Failed) < manyFailed*float64(all) || r.Failed == 0 {
		return ""
	}
	return fmt.Sprintf("; but %d of %d fits gave no ranks, and ranks can be uneven for that reason alone, because it is not by chance which fits fail", r.Failed, all)
}

// pValue writes a p-value with two digits.
func pValue(p float64) string {
	if p < 1e-300 {
		return "< 1e-300"
	}
	return short(p, 2)
}

// shape says in words how ranks depart from uniform ones.
func (u Uniformity) shape() string {
	switch {
	case math.Abs(u.Lean) < 3 && math.Abs(u.Spread) < 3:
		return u.uneven()
	case math.Abs(u.Lean) >= math.Abs(u.Spread) && u.Lean > 0:
		return "the true values rank too high, so the posterior lies too low"
	case math.Abs(u.Lean) >= math.Abs(u.Spread):
		return "the true values rank too low, so the posterior lies too high"
	case u.Spread > 0:
		return "the true values rank at the ends, so the posterior is too narrow"
	}
	return "the true values rank in the middle, so the posterior is too wide"
}

// uneven names the range of ranks that departs most from what is expected.
func (u Uniformity) uneven() string {
	at, most := 0, -1.0
	for b, h := range u.Histogram {
		if d := math.Abs(float64(h)-u.Expected[b]) / math.Sqrt(u.Expected[b]); d > most {
			at, most = b, d
		}
	}
	if len(u.Histogram) == 0 {
		return "the ranks are uneven"
	}
	n := float64(len(u.Histogram))
	return fmt.Sprintf("the true values rank neither too low nor too high on average, but %d of them %s between the quantiles %s and %s of the posterior, where %.3g are expected",
		u.Histogram[at], verb(u.Histogram[at], "lies", "lie"), short(float64(at)/n, 2), short(float64(at+1)/n, 2), u.Expected[at])
}

func (r SBCReport) cells() grid {
	g := grid{{"", "p_chi2", "p_ecdf", "lean", "spread", "ranks"}}
	for i, u := range r.Rows {
		g = append(g, []string{r.Names[i], pValue(u.PChi), pValue(u.PECDF), fixed(u.Lean, 1), fixed(u.Spread, 1), u.bars()})
	}
	return g
}

// bars draws the histogram in one line.
func (u Uniformity) bars() string {
	const levels = "▁▂▃▄▅▆▇█"
	ramp := []rune(levels)
	top := 1
	for _, h := range u.Histogram {
		top = max(top, h)
	}
	var b strings.Builder
	for _, h := range u.Histogram {
		b.WriteRune(ramp[h*(len(ramp)-1)/top])
	}
	return b.String()
}

func (r SBCReport) note() string {
	text := fmt.Sprintf("%s and %s, which together give a false alarm with a probability of at most %s.", errtext.Count(r.Fits, "fit"), errtext.Count(2*len(r.Rows), "test"), short(r.FalseAlarms, 2))
	if r.Note != "" {
		text += " " + r.Note
	}
	return text
}

// String returns the table of tests, their rate of false alarms, and a verdict.
func (r SBCReport) String() string {
	return r.cells().text() + "\n" + r.note() + "\n" + r.Diagnose().String()
}

// Markdown returns the table of String for Markdown.
func (r SBCReport) Markdown() string {
	return r.cells().markdown() + "\n" + r.note() + "\n\n" + r.Diagnose().Markdown()
}

// HTML returns the table of String for a web page or notebook.
func (r SBCReport) HTML() string {
	return r.cells().html() + "<p>" + html.EscapeString(r.note()) + "</p>\n" + r.Diagnose().HTML()
}

// CSV returns the tests with all digits and the histograms.
func (r SBCReport) CSV() string {
	g := grid{{"name", "chi_square", "p_chi2", "p_ecdf", "lean", "spread", "histogram"}}
	for i, u := range r.Rows {
		line := exactAll(r.Names[i], u.ChiSquare, u.PChi, u.PECDF, u.Lean, u.Spread)
		g = append(g, append(line, strings.Trim(fmt.Sprint(u.Histogram), "[]")))
	}
	return g.csv()
}

// SimpleRender returns the table for the notebook gophernotes.
func (r SBCReport) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": r.HTML(), "text/plain": r.String()}
}
