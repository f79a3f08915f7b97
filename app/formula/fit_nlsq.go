// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
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
	var u uncertainty
	c := &cobra.Command{
		Use:   "nlsq FILE.json",
		Short: "Fit a formula to columns of numbers by least squares",
		Long: `Fit a formula to columns of numbers by nonlinear least squares.

  {"expr": "b1*(1-exp(-b2*x))", "data": {"x": [...], "y": [...]}, "y": "y",
   "start": {"b1": 500, "b2": 1e-4}}

"data" may also name a table beside the problem, such as "decay.csv". Parameters
without a start get one from the data. "fit curve" needs no problem file.

Optional keys: "sigma" (a column of errors), "bounds" {"b1": [0, null]}, "fixed"
{"b1": 3}, "tied" {"b3": "2*b1"}, "loss" (linear, soft_l1, huber, cauchy,
arctan) with "f_scale", "method" (lm, trf, dogbox), "absolute_sigma" (default
true if sigma is given), "ftol", "xtol", "gtol" and "max_nfev". "y" may also be
a formula of columns, such as log(y). "units" {"b2": "1/s"} are for tables and
documents. "sigma_x" {"x": "dx"} are errors of columns of the formula, with
"implicit" for one that is 0 at their true values; "cov" (a matrix or its file),
"scale_error", "offset_error" and "ar1" describe correlated errors; "priors" may
be normal or lognormal. "derived" {"half": "log(2)/b2"} get errors as well.

` + uncertaintyHelp + `
With --out the results go to a folder, as fit.json, as the table fits.csv with a
row for each parameter, as curve.csv with the curve and its bands at the data,
and as report.html with pictures of data, model, bands and residuals. --out
FILE.csv, .xlsx or .parquet writes only the table.

  euryale fit nlsq misra1a.json --json
  euryale fit nlsq misra1a.json --profile --out misra1a.xlsx
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			args, err := u.run.open(a, c, "fit nlsq", args)
			if err != nil {
				return err
			}
			if a.Resume == "" {
				u.run.files(upTo(len(args))...)
			}
			switch {
			case len(args) == 1 && path != "":
				return exit.Usage("%s and --problem %s: give one of them", args[0], path)
			case len(args) == 1:
				path = args[0]
			case path == "":
				return exit.Usage("fit nlsq needs a problem FILE.json")
			}
			return runFitNLSQ(c.Context(), a, path, &u)
		},
	}
	c.Flags().StringVar(&path, "problem", "", "JSON file with the problem, or - for standard input")
	u.add(c.Flags())
	return c
}

func runFitNLSQ(ctx context.Context, a *frame.App, path string, u *uncertainty) error {
	f, err := draws.OpenProblem(path)
	if err != nil {
		return err
	}
	return fitProblem(ctx, a, f, path, u, path)
}

// fitProblem fits a problem of files and gives out the results. Parameters without a start get one from the data.
func fitProblem(ctx context.Context, a *frame.App, f *expr.Problem, path string, u *uncertainty, files ...string) error {
	to, err := u.outputs(a, files...)
	if err != nil {
		return err
	}
	one, err := fitOne(ctx, a, f, path, u)
	if err != nil {
		return err
	}
	unwritten := to.SaveParameters(a, one.doc) // what cannot be written is printed all the same
	if to.Folder != "" && unwritten == nil {
		unwritten = one.draw(a, to, path)
	}
	if a.JSON {
		err = a.Document(one.doc)
	} else {
		err = one.print(a, u)
		if told := to.Told(); told != "" && unwritten == nil {
			a.Note("%s", told)
		}
	}
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && !one.Result.Status.Converged():
		return exit.With(exit.Failed, fmt.Errorf("the fit did not converge: %s", draws.WithLimit(one.Result.Status, one.Result.Status.Message())))
	case a.Strict:
		return frame.Strictly(one.Verdict)
	}
	return nil
}

// fitted is one fit.
type fitted struct {
	expr.Fitted
	doc    nlsqDoc
	units  map[string]float64 // in which the fit was made inside, by column and parameter; nil for those of the table
	counts bool               // whether errors are the roots of the predicted counts
}

// fitOne fits a problem, and computes what is asked for about its errors.
func fitOne(ctx context.Context, a *frame.App, f *expr.Problem, path string, u *uncertainty) (*fitted, error) {
	if err := u.into(f); err != nil {
		return nil, err
	}
	units := u.inside(a, &f, path)
	f, chosen, err := u.choices.best(ctx, a, f, path, u.counts)
	if err != nil {
		return nil, err
	}
	if err := f.Sound(); err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	guessed, err := f.Guess(ctx)
	if ctx.Err() != nil {
		return nil, exit.With(exit.Interrupted, ctx.Err())
	}
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	if u.guesses == nil {
		tellGuess(a, guessed)
	} else {
		u.guesses.add(guessed)
	}
	if phi, err := f.EstimateAR1(ctx); err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	} else if phi != 0 {
		a.Note("errors of neighbouring rows have a correlation of %.3g, found from the residuals", phi)
	}
	p, s, err := f.LeastSquaresOn(a.Backend(1))
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	settled := false
	if u.counts {
		if p, s, settled, err = countsFit(ctx, a, f, p, s, path); err != nil {
			return nil, err
		}
	}
	for again := 0; ; again++ {
		r, v, err := f.Fit(ctx, p, s)
		if ctx.Err() != nil {
			return nil, exit.With(exit.Interrupted, ctx.Err())
		}
		if err != nil {
			return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
		}
		draws.WithLimitIn(&v, r.Status)
		one := &fitted{expr.Fitted{Problem: f, Result: r, Verdict: v}, nlsqDocument(p.Device(), r, v), units, settled}
		one.doc.Choices = chosen
		one.doc.File, one.doc.Units = path, unitsOf(f.Units)
		err = u.compute(ctx, a, one, p, s)
		if ctx.Err() != nil {
			return nil, exit.With(exit.Interrupted, ctx.Err())
		}
		var lower *optim.LowerCostError
		if errors.As(err, &lower) && again < mostRefits {
			a.Note("%s: a lower minimum was found on the way, of cost %.6g instead of %.6g: the fit begins again from there", path, lower.Least, lower.Cost)
			p.Start = lower.X
			continue
		}
		if err != nil {
			return nil, exit.With(exit.Failed, fmt.Errorf("%s: %w", path, err))
		}
		one.inUnitsOfTable()
		return one, nil
	}
}

// mostRefits is the number of times that a fit begins again from a lower minimum that a profile met.
const mostRefits = 20

// countsFit returns the fit of counts with the roots of the predicted counts as errors, from where these agree, or the given one, with those of the observed
// counts, where there are none, and whether there is one.
func countsFit(ctx context.Context, a *frame.App, f *expr.Problem, p *optim.Problem, s optim.Settings, path string) (*optim.Problem, optim.Settings, bool, error) {
	x, err := f.ErrorsOfCounts(ctx, a.Backend(1))
	switch {
	case ctx.Err() != nil:
		return p, s, false, exit.With(exit.Interrupted, ctx.Err())
	case err != nil:
		return p, s, false, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	case x == nil:
		a.Note("%s: some predicted counts are not above 0, or do not settle, so that errors are the roots of the observed counts, which draw the fit towards low ones: give bounds, or name a column of errors", path)
		return p, s, false, nil
	}
	if p, s, err = f.LeastSquaresOn(a.Backend(1)); err != nil {
		return p, s, false, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	p.Start = x
	return p, s, true, nil
}

// guesses count how starts of several fits were found.
type guesses struct {
	fits, single, once int
	alike              map[string]int // by parameter, in how many groups other values fit equally or nearly as well
}

// add counts one fit: with starts from the data, and whether all ended at one minimum.
func (g *guesses) add(one expr.Guessed) {
	if len(one.Names) == 0 || one.Fits < 2 {
		return
	}
	if g.fits++; one.Best == one.Fits {
		g.single++
	}
	if one.Best == 1 {
		g.once++
	}
	told := map[string]bool{}
	for _, alias := range slices.Concat(one.Aliases, one.Near) {
		if g.alike == nil {
			g.alike = map[string]int{}
		}
		if !told[alias.Name] {
			told[alias.Name] = true
			g.alike[alias.Name]++
		}
	}
}

// tell says in one line how the starts of all groups were found.
func (g *guesses) tell(a *frame.App) {
	switch {
	case g.fits == 0:
	case g.single == g.fits:
		a.Note("starts were found from the data: in each of %s all fits ended at one minimum", errtext.Count(g.fits, "group"))
	default:
		a.Note("starts were found from the data by several fits each: of %s, %d had more than one minimum, of which the best was taken, and %d met that one only once", errtext.Count(g.fits, "group"), g.fits-g.single, g.once)
	}
	for _, name := range slices.Sorted(maps.Keys(g.alike)) {
		a.Note("in %d of %s the data tell other values of %s hardly or not at all apart from the ones that were taken: give a start or bounds if they are others", g.alike[name], errtext.Count(g.fits, "group"), name)
	}
}

// tellGuess says where starts came from, and whether fits from other places ended elsewhere.
func tellGuess(a *frame.App, g expr.Guessed) {
	switch n := g.Fits - g.Best; {
	case len(g.Names) == 0 || g.Fits < 2:
	case n == 0:
		a.Note("starts were found from the data: all of %s ended at one minimum", errtext.Count(g.Fits, "fit"))
	case math.IsNaN(g.Next):
		a.Note("starts were found from the data: %d of %s ended at the best minimum", g.Best, errtext.Count(g.Fits, "fit"))
	default:
		a.Note("starts were found from the data: %d of %s ended at the best minimum, and the next best has %.4g times its sum of squares", g.Best, errtext.Count(g.Fits, "fit"), g.Next)
	}
	for _, one := range g.Aliases {
		a.Note("the data do not tell %s = %s apart, which fit equally well; the least was taken: give a start or bounds if it is another", one.Name, values(one.Values))
	}
	tellNear(a, g.Near)
}

// tellNear says which parameters have other values at minima that fit hardly worse.
func tellNear(a *frame.App, near []expr.Alias) {
	for _, one := range near {
		a.Note("the data hardly tell %s = %s apart: chi-square differs by less than 3.84; the best was taken: give a start or bounds if it is another", one.Name, values(one.Values))
	}
}

// values lists numbers, the first few of many.
func values(x []float64) string {
	var out []string
	for _, v := range x[:min(len(x), 4)] {
		out = append(out, fmt.Sprintf("%.4g", v))
	}
	if len(x) > 4 {
		out = append(out, "...")
	}
	return strings.Join(out, ", ")
}

// print writes the table of the parameters, what was asked for about their errors, and the verdict.
func (f *fitted) print(a *frame.App, u *uncertainty) error {
	if _, err := fmt.Fprint(a.Stdout, choiceText(f.doc.Choices), f.text(), u.text(f)); err != nil {
		return err
	}
	return a.PrintVerdict(f.doc.Check, f.doc.Warnings, nil)
}

// draw writes the table of the curve and the page of a fit into the folder of the results.
func (f *fitted) draw(a *frame.App, to frame.Outputs, path string) error {
	page, err := report.FormulaFit(path, &f.Fitted, a.Page(0))
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	t, err := curveTable(f)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	if t != nil {
		if err := t.Save(to.Folder.Path("curve.csv"), true); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	return exit.With(exit.CannotWrite, page.Save(string(to.Folder)))
}

// text is a table of the parameters and a line on how the fit ended. The reduced chi-square is left out without errors of the data,
// in whose units it would be, and without degrees of freedom.
func (f *fitted) text() string {
	var b strings.Builder
	r := f.Result
	for _, n := range r.Names {
		fmt.Fprintf(&b, "%-12s %s%s\n", n, frame.WithUnit(report.PlusMinus(float64(f.doc.X[n]), float64(f.doc.SD[n])), f.doc.Units[n]), f.ends(n))
	}
	b.WriteString(map[bool]string{true: "converged: ", false: "not converged: "}[r.Status.Converged()] + draws.WithLimit(r.Status, r.Status.Message()))
	if reduced := r.ReducedChiSquared(); f.Problem.Sigma != "" && !math.IsNaN(reduced) {
		fmt.Fprintf(&b, "; chi2/dof %.3g", reduced)
	}
	if !math.IsNaN(float64(f.doc.Cost)) {
		fmt.Fprintf(&b, ", cost %.6g", float64(f.doc.Cost))
	}
	fmt.Fprintf(&b, ", %s\n", errtext.Count(r.NFev, "evaluation"))
	return b.String()
}

// nlsqDoc is the JSON document of fit nlsq.
type nlsqDoc struct {
	Engine      string                    `json:"engine"`
	File        string                    `json:"file"`
	Device      string                    `json:"device"` // where the residuals were computed
	Units       map[string]string         `json:"units"`  // of the parameters that the problem gives one
	X           map[string]frame.Number   `json:"x"`
	SD          map[string]frame.Number   `json:"sd"`
	Names       []string                  `json:"names"`
	Derived     map[string]derivedDoc     `json:"derived,omitempty"`    // quantities that follow from the parameters
	Interval    map[string][]frame.Number `json:"interval95,omitempty"` // by profiles, where asked for
	Interval68  map[string][]frame.Number `json:"interval68,omitempty"`
	Limits      map[string][]frame.Number `json:"limits95,omitempty"` // one-sided
	Contours    []contourDoc              `json:"contours,omitempty"`
	Bootstrap   *bootstrapDoc             `json:"bootstrap,omitempty"`
	Correlation [][]frame.Number          `json:"correlation"`
	Minima      []minimumDoc              `json:"minima,omitempty"`
	Choices     []choiceDoc               `json:"choices,omitempty"`
	Cov         [][]frame.Number          `json:"cov"`
	Cost        frame.Number              `json:"cost"`
	Reduced     frame.Number              `json:"chi2_reduced"`
	Status      string                    `json:"status"`
	Message     string                    `json:"message"`
	NFev        int                       `json:"nfev"`
	NJev        int                       `json:"njev"`
	Rank        int                       `json:"rank"`
	Active      map[string]int            `json:"active"`
	Warnings    []string                  `json:"warnings"`
	Check       *frame.CheckDoc           `json:"model_check"`
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
