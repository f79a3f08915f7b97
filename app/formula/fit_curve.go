// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/report"
)

func fitCurve(a *frame.App) *cobra.Command {
	var f curveFlags
	var u uncertainty
	c := &cobra.Command{
		Use:   "curve DATA... FORMULA",
		Short: "Fit a formula to a table by least squares",
		Long: `Fit a formula to the columns of a table by nonlinear least squares.

` + curveHelp + `
Starts are found from the data unless --start gives them: fits from the best of
many places, of which a note says how many ended at the same minimum. With --by,
rows with the same value of a column are fitted one after another.

` + fitFlagsHelp + `
` + uncertaintyHelp + `
Results go to --out as for fit nlsq: a folder with fit.json, fits.csv and
report.html, or only a table.

  euryale fit curve decay.csv "a*exp(-t/tau) + c"
  euryale fit curve decay.xlsx "a*exp(-t/tau)" --y counts --sigma poisson
  euryale fit curve line.csv "a + b*x" --sigma dy --sigma-x x=dx
  euryale fit curve all.csv "vmax*s/(km + s)" --by enzyme --out kinetics.csv
`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			args, err := u.run.open(a, c, "fit curve", args)
			if err != nil {
				return err
			}
			if len(args) < 2 {
				return exit.Usage("fit curve needs a table and a formula in quotation marks, such as fit curve decay.csv \"a*exp(-t/tau)\"")
			}
			if a.Resume == "" {
				u.run.files(upTo(len(args) - 1)...)
			}
			files, text := args[:len(args)-1], args[len(args)-1]
			if err := frame.CheckSettings(&f.parameters); err != nil {
				return err
			}
			f.others, f.fitted = u.choices.formulas, true
			p, err := f.problem(a, files, text)
			if err != nil {
				return err
			}
			u.counts = p.Sigma == madeErrors && strings.EqualFold(f.sigma, "poisson")
			if p.Loss, p.FScale = f.Loss, f.FScale; f.by != "" {
				return f.fitEach(c.Context(), a, p, files, &u)
			}
			return f.ofFlags(fitProblem(c.Context(), a, p, strings.Join(files, ", "), &u, files...))
		},
	}
	f.add(c, "fit curve")
	c.Flags().StringVar(&f.by, "by", "", "column by whose values the rows are fitted one group after another")
	f.fit.add(c.Flags())
	u.add(c.Flags())
	return c
}

// groupDoc is the JSON document of fit curve with --by.
type groupDoc struct {
	Engine string    `json:"engine"`
	File   string    `json:"file"`
	By     string    `json:"by"`
	Fits   []nlsqDoc `json:"fits"`
}

// fitEach fits the rows of each value of a column.
func (f *curveFlags) fitEach(ctx context.Context, a *frame.App, p *expr.Problem, files []string, u *uncertainty) error {
	path := strings.Join(files, ", ")
	groups, label, err := f.groups(p)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: --by: %w", path, err))
	}
	to, err := u.outputs(a, files...)
	if err != nil {
		return err
	}
	u.guesses = &guesses{}
	doc := groupDoc{Engine: "nlsq", File: path, By: f.by}
	var failed []string
	bad := 0
	var fits []*expr.Fitted
	var titles []string
	for k, group := range groups {
		own := p.Rows(group)
		delete(own.Data, f.by)
		name := f.by + "=" + label[k]
		one, err := fitOne(ctx, a, own, path+", "+name, u)
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, ctx.Err())
		}
		if err != nil {
			failed = append(failed, name)
			a.Note("%s", exit.Text(err, nil))
			continue
		}
		one.doc.File = name
		fits, titles = append(fits, &one.Fitted), append(titles, name)
		doc.Fits = append(doc.Fits, one.doc)
		if !one.Verdict.OK {
			bad++
		}
		if !a.JSON {
			if _, err := fmt.Fprintf(a.Stdout, "%s, %s\n", name, errtext.Count(len(group), "row")); err != nil {
				return exit.With(exit.CannotWrite, err)
			}
			if err := one.print(a, u); err != nil {
				return err
			}
		}
	}
	u.guesses.tell(a)
	if err := to.SaveParameters(a, doc); err != nil {
		return err
	}
	if to.Folder != "" && len(fits) > 0 {
		page, err := report.FormulaFits(path, fits, titles, a.Page(0))
		if err == nil {
			err = page.Save(string(to.Folder))
		}
		if err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	}
	if a.JSON {
		if err := a.Document(doc); err != nil {
			return exit.With(exit.CannotWrite, err)
		}
	} else if told := to.Told(); told != "" {
		a.Note("%s", told)
	}
	switch {
	case len(failed) > 0:
		return exit.With(exit.Failed, fmt.Errorf("%d of %s failed: %v", len(failed), errtext.Count(len(groups), "group"), slices.Clip(failed)))
	case a.Strict && bad > 0:
		return exit.With(exit.Failed, fmt.Errorf("the model does not agree with the data in %d of %s", bad, errtext.Count(len(groups), "group")))
	}
	return nil
}
