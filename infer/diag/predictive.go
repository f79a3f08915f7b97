// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Statistic is a number that describes data.
type Statistic struct {
	Name string
	Of   func([]float64) float64
}

// Statistics returns the statistics that a predictive check uses by default.
func Statistics() []Statistic {
	return []Statistic{
		{"mean", Mean}, {"sd", SD}, {"min", slices.Min[[]float64]}, {"median", Median}, {"max", slices.Max[[]float64]},
	}
}

// PredictiveSettings are the settings of PredictiveChecks; the zero value is the default.
type PredictiveSettings struct {
	Statistics []Statistic // statistics to compare. Default Statistics()
	Probs      []float64   // probabilities of the intervals whose coverage is counted. Default 0.5, 0.8, 0.95
}

// Predictive compares data with replications from a fitted model.
type Predictive struct {
	Statistics   []StatisticCheck
	Coverage     []Coverage
	Draws        int
	Observations int
}

// StatisticCheck compares a statistic of the data with that of replications.
type StatisticCheck struct {
	Name     string
	Observed float64
	Q05, Q95 float64 // 5 % and 95 % quantiles over the replications
	P        float64 // share of replications above the observed value, with ties counted half
}

// Coverage counts the observations inside their predictive intervals.
type Coverage struct {
	Prob   float64 // probability of the equal-tailed interval
	Inside int
	P      float64 // two-sided binomial probability of a count at least as far from Prob
}

// PredictiveChecks compares observations y with replications yrep[chain][draw][obs]:
// posterior predictive p-values of statistics, and how many observations fall
// into their predictive intervals. A p-value near 0 or 1 names a feature of the
// data that the model does not reproduce; one near 1/2 proves nothing, as the
// data were used to fit.
//
// Reference: Gelman, Meng and Stern, Statistica Sinica 6 (1996) 733.
func PredictiveChecks(y []float64, yrep [][][]float64, s PredictiveSettings) (Predictive, error) {
	if err := replicatedSize(y, yrep); err != nil {
		return Predictive{}, err
	}
	if s.Statistics == nil {
		s.Statistics = Statistics()
	}
	if s.Probs == nil {
		s.Probs = []float64{0.5, 0.8, 0.95}
	}
	rows := slices.Concat(yrep...)
	out := Predictive{Draws: len(rows), Observations: len(y), Statistics: make([]StatisticCheck, len(s.Statistics))}
	for i, st := range s.Statistics {
		out.Statistics[i] = st.check(y, rows)
	}
	sortedCells := make([][]float64, len(y))
	each(len(y), func(i int) { sortedCells[i] = sorted(Flatten(observation(yrep, i))) })
	for _, prob := range s.Probs {
		if !(prob > 0 && prob < 1) {
			return Predictive{}, fmt.Errorf("diag: the probability of a coverage is %v: want a number between 0 and 1", prob)
		}
		out.Coverage = append(out.Coverage, cover(y, sortedCells, prob))
	}
	return out, nil
}

func (s Statistic) check(y []float64, rows [][]float64) StatisticCheck {
	values := make([]float64, len(rows))
	each(len(rows), func(i int) { values[i] = s.Of(rows[i]) })
	c := StatisticCheck{Name: s.Name, Observed: s.Of(y), P: math.NaN()}
	c.Q05, c.Q95 = Quantile(values, 0.05), Quantile(values, 0.95)
	if !slices.ContainsFunc(append(values, c.Observed), math.IsNaN) {
		c.P = PredictiveP(c.Observed, values)
	}
	return c
}

// PredictiveP returns the share of replicated values above the observed one,
// ties counted half.
func PredictiveP(observed float64, replicated []float64) float64 {
	below, ties := Rank(observed, replicated)
	n := float64(len(replicated))
	return (n - float64(below) - float64(ties)/2) / n
}

func cover(y []float64, cells [][]float64, prob float64) Coverage {
	c := Coverage{Prob: prob}
	for i, v := range y {
		if v >= sortedQuantile(cells[i], (1-prob)/2) && v <= sortedQuantile(cells[i], (1+prob)/2) {
			c.Inside++
		}
	}
	e := ecdf{n: len(y), z: []float64{prob}}
	c.P = e.pointwise(0, c.Inside)
	return c
}

// CheckStatistic and CheckCoverage are the names of the checks of a Predictive.
const (
	CheckStatistic Check = "predicted statistic"
	CheckCoverage  Check = "coverage"
)

// Diagnose says which features of the data the model does not reproduce: a
// statistic outside the central 99 % of its replications, a coverage with a
// binomial probability below 1 %.
func (p Predictive) Diagnose() Report {
	var out Report
	for _, s := range p.Statistics {
		if s.P > 0.005 && s.P < 0.995 {
			out = append(out, pass(CheckStatistic, fmt.Sprintf("the %s of the data agrees with its replications (p-value %s)", s.Name, fixed(s.P, 3))))
			continue
		}
		out = append(out, fail(CheckStatistic, fmt.Sprintf("the %s of the data is %s, but 90 %% of its replications lie between %s and %s (p-value %s)", s.Name, short(s.Observed, 4), short(s.Q05, 4), short(s.Q95, 4), fixed(s.P, 3)),
			"change what the model says about it: use another distribution or another scale, or add a term that is missing"))
	}
	for _, c := range p.Coverage {
		found := fmt.Sprintf("%d of %s (%.1f %%) %s in their %s %% interval", c.Inside, errtext.Count(p.Observations, "observation"), percent(c.Inside, p.Observations), verb(c.Inside, "lies", "lie"), exact(100*c.Prob))
		switch {
		case c.P >= 0.01:
			out = append(out, pass(CheckCoverage, found))
		case float64(c.Inside) < c.Prob*float64(p.Observations):
			out = append(out, fail(CheckCoverage, found+", so the predictions are too narrow", "add the missing source of noise, or use a distribution with heavier tails"))
		default:
			out = append(out, fail(CheckCoverage, found+", so the predictions are too wide", "check whether the noise is set too large, or whether the model fits the noise"))
		}
	}
	return out
}

func (p Predictive) cells() (statistics, coverage grid) {
	statistics = grid{{"statistic", "observed", "q05", "q95", "p"}}
	for _, s := range p.Statistics {
		statistics = append(statistics, []string{s.Name, short(s.Observed, 4), short(s.Q05, 4), short(s.Q95, 4), fixed(s.P, 3)})
	}
	coverage = grid{{"interval", "inside", "share", "p"}}
	for _, c := range p.Coverage {
		coverage = append(coverage, []string{exact(100*c.Prob) + " %", fmt.Sprint(c.Inside), fmt.Sprintf("%.1f %%", percent(c.Inside, p.Observations)), fixed(c.P, 3)})
	}
	return statistics, coverage
}

func (p Predictive) note() string {
	return fmt.Sprintf("%s of %s.", errtext.Count(p.Draws, "replication"), errtext.Count(p.Observations, "observation"))
}

// String returns both tables and a verdict.
func (p Predictive) String() string {
	s, c := p.cells()
	return s.text() + "\n\n" + c.text() + "\n" + p.note() + "\n" + p.Diagnose().Verdict()
}

// Markdown returns both tables for Markdown.
func (p Predictive) Markdown() string {
	s, c := p.cells()
	return s.markdown() + "\n" + c.markdown() + "\n" + p.note() + "\n\n" + p.Diagnose().Markdown()
}

// HTML returns both tables for a web page or notebook.
func (p Predictive) HTML() string {
	s, c := p.cells()
	return s.html() + c.html() + "<p>" + html.EscapeString(p.note()) + "</p>\n" + p.Diagnose().HTML()
}

// CSV returns the statistics with all digits.
func (p Predictive) CSV() string {
	g := grid{{"statistic", "observed", "q05", "q95", "p"}}
	for _, s := range p.Statistics {
		g = append(g, exactAll(s.Name, s.Observed, s.Q05, s.Q95, s.P))
	}
	return g.csv()
}

// SimpleRender returns the tables for the notebook gophernotes.
func (p Predictive) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": p.HTML(), "text/plain": p.String()}
}
