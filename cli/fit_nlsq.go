// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
)

func (a *app) fitNLSQ() *cobra.Command {
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
a formula of columns, such as log(y).

  euryale fit nlsq --problem misra1a.json --json
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runFitNLSQ(c.Context(), path) },
	}
	c.Flags().StringVar(&path, "problem", "", "JSON file with the problem, or - for standard input")
	if err := c.MarkFlagRequired("problem"); err != nil {
		panic(err)
	}
	return c
}

func (a *app) runFitNLSQ(ctx context.Context, path string) error {
	f, err := openProblem(path)
	if err != nil {
		return err
	}
	p, s, err := f.LeastSquaresOn(a.backend(1))
	if err != nil {
		return as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	r, v, err := f.Fit(ctx, p, s)
	if ctx.Err() != nil {
		return as(exitInterrupted, err)
	}
	if err != nil {
		return as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	withLimitIn(&v, r.Status)
	if a.json {
		err = a.document(nlsqDocument(p.Device(), r, v))
	} else {
		_, err = fmt.Fprintf(a.stdout, "%s%s\n", nlsqText(r, f.Sigma != ""), v)
	}
	switch {
	case err != nil:
		return as(exitCannotWrite, err)
	case a.strict && !r.Status.Converged():
		return as(exitFailed, fmt.Errorf("the fit did not converge: %s", withLimit(r.Status, r.Status.Message())))
	case a.strict:
		return strictly(v)
	}
	return nil
}

// nlsqText is a table of the parameters and a line on how the fit ended. Without errors of the data, chi-square is in their units and is
// left out.
func nlsqText(r *optim.Result, weighted bool) string {
	var b strings.Builder
	sd := r.SD()
	for i, n := range r.Names {
		fmt.Fprintf(&b, "%-12s %s\n", n, report.PlusMinus(r.X[i], sd[i]))
	}
	b.WriteString(map[bool]string{true: "converged: ", false: "not converged: "}[r.Status.Converged()] + withLimit(r.Status, r.Status.Message()))
	if weighted {
		fmt.Fprintf(&b, "; chi2/dof %.3g", r.ReducedChiSquared())
	}
	fmt.Fprintf(&b, ", cost %.6g, %s\n", r.Cost, errtext.Count(r.NFev, "evaluation"))
	for _, w := range r.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

// nlsqDoc is the JSON document of fit nlsq.
type nlsqDoc struct {
	Engine   string            `json:"engine"`
	Device   string            `json:"device"` // where the residuals were computed
	X        map[string]number `json:"x"`
	SD       map[string]number `json:"sd"`
	Names    []string          `json:"names"`
	Cov      [][]number        `json:"cov"`
	Cost     number            `json:"cost"`
	Reduced  number            `json:"chi2_reduced"`
	Status   string            `json:"status"`
	Message  string            `json:"message"`
	NFev     int               `json:"nfev"`
	NJev     int               `json:"njev"`
	Rank     int               `json:"rank"`
	Active   map[string]int    `json:"active"`
	Warnings []string          `json:"warnings"`
	Check    *checkDoc         `json:"model_check"`
}

func nlsqDocument(device string, r *optim.Result, v check.Verdict) nlsqDoc {
	d := nlsqDoc{Engine: "nlsq", Device: device, X: named(r.Names, r.X), SD: named(r.Names, r.SD()), Names: r.Names, Cost: number(r.Cost), Reduced: number(r.ReducedChiSquared()),
		Status: r.Status.String(), Message: withLimit(r.Status, r.Status.Message()), NFev: r.NFev, NJev: r.NJev, Rank: r.Rank, Active: map[string]int{}, Warnings: append([]string{}, r.Warnings...), Check: checkDocument(v)}
	n := len(r.Names)
	for i, name := range r.Names {
		d.Active[name] = r.Active[i]
		d.Cov = append(d.Cov, numbers(r.Cov[i*n:(i+1)*n]))
	}
	return d
}
