// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
)

func fitNLSQ(a *frame.App) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "nlsq --problem FILE.json",
		Short: "Fit a formula to columns of numbers by least squares",
		Long: `Fit a formula to columns of numbers by nonlinear least squares.

  {"expr": "b1*(1-exp(-b2*x))", "data": {"x": [...], "y": [...]}, "y": "y",
   "start": {"b1": 500, "b2": 1e-4}}

Optional keys: "sigma" (a column of errors), "bounds" {"b1": [0, null]}, "fixed"
{"b1": 3}, "tied" {"b3": "2*b1"}, "loss" (linear, soft_l1, huber, cauchy,
arctan) with "f_scale", "method" (lm, trf, dogbox), "absolute_sigma" (default
true if sigma is given), "ftol", "xtol", "gtol" and "max_nfev". "y" may also be
a formula of columns, such as log(y). "units" {"b2": "1/s"} are for tables and
documents.

With --out the results go to a folder, as fit.json, as the table fits.csv with a
row for each parameter, and as report.html with pictures of data, model and
residuals. --out FILE.csv, .xlsx or .parquet writes only the
table.

  euryale fit nlsq --problem misra1a.json --json
  euryale fit nlsq --problem misra1a.json --out misra1a.xlsx
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runFitNLSQ(c.Context(), a, path) },
	}
	c.Flags().StringVar(&path, "problem", "", "JSON file with the problem, or - for standard input")
	if err := c.MarkFlagRequired("problem"); err != nil {
		panic(err)
	}
	return c
}

func runFitNLSQ(ctx context.Context, a *frame.App, path string) error {
	f, err := draws.OpenProblem(path)
	if err != nil {
		return err
	}
	p, s, err := f.LeastSquaresOn(a.Backend(1))
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	to, err := a.OpenOutputs(path)
	if err != nil {
		return err
	}
	r, v, err := f.Fit(ctx, p, s)
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, err)
	}
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	draws.WithLimitIn(&v, r.Status)
	doc := nlsqDocument(p.Device(), r, v)
	doc.File, doc.Units = path, unitsOf(f.Units)
	unwritten := to.SaveParameters(a, doc) // what cannot be written is printed all the same
	if to.Folder != "" && unwritten == nil {
		unwritten = drawNLSQ(a, to, f, r, v, path)
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		if _, err = fmt.Fprint(a.Stdout, nlsqText(r, f.Sigma != "", f.Units)); err == nil {
			err = a.PrintVerdict(doc.Check, doc.Warnings, nil)
		}
		if told := to.Told(); told != "" && unwritten == nil {
			a.Note("%s", told)
		}
	}
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && !r.Status.Converged():
		return exit.With(exit.Failed, fmt.Errorf("the fit did not converge: %s", draws.WithLimit(r.Status, r.Status.Message())))
	case a.Strict:
		return frame.Strictly(v)
	}
	return nil
}

// drawNLSQ writes the page of a fit into the folder of the results.
func drawNLSQ(a *frame.App, to frame.Outputs, p *expr.Problem, r *optim.Result, v check.Verdict, path string) error {
	predicted, err := p.Predicted(r)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	return exit.With(exit.CannotWrite, report.FormulaFit(path, p, predicted, v, a.Page(0)).Save(string(to.Folder)))
}

// nlsqText is a table of the parameters and a line on how the fit ended. The reduced chi-square is left out without errors of the data,
// in whose units it would be, and without degrees of freedom.
func nlsqText(r *optim.Result, weighted bool, units map[string]string) string {
	var b strings.Builder
	sd := r.SD()
	for i, n := range r.Names {
		fmt.Fprintf(&b, "%-12s %s\n", n, frame.WithUnit(report.PlusMinus(r.X[i], sd[i]), units[n]))
	}
	b.WriteString(map[bool]string{true: "converged: ", false: "not converged: "}[r.Status.Converged()] + draws.WithLimit(r.Status, r.Status.Message()))
	if reduced := r.ReducedChiSquared(); weighted && !math.IsNaN(reduced) {
		fmt.Fprintf(&b, "; chi2/dof %.3g", reduced)
	}
	fmt.Fprintf(&b, ", cost %.6g, %s\n", r.Cost, errtext.Count(r.NFev, "evaluation"))
	return b.String()
}

// nlsqDoc is the JSON document of fit nlsq.
type nlsqDoc struct {
	Engine   string                  `json:"engine"`
	File     string                  `json:"file"`
	Device   string                  `json:"device"` // where the residuals were computed
	Units    map[string]string       `json:"units"`  // of the parameters that the problem gives one
	X        map[string]frame.Number `json:"x"`
	SD       map[string]frame.Number `json:"sd"`
	Names    []string                `json:"names"`
	Cov      [][]frame.Number        `json:"cov"`
	Cost     frame.Number            `json:"cost"`
	Reduced  frame.Number            `json:"chi2_reduced"`
	Status   string                  `json:"status"`
	Message  string                  `json:"message"`
	NFev     int                     `json:"nfev"`
	NJev     int                     `json:"njev"`
	Rank     int                     `json:"rank"`
	Active   map[string]int          `json:"active"`
	Warnings []string                `json:"warnings"`
	Check    *frame.CheckDoc         `json:"model_check"`
}

// unitsOf returns units as documents hold them: none are an empty object.
func unitsOf(units map[string]string) map[string]string {
	if units == nil {
		return map[string]string{}
	}
	return units
}

func nlsqDocument(device string, r *optim.Result, v check.Verdict) nlsqDoc {
	d := nlsqDoc{Engine: "nlsq", Device: device, X: frame.Named(r.Names, r.X), SD: frame.Named(r.Names, r.SD()), Names: r.Names, Cost: frame.Number(r.Cost), Reduced: frame.Number(r.ReducedChiSquared()),
		Status: r.Status.String(), Message: draws.WithLimit(r.Status, r.Status.Message()), NFev: r.NFev, NJev: r.NJev, Rank: r.Rank, Active: map[string]int{}, Warnings: append([]string{}, r.Warnings...), Check: frame.CheckDocument(v)}
	n := len(r.Names)
	for i, name := range r.Names {
		d.Active[name] = r.Active[i]
		d.Cov = append(d.Cov, frame.Numbers(r.Cov[i*n:(i+1)*n]))
	}
	return d
}
