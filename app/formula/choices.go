// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/expr"
)

// choices are alternatives to a fit: other formulas, and values at which a parameter is held.
type choices struct {
	formulas []string
	values   string
}

func (c *choices) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.formulas, "compare", nil, "another formula to compare; may be repeated")
	flags.StringVar(&c.values, "choose", "", "values at which to hold a parameter, of which the best is taken, such as n=1:5 for whole numbers, or n=0.5,1,2")
}

// choiceDoc is an alternative with what it costs.
type choiceDoc struct {
	Model      string       `json:"model"`
	Parameters int          `json:"parameters"`
	Reduced    frame.Number `json:"chi2_reduced"`
	AICc       frame.Number `json:"aicc"`
	BIC        frame.Number `json:"bic"`
	Predicted  frame.Number `json:"cv_rms"` // of ten folds: in standard deviations, or in units of y without errors
}

// folds is the number of parts of the data that are left out in turn.
const folds = 10

// best fits all alternatives, prints how they compare, and returns the problem of the best.
func (c *choices) best(ctx context.Context, a *frame.App, p *expr.Problem, path string) (*expr.Problem, []choiceDoc, error) {
	problems, names, err := c.problems(p)
	if err != nil || len(problems) < 2 {
		return p, nil, err
	}
	var docs []choiceDoc
	first := math.Inf(1)
	var chosen *expr.Problem
	for k, own := range problems {
		if _, err := own.Guess(ctx); err != nil {
			return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
		}
		least, s, err := own.LeastSquares()
		if err != nil {
			return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
		}
		r, _, err := own.Fit(ctx, least, s)
		if err != nil {
			return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
		}
		cv, err := own.CrossValidate(ctx, r, folds, a.Seed)
		if err != nil {
			cv = math.NaN() // too few rows without some
		}
		docs = append(docs, choiceDoc{names[k], r.NFree, frame.Number(r.ReducedChiSquared()), frame.Number(r.AICc()), frame.Number(r.BIC()), frame.Number(cv)})
		if v := r.AICc(); chosen == nil || v < first {
			first, chosen = v, own
		}
	}
	return chosen, docs, nil
}

// problems are the alternatives with their names, the given one first.
func (c *choices) problems(p *expr.Problem) (all []*expr.Problem, names []string, err error) {
	if c.values != "" && len(c.formulas) > 0 {
		return nil, nil, exit.Usage("--choose %s and --compare: give one of them", c.values)
	}
	if c.values == "" {
		all, names = []*expr.Problem{p}, []string{p.Expr}
		for _, text := range c.formulas {
			if _, err := formula.Parse(text); err != nil {
				return nil, nil, exit.Usage("--compare: %v", err)
			}
			own := p.With(text, "", 0)
			own.Relevant()
			all, names = append(all, own), append(names, text)
		}
		return all, names, nil
	}
	name, list, err := assigned("choose", c.values)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := formula.Parse(p.Expr)
	if err != nil {
		return nil, nil, exit.Usage("%v", err)
	}
	if _, column := p.Data[name]; column || !slices.Contains(parsed.Names(), name) {
		return nil, nil, exit.Usage("--choose %s: the formula %q has no parameter %s%s", c.values, p.Expr, name, didYouMean(name, parsed.Names()))
	}
	values, err := chosenValues(list)
	if err != nil {
		return nil, nil, exit.Usage("--choose %s: %v", c.values, err)
	}
	for _, v := range values {
		all, names = append(all, p.With("", name, v)), append(names, fmt.Sprintf("%s = %g", name, v))
	}
	return all, names, nil
}

// chosenValues reads 1:5 or 0.5,1,2.
func chosenValues(text string) (values []float64, err error) {
	if from, to, ok := strings.Cut(text, ":"); ok {
		lo, err1 := strconv.Atoi(strings.TrimSpace(from))
		hi, err2 := strconv.Atoi(strings.TrimSpace(to))
		if err1 != nil || err2 != nil || lo >= hi || hi-lo > 100 {
			return nil, fmt.Errorf("want whole numbers such as 1:5, at most 100 of them")
		}
		for v := lo; v <= hi; v++ {
			values = append(values, float64(v))
		}
		return values, nil
	}
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil, fmt.Errorf("%s is no number, with a point as the decimal sign", part)
		}
		values = append(values, v)
	}
	if len(values) < 2 {
		return nil, fmt.Errorf("want two values or more")
	}
	return values, nil
}

// choiceText is a table of alternatives, with the difference of each criterion to its best.
func choiceText(docs []choiceDoc) string {
	if len(docs) == 0 {
		return ""
	}
	least := func(of func(d choiceDoc) frame.Number) float64 {
		v := math.Inf(1)
		for _, d := range docs {
			v = min(v, float64(of(d)))
		}
		return v
	}
	aicc, bic := least(func(d choiceDoc) frame.Number { return d.AICc }), least(func(d choiceDoc) frame.Number { return d.BIC })
	var b strings.Builder
	w := foreign.Table(&b, 0)
	fmt.Fprintf(w, "model\tparameters\tchi2/dof\tAICc\tBIC\terror of what is left out\n")
	for _, d := range docs {
		fmt.Fprintf(w, "%s\t%d\t%.4g\t+%.1f\t+%.1f\t%.4g\n", d.Model, d.Parameters, float64(d.Reduced), float64(d.AICc)-aicc, float64(d.BIC)-bic, float64(d.Predicted))
	}
	_ = w.Flush()
	return b.String() + fmt.Sprintf("the least AICc of %s follows\n", errtext.Count(len(docs), "model"))
}
