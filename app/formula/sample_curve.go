// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/optim"
)

func sampleCurve(a *frame.App) *cobra.Command {
	var f curveFlags
	var cfg exprConfig
	c := &cobra.Command{
		Use:   "curve DATA... FORMULA",
		Short: "Sample the parameters of a formula of a table",
		Long: `Sample the posterior of the parameters of a formula of columns with NUTS.

` + curveHelp + `
Parameters without --prior have a flat one, between their --bounds if there are
any; a note names them. Where the errors of y are unknown, their standard
deviation is a parameter, sigma. --likelihood takes another distribution than
the normal one, in which mu is the value of the formula.

--sigma-x gives errors of a column x, whose true values are sampled as x_true,
with a flat prior or that of --prior "x=normal(m, s)", whose m and s may be
numbers or parameters with priors of their own.

Chains start near the best fit. The results are those of sample expr, and
--resume continues a run, with --draws N until it has N draws per chain.

  euryale sample curve decay.csv "a*exp(-t/tau) + c" \
    --prior "tau=lognormal(1, 1)" --prior "c=normal(0, 2)"
  euryale sample curve counts.csv "exp(a + b*x)" --likelihood "poisson(mu)"
`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			run := cfg.run(a, "sample curve")
			switch {
			case a.Resume != "" && len(args) == 0:
				return run.Resume(a, c)
			case a.Resume != "":
				return exit.Usage("--resume %s has the table and the formula: leave both out", a.Resume)
			case len(args) < 2:
				return exit.Usage("sample curve needs a table and a formula, or --resume RUN")
			}
			if err := cfg.Check(); err != nil {
				return err
			}
			if err := frame.CheckSettings(&f.parameters); err != nil {
				return err
			}
			files, text := args[:len(args)-1], args[len(args)-1]
			p, err := f.problem(a, files, text)
			if err != nil {
				return err
			}
			cfg.File = strings.Join(files, ", ")
			a.Out = cmp.Or(a.Out, "run-"+strings.TrimSuffix(filepath.Base(files[0]), filepath.Ext(files[0])))
			if f.by != "" {
				return f.ofFlags(f.sampleEach(c.Context(), a, p, &cfg, tablesOf(files)))
			}
			if err := f.complete(c.Context(), a, p); err != nil {
				return f.ofFlags(exit.InFile(args[0], err))
			}
			cfg.Problem, run.Inputs = p, tablesOf(files)
			return f.ofFlags(run.Start(c.Context(), a))
		},
	}
	f.add(c, "sample curve")
	c.Flags().StringVar(&f.by, "by", "", "column by whose values the rows are sampled one group after another, each into a folder in that of the run")
	c.Flags().StringVar(&f.likelihood, "likelihood", "", "distribution of an observation, such as \"studentt(4, mu, sigma)\" or \"poisson(mu)\" (default \"normal(mu, sigma)\")")
	f.fit.addOfX(c.Flags())
	cfg.Add(c, draws.DefaultChains(setting.Sampler{}))
	return c
}

// tablesOf are the files of tables, without their parts.
func tablesOf(names []string) (files []string) {
	for _, name := range names {
		file, _ := columns.SplitPart(name)
		files = append(files, file)
	}
	return files
}

// samplesDoc is the JSON document of sample curve with --by.
type samplesDoc struct {
	Engine string          `json:"engine"`
	File   string          `json:"file"`
	By     string          `json:"by"`
	Groups []sampleOfGroup `json:"groups"`
}

// sampleOfGroup is the document of one group.
type sampleOfGroup struct {
	Group  string          `json:"group"` // such as run=3
	Rows   int             `json:"rows"`
	Sample json.RawMessage `json:"sample"` // as that of sample expr
}

// sampleEach samples the rows of each value of a column, into a folder each.
func (f *curveFlags) sampleEach(ctx context.Context, a *frame.App, p *expr.Problem, cfg *exprConfig, files []string) (err error) {
	groups, labels, err := f.groups(p)
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: --by: %w", cfg.File, err))
	}
	parent, first, stdout := a.Out, *cfg, a.Stdout
	doc := samplesDoc{Engine: "expr", File: first.File, By: f.by, Groups: []sampleOfGroup{}}
	if a.JSON {
		defer func() { // what was sampled, also where a later group fails
			a.Stdout = stdout
			if told := a.Document(doc); err == nil {
				err = told
			}
		}()
	}
	for k, group := range groups {
		own := p.Rows(group)
		delete(own.Data, f.by)
		name := f.by + "=" + labels[k]
		a.Note("%s, %s", name, errtext.Count(len(group), "row"))
		if err := f.complete(ctx, a, own); err != nil {
			return exit.With(exit.Data, fmt.Errorf("%s, %s: %w", first.File, name, err))
		}
		*cfg = first
		cfg.Problem = own
		a.Out = filepath.Join(parent, plainName(name))
		var text bytes.Buffer
		if a.JSON {
			a.Stdout = &text
		}
		run := cfg.run(a, "sample curve")
		run.Inputs = files
		err := run.Start(ctx, a)
		if json.Valid(text.Bytes()) {
			doc.Groups = append(doc.Groups, sampleOfGroup{name, len(group), text.Bytes()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plainName is a name for a folder.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '=' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// complete gives parameters without a prior a flat one, and starts.
func (f *curveFlags) complete(ctx context.Context, a *frame.App, p *expr.Problem) error {
	parsed, err := formula.Parse(p.Expr)
	if err != nil {
		return err
	}
	if err := p.Squarable(); err != nil {
		return err
	}
	used := parsed.Names()
	likelihood := cmp.Or(p.Likelihood, "normal(mu, sigma)")
	call, err := formula.ParseCall(likelihood)
	if err != nil {
		return fmt.Errorf("--likelihood: %w", err)
	}
	if !slices.Contains(call.Names(), "mu") {
		return fmt.Errorf("--likelihood %s has no mu, the value of the formula: write it as, for example, poisson(mu)", likelihood)
	}
	for _, n := range call.Names() {
		if n != "mu" && !(n == "sigma" && p.Sigma != "") && !slices.Contains(used, n) {
			used = append(used, n)
		}
	}
	var flat []string
	for _, n := range used {
		_, column := p.Data[n]
		_, fixed := p.Fixed[n]
		if column || fixed || p.Tied[n] != "" || p.Priors[n] != "" {
			continue
		}
		if _, bounded := p.Bounds[n]; !bounded && !slices.Contains(parsed.Names(), n) { // the scale or the shape of the likelihood
			if p.Bounds == nil {
				p.Bounds = map[string]expr.Bounds{}
			}
			p.Bounds[n] = expr.Bounds{0, math.Inf(1)}
		}
		flat = append(flat, n)
	}
	p.Flat = flat
	for name, over := range parsed.Indices() {
		if p.Groups == nil {
			p.Groups = map[string]expr.Group{}
		}
		p.Groups[name] = expr.Group{Over: over}
	}
	if len(flat) > 0 {
		a.Note("flat priors: %s; --prior gives others", strings.Join(flat, ", "))
	}
	return f.startNear(ctx, a, p, parsed)
}

// startNear gives a start to all parameters of the formula, where least squares describe the likelihood.
func (f *curveFlags) startNear(ctx context.Context, a *frame.App, p *expr.Problem, parsed *formula.Formula) error {
	p.Start = nil
	if p.Likelihood != "" && !strings.Contains(p.Likelihood, "mu, sigma)") {
		return nil
	}
	own := *p
	own.Priors, own.Flat, own.Likelihood, own.Start = nil, nil, "", nil
	own.Bounds = map[string]expr.Bounds{}
	for _, n := range parsed.Names() {
		_, fixed := p.Fixed[n]
		if _, column := p.Data[n]; column || fixed || p.Tied[n] != "" {
			continue
		}
		if b := p.Range(n); b[0] < b[1] && !(math.IsInf(b[0], -1) && math.IsInf(b[1], 1)) {
			own.Bounds[n] = b
		}
	}
	guessed, err := own.Guess(ctx)
	if err != nil || len(guessed.Names) == 0 {
		return ctx.Err() // chains find their own way
	}
	least, s, err := own.LeastSquares()
	if err != nil {
		return nil
	}
	r, _, err := own.Fit(ctx, least, s)
	if err != nil {
		return ctx.Err()
	}
	if err := unscaled(p, r); err != nil {
		return err
	}
	tellOpen(ctx, a, p, least, r, s)
	p.Start = map[string]expr.Values{}
	for i, n := range r.Names {
		n, _, _ = strings.Cut(n, "[")
		if _, fixed := p.Fixed[n]; !fixed && p.Tied[n] == "" {
			p.Start[n] = append(p.Start[n], r.X[i])
		}
	}
	y, err := p.Observed()
	if err != nil {
		return err
	}
	for _, n := range p.Flat {
		if !slices.Contains(parsed.Names(), n) {
			p.Start[n] = expr.Values{max(math.Sqrt(2*r.Cost/float64(len(y))), 1e-300)}
		}
	}
	for n := range p.Priors {
		if p.Start[n] == nil { // of the likelihood, or a parameter of other priors
			p.Start = nil
			break
		}
	}
	return nil
}

// unscaled says that there is no posterior of sigma with a flat prior, whose density is sigma^(k-n) for n rows and k parameters: it has no finite integral towards infinity where
// n is at most k + 1 and these have flat priors, and none towards 0 where the formula passes through all points.
func unscaled(p *expr.Problem, r *optim.Result) error {
	if p.Sigma != "" || !slices.Contains(p.Flat, "sigma") || p.Bounds["sigma"] != (expr.Bounds{0, math.Inf(1)}) {
		return nil
	}
	rows, flat := r.DoF()+len(r.Names), 0
	for _, n := range r.Names {
		if n, _, _ = strings.Cut(n, "["); slices.Contains(p.Flat, n) && p.Bounds[n] == (expr.Bounds{}) {
			flat++
		}
	}
	const remedy = "give a column of errors as --sigma, or a prior such as --prior \"sigma=lognormal(0, 1)\""
	if rows <= flat+1 {
		return exit.With(exit.Data, fmt.Errorf("there is no posterior: %s and %s with flat priors leave sigma without an upper limit, want at least %d rows: %s, or more rows", errtext.Count(rows, "row"), errtext.Count(flat, "parameter"), flat+2, remedy))
	}
	y, err := p.Observed()
	if err != nil {
		return err
	}
	largest := 0.0
	for _, v := range y {
		largest = max(largest, math.Abs(v))
	}
	if rms := math.Sqrt(2 * r.Cost / float64(rows)); rms <= exactFit*largest {
		return exit.With(exit.Data, fmt.Errorf("there is no posterior: the formula passes through all %d rows, with residuals of %.2g, so that sigma, whose prior is flat, has no lower limit: %s", rows, rms, remedy))
	}
	return nil
}

// exactFit is the size of residuals, as a part of the largest value, that is rounding.
const exactFit = 1e-10

// tellOpen names parameters with flat priors that can grow without end, or shrink to where the formula ends, at a price in chi-square that the data do not raise further: the posterior then
// has no finite integral, and chains wander off.
func tellOpen(ctx context.Context, a *frame.App, p *expr.Problem, least *optim.Problem, r *optim.Result, s optim.Settings) {
	const far = 1 - 1e-8 // probability within the interval whose ends are looked for: a rise of chi-square by 33
	if r.DoF() < 1 || r.Cov == nil {
		return
	}
	var open []string
	for _, n := range r.Names {
		if !slices.Contains(p.Flat, n) || p.Bounds[n] != (expr.Bounds{}) {
			continue
		}
		iv, err := optim.Profile(ctx, least, r, optim.ProfileSettings{Settings: s, Level: far, Names: []string{n}})
		if err == nil && len(iv) == 1 && (iv[0].LowerOpen || iv[0].UpperOpen) {
			open = append(open, n)
		}
	}
	if len(open) > 0 {
		a.Note("the data keep %s within no limits: chi-square hardly rises further however far they go, so that under flat priors there is no posterior; give bounds or priors, such as --prior \"%s=normal(%.3g, %.2g)\"", strings.Join(open, ", "), open[0], r.Value(open[0]), 10*math.Abs(r.Value(open[0])))
	}
}
