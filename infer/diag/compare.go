// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// CompareSettings are the settings of Compare; the zero value is the default.
type CompareSettings struct {
	Convention Convention // divisor of variances: n-1 (Posterior, the default) or n (ArviZ)
	Bootstrap  int        // number of samples of the Bayesian bootstrap. Default 1000: weights to about 0.01
	Seed       uint64     // seed of the bootstrap
}

// Comparison ranks models by how well they predict, the best one first.
type Comparison struct {
	Rows   []Compared
	Method string
}

// Compared is one model of a Comparison.
type Compared struct {
	Name          string
	ELPD, SE, P   float64
	Diff          float64 // ELPD minus that of the best model: 0 or negative
	DiffSE        float64 // standard error of Diff, from the paired observations
	Stacking      float64 // weight in the mixture of models that predicts best
	PseudoBMA     float64 // weight by exp(ELPD)
	PseudoBMAPlus float64 // weight by exp(ELPD), averaged over a Bayesian bootstrap
	Trusted       bool    // true if the checks of the estimate itself passed
}

// Compare ranks the estimates of models called names. They must come from one
// method and from the same observations in the same order.
func Compare(names []string, models []ELPD, s CompareSettings) (Comparison, error) {
	if err := comparable(names, models); err != nil {
		return Comparison{}, err
	}
	elpd := make([][]float64, len(models))
	for k := range models {
		elpd[k] = models[k].Elements()
	}
	order := make([]float64, len(models))
	for k := range models {
		order[k] = -models[k].ELPD
	}
	rank := ascending(order)
	best := rank[0]
	stacking, bma, plus := Stacking(elpd), PseudoBMA(elpd), PseudoBMAPlus(elpd, s.Bootstrap, s.Seed)
	out := Comparison{Method: models[0].Method}
	for _, k := range rank {
		diff := make([]float64, len(elpd[k]))
		for i := range diff {
			diff[i] = elpd[k][i] - elpd[best][i]
		}
		row := Compared{Name: names[k], ELPD: models[k].ELPD, SE: models[k].SE, P: models[k].P, Diff: total(diff), DiffSE: s.Convention.sumError(diff),
			Stacking: stacking[k], PseudoBMA: bma[k], PseudoBMAPlus: plus[k], Trusted: models[k].Diagnose().OK()}
		if k == best {
			row.Diff, row.DiffSE = 0, 0
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

func comparable(names []string, models []ELPD) error {
	if len(models) < 2 || len(names) != len(models) {
		return fmt.Errorf("diag: there are %d names for %d models: give one name for each, and at least 2 models", len(names), len(models))
	}
	for k := range models {
		switch {
		case slices.Contains(names[:k], names[k]):
			return fmt.Errorf("diag: two models are called %s: give each a name of its own", names[k])
		case models[k].Method != models[0].Method:
			return fmt.Errorf("diag: %s was estimated by %s, but %s by %s: compare estimates of one method", names[0], models[0].Method, names[k], models[k].Method)
		case len(models[k].Points) != len(models[0].Points) || len(models[k].Points) == 0:
			return fmt.Errorf("diag: %s has %d observations, but %s has %d: compare models of the same data", names[0], len(models[0].Points), names[k], len(models[k].Points))
		}
	}
	return nil
}

func (c Comparison) cells() grid {
	g := grid{{"", "elpd", "se", "p", "diff", "dse", "stacking", "pseudo-BMA+", "trusted"}}
	for _, r := range c.Rows {
		yes := "yes"
		if !r.Trusted {
			yes = "no"
		}
		g = append(g, []string{r.Name, rounded(r.ELPD, r.SE/20), rounded(r.SE, r.SE/20), rounded(r.P, r.SE/20),
			rounded(r.Diff, r.DiffSE/20), rounded(r.DiffSE, r.DiffSE/20), fixed(r.Stacking, 2), fixed(r.PseudoBMAPlus, 2), yes})
	}
	return g
}

// Verdict says in words which models remain candidates.
func (c Comparison) Verdict() string {
	if len(c.Rows) == 0 {
		return "There are no models to compare."
	}
	var close, bad []string
	for _, r := range c.Rows {
		if r.Name != c.Rows[0].Name && !c.worse(r) {
			close = append(close, r.Name)
		}
		if !r.Trusted {
			bad = append(bad, r.Name)
		}
	}
	s := c.Rows[0].Name + " predicts best; every other model is worse by more than 2 standard errors of the difference and by more than 4 in elpd."
	if len(close) > 0 {
		s = fmt.Sprintf("%s ranks first, but not clearly above %s: their elpd differs by less than 4, or by less than 2 standard errors of the difference. Keep the simplest model, average the models by the stacking weights, or measure more.", c.Rows[0].Name, strings.Join(close, ", "))
	}
	if len(bad) > 0 {
		s += fmt.Sprintf(" The estimates of %s failed their checks, so the ranks may be wrong: to see what to do, run `euryale loo` on each of these models, or call the method Diagnose of its ELPD in Go.", listed(bad))
	}
	return s
}

// worse reports whether a model clearly predicts worse than the best. Below a
// difference of 4 the normal error is not to be relied upon: Sivula, Magnusson,
// Matamoros and Vehtari, arXiv 2008.10296.
func (c Comparison) worse(r Compared) bool {
	return r.Diff < -4 && !(math.Abs(r.Diff) < 2*r.DiffSE)
}

// String returns the ranks as aligned text, and the verdict.
func (c Comparison) String() string { return c.cells().text() + "\n" + c.Verdict() }

// Markdown returns the ranks for Markdown.
func (c Comparison) Markdown() string { return c.cells().markdown() + "\n" + c.Verdict() + "\n" }

// HTML returns the ranks for a web page or notebook.
func (c Comparison) HTML() string {
	return c.cells().html() + "<p>" + html.EscapeString(c.Verdict()) + "</p>\n"
}

// CSV returns the ranks with all digits.
func (c Comparison) CSV() string {
	g := grid{{"model", "elpd", "se", "p", "elpd_diff", "dse", "stacking", "pseudobma", "pseudobma_plus"}}
	for _, r := range c.Rows {
		g = append(g, exactAll(r.Name, r.ELPD, r.SE, r.P, r.Diff, r.DiffSE, r.Stacking, r.PseudoBMA, r.PseudoBMAPlus))
	}
	return g.csv()
}

// SimpleRender returns the ranks for the notebook gophernotes.
func (c Comparison) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": c.HTML(), "text/plain": c.String()}
}
