// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/stan"
	"github.com/euryale-dev/euryale/report"
)

// climbs is the number of random places from which the mode is looked for.
const climbs = 8

// A short run of NUTS from the mode shows whether the density around it is where the weight lies.
const (
	scoutWarmup = 200
	scoutDraws  = 100
	// A mean that is farther than this from the mode, in standard deviations of the approximation, or a ratio of standard
	// deviations, tells that they differ.
	mostShift, mostRatio = 1.5, 2
)

func fitStan(a *frame.App) *cobra.Command {
	f := fitting{draws: 1000}
	c := &cobra.Command{
		Use:   "stan MODEL.stan --data FILE.json",
		Short: "Find the mode of a program of the Stan language, with errors",
		Long: `Find the parameters at which the density of a program of the Stan language is
largest, by L-BFGS from eight random places or from --init, and their errors
from the curvature there (Laplace approximation). Intervals and errors are those
of draws from a normal distribution of the unconstrained parameters.

` + dataHelp + `
The density is that of the parameters as they are declared, so that the mode is
the penalised maximum of the likelihood, as CmdStan's optimize finds it. With
--jacobian it is that of the unconstrained parameters, and the draws approximate
the posterior. A short run of NUTS from the mode tells whether they do. Where
they do not, and for models whose density has no maximum, such as hierarchical
ones, sample the posterior.

With --out the results go to a folder: fit.json, the table fits.csv, the mode as
mode.json, which --init takes, the draws as laplace.csv, as CmdStan writes them,
and report.html. --out FILE.csv, .xlsx or .parquet writes only the table.

  euryale fit stan line.stan --data points.csv
  euryale fit stan growth.stan --data growth.json --jacobian --out growth-fit
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := f.model("fit stan", args)
			if err != nil {
				return err
			}
			return f.run(c.Context(), a, file)
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&f.jacobian, "jacobian", false, "include the logarithm of the Jacobian of the constraints in the density")
	c.Flags().IntVar(&f.draws, "draws", f.draws, "number of draws of the normal approximation")
	return c
}

// fitting is one call of fit stan.
type fitting struct {
	files
	program
	jacobian bool
	draws    int
}

func (f *fitting) run(ctx context.Context, a *frame.App, file string) error {
	if f.draws < 20 || f.draws > 1e6 {
		return exit.Usage("--draws %d: want 20 to 1000000", f.draws)
	}
	if err := f.load(a, file, f.files); err != nil {
		return err
	}
	post, err := f.compile(a, file, f.named(), stan.CompileSettings{Seed: a.Seed, NoJacobian: !f.jacobian})
	if err != nil {
		return err
	}
	starts, err := f.starts(post, 1, a.Seed)
	if err != nil {
		return err
	}
	to, err := a.OpenOutputs(append([]string{file}, f.data...)...)
	if err != nil {
		return err
	}
	r, err := f.fit(ctx, a, post, starts)
	if ctx.Err() != nil {
		return exit.With(exit.Interrupted, ctx.Err())
	}
	if err != nil {
		return exit.With(exit.Failed, fmt.Errorf("%s: %w", file, err))
	}
	doc := r.document(file, f.jacobian, post)
	unwritten := to.SaveParameters(a, doc) // what cannot be written is printed all the same
	if to.Folder != "" && unwritten == nil {
		unwritten = r.save(a, to, file, post)
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		if _, err = fmt.Fprint(a.Stdout, doc.text()); err == nil {
			err = a.PrintVerdict(doc.Check, nil, nil)
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
	case a.Strict && len(doc.Warnings) > 0:
		return exit.With(exit.Failed, fmt.Errorf("the mode may not stand for the posterior: %s", doc.Warnings[0]))
	case a.Strict:
		return frame.Strictly(r.verdict)
	}
	return nil
}

// modal is the mode of a program, with what was found about it.
type modal struct {
	q        []float64
	lp       float64
	approx   *infer.Approximation // nil where the curvature says nothing
	verdict  check.Verdict
	warnings []string
	values   map[string]float64 // of the parameters at the mode
	names    []string
	climbs   int
	grads    int
}

// fit climbs from all starts, and approximates the density at the highest place.
func (f *fitting) fit(ctx context.Context, a *frame.App, post density, starts [][]float64) (*modal, error) {
	w := a.Waiting("looking for the mode")
	defer w.Close()
	r := &modal{lp: math.Inf(-1), values: map[string]float64{}, names: post.ParameterNames()}
	n := len(starts)
	if n == 0 {
		n = climbs
	}
	var heights []float64
	var failed error
	for k := range n {
		s := infer.LaplaceSettings{Seed: a.Seed + uint64(k)}
		if starts != nil {
			s.Init = starts[k]
		}
		top, err := infer.Maximize(post, s)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = err
			continue
		}
		r.climbs, r.grads = r.climbs+1, r.grads+top.Gradients
		heights = append(heights, top.LogProb)
		if top.LogProb > r.lp {
			r.q, r.lp = top.Q, top.LogProb
		}
	}
	if r.q == nil {
		return nil, fmt.Errorf("no mode was found: %w: sample the posterior with sample stan, or give parameters without a bound or a prior one", failed)
	}
	r.warn(heights, n, failed)
	row := make([]float64, post.Len())
	if err := post.Write(r.q, row); err != nil {
		return nil, err
	}
	for i, name := range post.Names() {
		r.values[name] = row[i]
	}
	r.approximate(ctx, post, f.draws, a.Seed)
	return r, nil
}

// warn tells what the climbs say about other modes.
func (r *modal) warn(heights []float64, n int, failed error) {
	if failed != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("%d of %d climbs found no mode: %v", n-len(heights), n, failed))
	}
	lower := 0
	for _, h := range heights {
		if h < r.lp-0.01 {
			lower++
		}
	}
	if lower > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%d of %d climbs ended at another, lower mode, with a log density down to %.4g below: there may be higher ones still, so compare with sample stan", lower, len(heights), r.lp-slices.Min(heights)))
	}
}

// approximate draws from the normal distribution at the mode, and judges the model at the draws.
func (r *modal) approximate(ctx context.Context, post density, draws int, seed uint64) {
	var err error
	if r.approx, err = infer.Laplace(post, infer.LaplaceSettings{Init: r.q, Draws: draws, Seed: seed}); err != nil {
		r.approx = nil
		r.warnings = append(r.warnings, fmt.Sprintf("the curvature at the mode gives no errors: %v", err))
		r.verdict = check.Unjudged("there are no errors to judge by", "sample the posterior with sample stan")
		return
	}
	r.grads += r.approx.Gradients
	poor := true
	if k := r.approx.ParetoK; !(k <= 0.7) {
		r.warnings = append(r.warnings, fmt.Sprintf("the density is not like the normal distribution at its mode (Pareto k %.2f, above 0.7): take errors and intervals from sample stan", k))
	} else if differs := r.scout(ctx, post, seed); differs != "" {
		r.warnings = append(r.warnings, differs)
	} else {
		poor = false
	}
	switch {
	case post.Observations() == nil:
		r.verdict, err = unobserved(post)
	case poor: // a right model would be blamed for it
		r.verdict = check.Unjudged("the approximation at the mode is poor, so that its draws do not tell whether the model fits", "sample the posterior with sample stan, which judges the model")
	default:
		r.verdict, err = r.approx.CheckModel(infer.CheckSettings{})
	}
	if err != nil {
		r.verdict = check.Unjudged(exit.Text(err, nil), "look at the parameters and the predictions yourself")
	}
}

// scout samples from the mode on, and says which parameter the draws do not have where the approximation has it; "" if there is none.
func (r *modal) scout(ctx context.Context, post density, seed uint64) string {
	fit, err := infer.Sample(ctx, post, infer.Settings{Init: [][]float64{r.q, r.q}, Chains: 2, Warmup: scoutWarmup, Draws: scoutDraws, Seed: seed})
	if err != nil {
		return fmt.Sprintf("whether the draws around the mode stand for the density could not be seen: %v", err)
	}
	_, sampled := fit.Gradients()
	r.grads += sampled
	worst, text := 0.0, ""
	for _, name := range r.names {
		x, y := r.approx.Draws(name), slices.Concat(fit.Draws(name)...)
		mean, sd, own := diag.Mean(y), diag.SD(y), diag.SD(x)
		shift, ratio := math.Abs(mean-diag.Mean(x))/own, max(sd/own, own/sd)
		if by := max(shift/mostShift, ratio/mostRatio); by > max(1, worst) {
			worst = by
			text = fmt.Sprintf("the mode does not stand for the density: %s is %s around the mode, and %s in a short run of NUTS from there: take the parameters from sample stan", name, report.PlusMinus(diag.Mean(x), own), report.PlusMinus(mean, sd))
		}
	}
	return text
}

// fitDoc is the JSON document of fit stan.
type fitDoc struct {
	Engine   string                    `json:"engine"`
	File     string                    `json:"file"`
	Device   string                    `json:"device"`
	Jacobian bool                      `json:"jacobian"`
	Names    []string                  `json:"names"`
	X        map[string]frame.Number   `json:"x"`
	SD       map[string]frame.Number   `json:"sd"`
	Interval map[string][]frame.Number `json:"interval95"`
	LogProb  frame.Number              `json:"log_prob"`
	ParetoK  frame.Number              `json:"pareto_k"`
	NGrad    int                       `json:"ngrad"`
	Status   string                    `json:"status"`
	Message  string                    `json:"message"`
	Warnings []string                  `json:"warnings"`
	Check    *frame.CheckDoc           `json:"model_check"`
}

func (r *modal) document(file string, jacobian bool, post density) fitDoc {
	d := fitDoc{Engine: "stan", File: file, Device: post.Device(), Jacobian: jacobian, Names: r.names, X: map[string]frame.Number{}, SD: map[string]frame.Number{}, Interval: map[string][]frame.Number{},
		LogProb: frame.Number(r.lp), ParetoK: frame.Number(math.NaN()), NGrad: r.grads, Status: "converged",
		Message: fmt.Sprintf("the highest of %s", errtext.Count(r.climbs, "climb")), Warnings: append([]string{}, r.warnings...), Check: frame.CheckDocument(r.verdict)}
	for _, name := range r.names {
		d.X[name], d.SD[name] = frame.Number(r.values[name]), frame.Number(math.NaN())
		if r.approx != nil {
			x := r.approx.Draws(name)
			d.SD[name] = frame.Number(diag.SD(x))
			d.Interval[name] = frame.Numbers([]float64{diag.Quantile(x, 0.025), diag.Quantile(x, 0.975)})
		}
	}
	if r.approx != nil {
		d.ParetoK = frame.Number(r.approx.ParetoK)
	}
	return d
}

// text is a table of the parameters and a line on how the fit ended.
func (d fitDoc) text() string {
	var b strings.Builder
	for i, n := range d.Names {
		if i == mostRows {
			fmt.Fprintf(&b, "... and %d more, which --out and --json have\n", len(d.Names)-i)
			break
		}
		fmt.Fprintf(&b, "%-12s %s\n", n, report.PlusMinus(float64(d.X[n]), float64(d.SD[n])))
	}
	density := "of the parameters"
	if d.Jacobian {
		density = "of the unconstrained parameters"
	}
	fmt.Fprintf(&b, "%s, log density %s %.6g, %s\n", d.Message, density, float64(d.LogProb), errtext.Count(d.NGrad, "gradient"))
	for _, w := range d.Warnings { // whatever the verdict says, since they are about the numbers above
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

// save writes the mode, the draws and the page into the folder.
func (r *modal) save(a *frame.App, to frame.Outputs, file string, post density) error {
	if err := r.saveMode(to, post); err != nil {
		return err
	}
	if r.approx == nil {
		return nil
	}
	var b strings.Builder
	if err := r.chain(a.Seed).Write(&b); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if err := frame.WriteFile(to.Folder.Path("laplace.csv"), []byte(b.String())); err != nil {
		return err
	}
	return exit.With(exit.CannotWrite, report.StanFit(file, r.approx, r.verdict, r.warnings, a.Page(a.Seed)).Save(string(to.Folder)))
}

// saveMode writes the mode as a file of initial values, which only programs have.
func (r *modal) saveMode(to frame.Outputs, post density) error {
	own, ok := post.(*stan.Posterior)
	if !ok {
		return nil
	}
	values, err := own.Values(r.q)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	text, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	return frame.WriteFile(to.Folder.Path("mode.json"), append(text, '\n'))
}

// dotted writes names of elements as CmdStan's columns have them.
var dotted = strings.NewReplacer("[", ".", ",", ".", "]", "")

// chain is the draws as CmdStan's method laplace writes them.
func (r *modal) chain(seed uint64) *stancsv.Chain {
	c := &stancsv.Chain{Columns: []string{"log_p__", "log_q__"}, Settings: map[string]string{"method": "laplace", "seed": strconv.FormatUint(seed, 10), "euryale_version": frame.Version()}}
	for _, n := range r.approx.Names() {
		c.Columns = append(c.Columns, dotted.Replace(n))
	}
	for i := range r.approx.Len() {
		p, q := r.approx.LogDensities(i)
		c.Draws = append(c.Draws, append([]float64{p, q}, r.approx.Row(i)...))
	}
	return c
}
