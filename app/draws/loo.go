// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// looDoc is the JSON document of loo.
type looDoc struct {
	Method   string       `json:"method"`
	Variable string       `json:"variable"`
	ELPD     frame.Number `json:"elpd"`
	SE       frame.Number `json:"se"`
	P        frame.Number `json:"p"`
	PSE      frame.Number `json:"p_se"`
	LPPD     frame.Number `json:"lppd"`
	IC       frame.Number `json:"ic"` // information criterion, -2 elpd
	MCSE     frame.Number `json:"mcse"`
	Draws    int          `json:"draws"`
	GoodK    frame.Number `json:"good_k"`
	Bad      []int        `json:"bad"` // indices of the observations whose k exceeds good_k
	Points   []pointDoc   `json:"points"`
	OK       bool         `json:"ok"`
	Advice   []string     `json:"advice"`
}

type pointDoc struct {
	ELPD frame.Number `json:"elpd"`
	K    frame.Number `json:"k"`
	NEff frame.Number `json:"n_eff"`
}

func looCommand(a *frame.App) *cobra.Command {
	var waic bool
	var variable string
	c := &cobra.Command{
		Use:   "loo RUN|FILE...",
		Short: "Estimate from draws how well a model predicts new data",
		Long: `Estimate the expected log predictive density of left-out observations, by
Pareto-smoothed importance sampling (PSIS-LOO) or WAIC. Larger is better. The
log-likelihoods come from a run folder, a Zarr folder, a netCDF 4 file, JSON or
CmdStan CSV files: the draws of log_lik if there are any, and otherwise the
group log_likelihood.

  euryale loo run4
  euryale loo draws.nc --var y
  euryale loo output_*.csv --waic --json
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if i, err := os.Stat(name); err == nil && i.IsDir() && len(args) > 1 {
					return exit.Usage("loo takes the draws of one model, and %s is not the only one: rank models with euryale compare %s", name, strings.Join(args, " "))
				}
			}
			return runLOO(a, args, variable, waic)
		},
	}
	c.Flags().StringVar(&variable, "var", "", "observed variable to use (default the only one)")
	c.Flags().BoolVar(&waic, "waic", false, "use WAIC, which cannot tell when it fails, instead of PSIS-LOO")
	return c
}

func runLOO(a *frame.App, args []string, variable string, waic bool) error {
	l, err := loadLikelihood(a, args, variable)
	if err != nil {
		return err
	}
	e, err := elpd(l, waic)
	if err != nil {
		return err
	}
	rep := e.Diagnose()
	if a.JSON {
		d := looDoc{Method: e.Method, Variable: l.Variable, ELPD: frame.Number(e.ELPD), SE: frame.Number(e.SE), P: frame.Number(e.P), PSE: frame.Number(e.PSE), LPPD: frame.Number(e.LPPD), IC: frame.Number(e.IC()),
			MCSE: frame.Number(e.MCSE), Draws: e.Draws, GoodK: frame.Number(e.GoodK), Bad: append([]int{}, e.Bad()...), OK: rep.OK(), Advice: advice(rep)}
		for _, p := range e.Points {
			d.Points = append(d.Points, pointDoc{frame.Number(p.ELPD), frame.Number(p.K), frame.Number(p.NEff)})
		}
		err = a.Document(d)
	} else {
		_, err = fmt.Fprintln(a.Stdout, e)
	}
	if err == nil && a.Strict && !rep.OK() {
		return exit.With(exit.Failed, fmt.Errorf("diagnostics: %s", exit.Lowered(rep.Verdict())))
	}
	return exit.With(exit.CannotWrite, err)
}

// comparedDoc is one model in the JSON document of compare.
type comparedDoc struct {
	Name          string       `json:"name"`
	ELPD          frame.Number `json:"elpd"`
	SE            frame.Number `json:"se"`
	P             frame.Number `json:"p"`
	Diff          frame.Number `json:"diff"`
	DiffSE        frame.Number `json:"diff_se"`
	Stacking      frame.Number `json:"stacking"`
	PseudoBMA     frame.Number `json:"pseudo_bma"`
	PseudoBMAPlus frame.Number `json:"pseudo_bma_plus"`
	Trusted       bool         `json:"trusted"`
	Evidence      *evidenceDoc `json:"log_evidence,omitempty"` // of a run of smc or with --evidence
}

func compareCommand(a *frame.App) *cobra.Command {
	var waic bool
	var variable string
	var names []string
	c := &cobra.Command{
		Use:   "compare RUN|FILE RUN|FILE...",
		Short: "Rank models of the same data by how well they predict it",
		Long: `Compare models of the same data by PSIS-LOO or WAIC. The table has the standard
errors of the differences and the weights of stacking and pseudo-BMA+. Each
argument is one model: a run folder, a Zarr folder, or a netCDF 4 or JSON file
with log_likelihood.

  euryale compare line-run parabola-run
  euryale compare a.nc b.nc c.nc --names line,parabola,cubic --json
`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runCompare(a, args, names, variable, waic) },
	}
	c.Flags().StringSliceVar(&names, "names", nil, "names of the models, in order (default: from the file names)")
	c.Flags().StringVar(&variable, "var", "", "observed variable to use (default the only one)")
	c.Flags().BoolVar(&waic, "waic", false, "use WAIC, which cannot tell when it fails, instead of PSIS-LOO")
	return c
}

func runCompare(a *frame.App, args, names []string, variable string, waic bool) error {
	if names == nil {
		names = modelNames(args)
	}
	if len(names) != len(args) {
		return exit.Usage("--names gives %s for %s: give one per model", errtext.Count(len(names), "name"), errtext.Count(len(args), "model"))
	}
	var all []diag.ELPD
	var first *runs.Likelihood
	lost := frame.LostOf("model", len(args))
	one := func(arg string) error {
		l, err := loadLikelihood(a, []string{arg}, variable)
		if err != nil {
			return err
		}
		if first != nil && first.Data != nil && l.Data != nil && !slices.Equal(first.Data, l.Data) {
			return exit.With(exit.Data, fmt.Errorf("%s and %s observed different %s: only models of the same data can be compared", first.Name, l.Name, l.Variable))
		}
		e, err := elpd(l, waic)
		if err != nil {
			return err
		}
		first, all = cmp.Or(first, l), append(all, e)
		return nil
	}
	var models, called []string
	for i, arg := range args {
		switch err := one(arg); {
		case err == nil:
			models, called = append(models, arg), append(called, names[i])
		case len(args) == 2 || !lost.Add(a, arg, err): // a comparison needs two
			return err
		}
	}
	if len(all) < 2 {
		return lost.Err("too few to compare")
	}
	args, names = models, called
	r, err := diag.Compare(names, all, diag.CompareSettings{Seed: a.Seed})
	if err != nil {
		return exit.With(exit.Data, err)
	}
	verdict := Comparison(r, args, names, waic)
	evidences := map[string]*evidenceDoc{}
	for i, arg := range args {
		if e := storedEvidence(arg); e != nil {
			evidences[names[i]] = e
		}
	}
	if text := byEvidence(names, evidences); text != "" {
		verdict += "\n" + text
	}
	if !a.JSON {
		_, err = fmt.Fprintln(a.Stdout, strings.Replace(r.String(), r.Verdict(), verdict, 1))
		return errors.Join(exit.With(exit.CannotWrite, err), lost.Err("compared"))
	}
	doc := struct {
		Method  string        `json:"method"`
		Models  []comparedDoc `json:"models"`
		Verdict string        `json:"verdict"`
	}{Method: r.Method, Verdict: verdict}
	for _, m := range r.Rows {
		doc.Models = append(doc.Models, comparedDoc{m.Name, frame.Number(m.ELPD), frame.Number(m.SE), frame.Number(m.P), frame.Number(m.Diff), frame.Number(m.DiffSE), frame.Number(m.Stacking), frame.Number(m.PseudoBMA), frame.Number(m.PseudoBMAPlus), m.Trusted, evidences[m.Name]})
	}
	return errors.Join(a.Document(doc), lost.Err("compared"))
}

// Comparison is the verdict about models, with the commands that show why estimates are not to be trusted.
func Comparison(r diag.Comparison, args, names []string, waic bool) string {
	var bad, commands []string
	for _, m := range r.Rows {
		if m.Trusted {
			continue
		}
		bad = append(bad, m.Name)
		command := "euryale loo " + args[slices.Index(names, m.Name)]
		if waic {
			command += " --waic"
		}
		commands = append(commands, "`"+command+"`")
	}
	text, _, found := strings.Cut(r.Verdict(), " The estimates of ")
	if len(bad) == 0 || !found {
		return r.Verdict()
	}
	why := "Pareto k"
	if waic {
		why = "the variance of the log-likelihood"
	}
	return fmt.Sprintf("%s The estimate of %s cannot be trusted, because %s is too large at some observations: see %s.", text, strings.Join(bad, " and of "), why, strings.Join(commands, " and "))
}

// modelNames returns the last element of each path, or the full paths if two of those are
// equal.
func modelNames(args []string) []string {
	short := make([]string, len(args))
	for i, arg := range args {
		base := filepath.Base(filepath.Clean(arg))
		short[i] = strings.TrimSuffix(base, filepath.Ext(base))
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(short))); len(unique) < len(short) {
		return args
	}
	return short
}

// elpd estimates the predictive accuracy of a model.
func elpd(l *runs.Likelihood, waic bool) (diag.ELPD, error) {
	var e diag.ELPD
	var err error
	if waic {
		e, err = diag.WAIC(l.X, diag.Posterior)
	} else {
		e, err = diag.LOO(l.X, diag.LOOSettings{})
	}
	if err != nil {
		return e, exit.With(exit.Data, fmt.Errorf("%s: %w", l.Name, err))
	}
	e.Observation = l.Observation
	if !waic {
		e = withRefitted(e, l.Name)
	}
	return e, nil
}

// RefittedDoc is an observation, or a block of them, that was predicted by draws about a fit without it.
type RefittedDoc struct {
	Index int          `json:"index"` // among the log-likelihoods of the run
	ELPD  frame.Number `json:"elpd"`
	LPPD  frame.Number `json:"lppd"`
	K     frame.Number `json:"k"`
	NEff  frame.Number `json:"n_eff"`
	MCSE  frame.Number `json:"mcse"`
}

// RefittedOf is the document of a point.
func RefittedOf(i int, p diag.PointELPD) RefittedDoc {
	return RefittedDoc{i, frame.Number(p.ELPD), frame.Number(p.LPPD), frame.Number(p.K), frame.Number(p.NEff), frame.Number(p.MCSE)}
}

// withRefitted takes over the observations that a run folder has from draws about fits without them.
func withRefitted(e diag.ELPD, run string) diag.ELPD {
	var doc struct {
		LOO *struct {
			Blocks   int           `json:"blocks"`
			Refitted []RefittedDoc `json:"refitted"`
		} `json:"loo"`
	}
	b, err := foreign.ReadFile(runs.Folder(run).Path("summary.json"), ".json")
	if err != nil || json.Unmarshal(b, &doc) != nil || doc.LOO == nil || doc.LOO.Blocks != len(e.Points) {
		return e
	}
	points := map[int]diag.PointELPD{}
	for _, r := range doc.LOO.Refitted {
		if r.Index >= 0 && r.Index < len(e.Points) {
			points[r.Index] = diag.PointELPD{ELPD: float64(r.ELPD), LPPD: float64(r.LPPD), P: float64(r.LPPD - r.ELPD), K: float64(r.K), NEff: float64(r.NEff), MCSE: float64(r.MCSE)}
		}
	}
	return e.With(points, diag.Posterior)
}

// loadLikelihood reads the log-likelihoods of one model. The variable may be empty if
// there is only one.
func loadLikelihood(a *frame.App, args []string, variable string) (*runs.Likelihood, error) {
	s, err := loadSource(a, args)
	if err != nil {
		return nil, err
	}
	l, err := s.Likelihood(variable)
	if several := (*runs.SeveralError)(nil); errors.As(err, &several) {
		err = fmt.Errorf("%s: log-likelihoods of %s: choose one with --var", s.Name, strings.Join(several.Names, ", "))
	}
	return l, exit.With(exit.Data, err)
}
