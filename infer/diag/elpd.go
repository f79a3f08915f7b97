// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// ELPD is an estimate of how well a model predicts new data: the expected log
// pointwise predictive density, a sum over observations. Larger is better.
type ELPD struct {
	Method   string // name of the estimate: PSIS-LOO, WAIC or K-fold
	ELPD, SE float64
	P, PSE   float64 // effective number of parameters, LPPD - ELPD, and its standard error
	LPPD     float64 // log predictive density of the data that were fitted
	MCSE     float64 // Monte Carlo standard error of ELPD; NaN if it cannot be estimated
	Draws    int     // number of draws of all chains together
	GoodK    float64 // tail shape up to which an estimate is trusted; NaN without importance sampling
	Points   []PointELPD
	// Observation returns the name of observation i in reports. Default: its index, counted from 0.
	Observation func(i int) string
}

// name returns the name of observation i.
func (e ELPD) name(i int) string {
	if e.Observation != nil {
		return e.Observation(i)
	}
	return strconv.Itoa(i)
}

// PointELPD is the contribution of one observation.
type PointELPD struct {
	ELPD, LPPD float64
	P          float64 // LPPD - ELPD; for WAIC, the variance of the log likelihood
	K          float64 // tail shape of the importance ratios; NaN without importance sampling
	NEff       float64 // effective sample size behind ELPD; NaN without importance sampling
	MCSE       float64 // Monte Carlo standard error of ELPD; NaN if it cannot be estimated
}

// finish sums up the points; c says whether variances are divided by n-1 (R) or n (ArviZ).
func (e *ELPD) finish(c Convention) {
	n := len(e.Points)
	elpd, p, lppd, mcse2 := make([]float64, n), make([]float64, n), make([]float64, n), 0.0
	for i, q := range e.Points {
		elpd[i], p[i], lppd[i] = q.ELPD, q.P, q.LPPD
		mcse2 += q.MCSE * q.MCSE
	}
	e.ELPD, e.P, e.LPPD = total(elpd), total(p), total(lppd)
	e.SE, e.PSE, e.MCSE = c.sumError(elpd), c.sumError(p), math.Sqrt(mcse2)
	if len(e.Bad()) > 0 {
		e.MCSE = math.NaN()
	}
}

func total(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return Mean(v) * float64(len(v))
}

// sumError returns the standard error of a sum of n independent numbers.
func (c Convention) sumError(v []float64) float64 {
	n := float64(len(v))
	variance := Variance(v)
	if c == ArviZ {
		variance *= (n - 1) / n
	}
	return math.Sqrt(n * variance)
}

// IC returns the estimate on the deviance scale, -2 ELPD: looic or waic.
func (e ELPD) IC() float64 { return -2 * e.ELPD }

// Bad returns the indices of the observations whose tail shape is above GoodK.
func (e ELPD) Bad() []int {
	var out []int
	for i, p := range e.Points {
		if p.K > e.GoodK {
			out = append(out, i)
		}
	}
	return out
}

// Elements returns the estimate of every observation.
func (e ELPD) Elements() []float64 {
	out := make([]float64, len(e.Points))
	for i, p := range e.Points {
		out[i] = p.ELPD
	}
	return out
}

// CheckParetoK and CheckVariance are the checks of estimates of predictive accuracy.
const (
	CheckParetoK  Check = "Pareto k"
	CheckVariance Check = "variance of the log likelihood"
	// CheckImpossible is the check for observations that some draw says cannot happen. It appears in a report only if it fails.
	CheckImpossible Check = "impossible observations"
)

// Diagnose judges whether the estimate can be trusted.
func (e ELPD) Diagnose() Report {
	var r Report
	possible := e
	possible.Points = slices.Clone(e.Points)
	var never []int
	for i, p := range e.Points {
		if math.IsInf(p.ELPD, -1) {
			never = append(never, i)
			possible.Points[i] = PointELPD{K: math.Inf(-1)}
		}
	}
	if len(never) > 0 {
		r = append(r, fail(CheckImpossible, fmt.Sprintf("the log likelihood of %s (the first is observation %s) is -Inf in some draws, so the model says there that what was observed cannot happen, and the sum is -Inf", errtext.Count(len(never), "observation"), e.name(never[0])),
			"look at what the model forbids at these observations, such as a rate of 0 or a value outside a support, or at how the log likelihood was computed"))
	}
	switch e.Method {
	case methodLOO:
		r = append(r, possible.adviseK())
	case methodWAIC:
		r = append(r, possible.adviseVariance())
	}
	return r
}

func (e ELPD) adviseK() Advice {
	bad := e.Bad()
	worst, at := math.Inf(-1), -1
	for i, p := range e.Points {
		if p.K > worst {
			worst, at = p.K, i
		}
	}
	switch {
	case at < 0:
		return pass(CheckParetoK, "no observation has any influence on the posterior")
	case len(bad) == 0:
		return pass(CheckParetoK, fmt.Sprintf("observation %s has the largest, %.2f, and values up to %.2f are reliable", e.name(at), worst, e.GoodK))
	}
	return fail(CheckParetoK, fmt.Sprintf("observation %s has the largest, %.2f, and it is above %.2f for %d of %s, so the draws say too little about the posterior without them", e.name(at), worst, e.GoodK, len(bad), errtext.Count(len(e.Points), "observation")),
		"fit again without each of these observations, or use K-fold cross-validation; if the effective number of parameters is far above the true one, look for outliers and a wrong likelihood first")
}

func (e ELPD) adviseVariance() Advice {
	count := 0
	for _, p := range e.Points {
		if !(p.P <= 0.4) {
			count++
		}
	}
	if count == 0 {
		return pass(CheckVariance, "it is below 0.4 for every observation")
	}
	return fail(CheckVariance, fmt.Sprintf("it is above 0.4 for %d of %s, so WAIC cannot be trusted", count, errtext.Count(len(e.Points), "observation")),
		"use PSIS-LOO, which reports where it fails")
}

// kRange counts the observations whose tail shape lies in (low, high].
type kRange struct {
	low, high float64
	name      string
	count     int
}

func (e ELPD) kRanges() []kRange {
	out := []kRange{{math.Inf(-1), e.GoodK, "good", 0}, {e.GoodK, 1, "bad", 0}, {1, math.Inf(1), "very bad", 0}}
	for _, p := range e.Points {
		for i := range out {
			if p.K <= out[i].high || i == 2 {
				out[i].count++
				break
			}
		}
	}
	return out
}

func (e ELPD) cells() grid {
	short := map[string]string{methodLOO: "loo", methodWAIC: "waic", methodKFold: "kfold"}[e.Method]
	line := func(name string, v, se float64) []string {
		return []string{name, rounded(v, se/20), rounded(se, se/20)}
	}
	return grid{{e.Method, "estimate", "se"}, line("elpd_"+short, e.ELPD, e.SE), line("p_"+short, e.P, e.PSE),
		line(short+"ic", -2*e.ELPD, 2*e.SE)}
}

func (e ELPD) kCells() grid {
	g := grid{{"Pareto k", "", "observations", "share"}}
	for _, r := range e.kRanges() {
		g = append(g, []string{fmt.Sprintf("(%s, %s]", fixed(r.low, 2), fixed(r.high, 2)), r.name, fmt.Sprint(r.count), fmt.Sprintf("%.1f %%", percent(r.count, len(e.Points)))})
	}
	return g
}

func (e ELPD) head() string {
	s := errtext.Count(len(e.Points), "observation")
	if e.Draws > 0 {
		s = errtext.Count(e.Draws, "draw") + ", " + s
	}
	if !math.IsNaN(e.MCSE) {
		s += ", Monte Carlo error " + short(e.MCSE, 2)
	}
	return s + "."
}

// String returns the estimate with its error, the number of observations in each range of tail
// shapes, and a verdict.
func (e ELPD) String() string {
	s := e.cells().text() + "\n" + e.head() + "\n"
	if e.Method == methodLOO {
		s += e.kCells().text() + "\n"
	}
	return s + e.verdict()
}

// verdict returns the report, or "" if there is none.
func (e ELPD) verdict() string {
	if r := e.Diagnose(); len(r) > 0 {
		return r.String()
	}
	return ""
}

// Markdown returns the tables of String for Markdown.
func (e ELPD) Markdown() string {
	s := e.cells().markdown() + "\n" + e.head() + "\n\n"
	if e.Method == methodLOO {
		s += e.kCells().markdown() + "\n"
	}
	return s + e.Diagnose().Markdown()
}

// HTML returns the tables of String for a web page or notebook.
func (e ELPD) HTML() string {
	s := e.cells().html() + "<p>" + html.EscapeString(e.head()) + "</p>\n"
	if e.Method == methodLOO {
		s += e.kCells().html()
	}
	return s + e.Diagnose().HTML()
}

// CSV returns one line per observation with all digits.
func (e ELPD) CSV() string {
	g := grid{{"observation", "elpd", "lppd", "p", "pareto_k", "n_eff", "mcse"}}
	for i, p := range e.Points {
		g = append(g, exactAll(fmt.Sprint(i), p.ELPD, p.LPPD, p.P, p.K, p.NEff, p.MCSE))
	}
	return g.csv()
}

// SimpleRender returns the estimate for the notebook gophernotes.
func (e ELPD) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": e.HTML(), "text/plain": e.String()}
}
