// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

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
	evidence bool
}

func (c *choices) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&c.formulas, "compare", nil, "another formula to compare; may be repeated")
	flags.StringVar(&c.values, "choose", "", "values at which to hold a parameter, of which the best is taken, such as n=1:5 for whole numbers, or n=0.5,1,2")
	flags.BoolVar(&c.evidence, "evidence", false, "with --compare or --choose: take the formula or the value with the largest evidence, the probability of the data under the model and its priors, which all parameters need (--prior, or --bounds with two ends)")
}

// choiceDoc is an alternative with what it costs.
type choiceDoc struct {
	Model      string       `json:"model"`
	Parameters int          `json:"parameters"`
	Reduced    frame.Number `json:"chi2_reduced"`
	AICc       frame.Number `json:"aicc"`
	BIC        frame.Number `json:"bic"`
	Predicted  frame.Number `json:"cv_rms"` // of ten folds: in standard deviations, or in units of y without errors
	// LogEvidence has a standard error, and Probability takes all alternatives as equally probable before the data. They are there where they were asked for.
	LogEvidence      *frame.Number `json:"log_evidence,omitempty"`
	LogEvidenceError *frame.Number `json:"log_evidence_error,omitempty"`
	Probability      *frame.Number `json:"probability,omitempty"`
}

// folds is the number of parts of the data that are left out in turn.
const folds = 10

// best fits all alternatives, prints how they compare, and returns the problem of the best.
func (c *choices) best(ctx context.Context, a *frame.App, p *expr.Problem, path string, counts bool) (*expr.Problem, []choiceDoc, error) {
	problems, names, err := c.problems(p)
	if err == nil && c.evidence && len(problems) < 2 {
		err = exit.Usage("--evidence compares models: give others with --compare, or values with --choose; sample curve --evidence gives that of one")
	}
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
		if counts {
			own.Data = maps.Clone(own.Data)
			if least, s, _, err = countsFit(ctx, a, own, least, s, path); err != nil {
				return nil, nil, err
			}
		}
		r, _, err := own.Fit(ctx, least, s)
		if err != nil {
			return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
		}
		cv, err := own.CrossValidate(ctx, r, folds, a.Seed)
		if err != nil {
			cv = math.NaN() // too few rows without some
		}
		more := 0.0 // of the likelihood beyond chi-square
		if counts {
			if more, err = own.DevianceOf(r); err != nil {
				return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
			}
			more -= r.ChiSquared()
		}
		v := r.AICc() + more
		doc := choiceDoc{Model: names[k], Parameters: r.NFree, Reduced: frame.Number(r.ReducedChiSquared()), AICc: frame.Number(v), BIC: frame.Number(r.BIC() + more), Predicted: frame.Number(cv)}
		if c.evidence {
			e, err := own.Evidence(ctx, a.Seed)
			if ctx.Err() != nil {
				return nil, nil, exit.With(exit.Interrupted, ctx.Err())
			}
			if err != nil {
				return nil, nil, exit.With(exit.Data, fmt.Errorf("%s: %s: %w", path, names[k], err))
			}
			value, sd := frame.Number(e.Log), frame.Number(e.Error)
			doc.LogEvidence, doc.LogEvidenceError, v = &value, &sd, -e.Log
		}
		docs = append(docs, doc)
		if chosen == nil || v < first {
			first, chosen = v, own
		}
	}
	if c.evidence {
		probabilities(docs)
	}
	return chosen, docs, nil
}

// probabilities are those of alternatives that are equally probable before the data.
func probabilities(docs []choiceDoc) {
	all := make([]float64, len(docs))
	for i, d := range docs {
		all[i] = float64(*d.LogEvidence)
	}
	total := floats.LogSumExp(all)
	for i := range docs {
		p := frame.Number(math.Exp(all[i] - total))
		docs[i].Probability = &p
	}
}

// problems are the alternatives with their names, the given one first.
func (c *choices) problems(p *expr.Problem) (all []*expr.Problem, names []string, err error) {
	if c.values != "" && len(c.formulas) > 0 {
		return nil, nil, exit.Usage("--choose %s and --compare: give one of them", c.values)
	}
	if c.values == "" && len(c.formulas) == 0 {
		return []*expr.Problem{p}, []string{p.Expr}, nil
	}
	if c.values == "" {
		own := p.With(p.Expr, "", 0)
		own.Relevant()
		all, names = []*expr.Problem{own}, []string{p.Expr}
		for _, text := range c.formulas {
			if _, err := formula.Parse(text); err != nil {
				return nil, nil, exit.Usage("--compare: %v", err)
			}
			own := p.With(text, "", 0)
			own.Relevant()
			all, names = append(all, own), append(names, text)
		}
		for name := range p.Priors {
			if !slices.ContainsFunc(all, func(o *expr.Problem) bool { return o.Priors[name] != "" }) {
				return nil, nil, exit.Usage("--prior %s: no formula has a parameter %s", name, name)
			}
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
	evidence := docs[0].LogEvidence != nil
	more := ""
	if evidence {
		more = "\tlog evidence\tprobability"
	}
	fmt.Fprintf(w, "model\tparameters\tchi2/dof\tAICc\tBIC\terror of what is left out%s\n", more)
	for _, d := range docs {
		if evidence {
			more = fmt.Sprintf("\t%.2f +- %.2g\t%.3g", float64(*d.LogEvidence), float64(*d.LogEvidenceError), float64(*d.Probability))
		}
		fmt.Fprintf(w, "%s\t%d\t%.4g\t+%.1f\t+%.1f\t%.4g%s\n", d.Model, d.Parameters, float64(d.Reduced), float64(d.AICc)-aicc, float64(d.BIC)-bic, float64(d.Predicted), more)
	}
	_ = w.Flush()
	if evidence {
		return b.String() + fmt.Sprintf("the largest evidence of %s follows; it depends on how wide the priors are, and the probabilities take all as equally probable before the data\n", errtext.Count(len(docs), "model"))
	}
	return b.String() + fmt.Sprintf("the least AICc of %s follows\n", errtext.Count(len(docs), "model"))
}
