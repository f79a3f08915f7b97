// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Fit is the result of Sample: draws by chain, what the sampler recorded about
// them, and how long it took. Only AddMissedModes and FindModes change it.
type Fit struct {
	// Stopped says why the run ended early. It is empty if it did not.
	Stopped string
	// Warnings say what to know before comparing draws bit by bit.
	Warnings []string
	Elapsed  time.Duration

	cfg    Settings
	names  []string
	chains []*chain
	// n holds the number of kept draws per chain.
	n    []int
	away []diag.Runaway
	// modes is the search for modes that the draws lack, and told are those that something else found.
	modes *modeFinder
	told  []diag.MissedMode

	mu sync.Mutex
	// verdict is the last verdict about the model that was asked for.
	verdict *check.Verdict
	// asked is true once the default verdict has been tried.
	asked    bool
	evidence *Evidence
	walkers  bool // whether the chains are walkers of an ensemble, or islands, whose draws have no trajectories

	tableMu sync.Mutex
	// table is the last one that Summarize made, with its settings. Summaries, reports and criteria
	// all ask for it.
	table    *diag.Summary
	tableSet diag.Settings
}

// Timing is the time chains spent; they may have run at the same time.
type Timing struct{ Warmup, Sampling time.Duration }

func newFit(r *run) *Fit {
	f := &Fit{Stopped: r.stopped, Warnings: r.warnings, Elapsed: r.elapsed, cfg: r.cfg, names: r.names, chains: r.chains}
	for _, c := range r.chains {
		n := min(len(c.kept.rows), r.cfg.Draws)
		if r.cut > 0 {
			n = min(n, r.cut)
		}
		f.n = append(f.n, n)
	}
	if r.islands != nil {
		f.evidence, f.walkers = r.islands.evidence(), true
	}
	f.away, f.modes = f.runaways(), f.searchModes()
	return f
}

// Names returns the names of the columns.
func (f *Fit) Names() []string { return f.names }

// Coordinates says in words in which coordinates the chains moved, nothing where they are the unconstrained parameters; see
// Settings.Coordinates and Settings.NoMarginals.
func (f *Fit) Coordinates() []string {
	told := f.cfg.integrated
	if f.cfg.kept != "" {
		told = []string{"no parameter is integrated out, since " + f.cfg.kept}
	}
	return slices.Concat(told, f.cfg.moves)
}

// SoftSteps reports whether steps with large energy errors were refined; see Settings.PlainSteps.
func (f *Fit) SoftSteps() bool { return f.cfg.soft }

// WarmupDraws returns the number of draws in which each chain adapted.
func (f *Fit) WarmupDraws() int { return f.cfg.rounds + f.cfg.warmup() }

// Chains returns the number of chains.
func (f *Fit) Chains() int { return len(f.chains) }

// Len returns the number of kept draws of a chain.
func (f *Fit) Len(chain int) int { return f.n[chain] }

// Draws returns the draws [chain][draw] of a named column, or nil.
func (f *Fit) Draws(name string) [][]float64 {
	for i, n := range f.names {
		if n == name {
			return f.Column(i)
		}
	}
	return nil
}

// Column returns the draws [chain][draw] of column i.
func (f *Fit) Column(i int) [][]float64 {
	out := make([][]float64, len(f.chains))
	for c := range out {
		out[c] = column(f.chains[c].kept.columns()[:f.n[c]], i)
	}
	return out
}

// Row returns all columns of one draw; do not write to it.
func (f *Fit) Row(chain, draw int) []float64 {
	return f.chains[chain].kept.columns()[:f.n[chain]][draw]
}

// Unconstrained returns the sampler's coordinates of one draw; do not write to
// them.
func (f *Fit) Unconstrained(chain, draw int) []float64 {
	return f.chains[chain].kept.rows[:f.n[chain]][draw]
}

// Stats returns what was recorded about the draws of a chain; do not write to
// it.
func (f *Fit) Stats(chain int) []DrawStat { return f.chains[chain].kept.stats[:f.n[chain]] }

// WarmupColumn and WarmupStats return the warm-up if Settings.KeepWarmup was set.
func (f *Fit) WarmupColumn(i int) [][]float64 {
	out := make([][]float64, len(f.chains))
	for c := range out {
		out[c] = column(f.chains[c].warm.columns(), i)
	}
	return out
}

// WarmupStats returns what was recorded about the warm-up of a chain if
// Settings.KeepWarmup was set.
func (f *Fit) WarmupStats(chain int) []DrawStat { return f.chains[chain].warm.stats }

// StatNames lists the names that Stat knows, those of ArviZ.
func StatNames() []string {
	return []string{"lp", "acceptance_rate", "step_size", "tree_depth", "n_steps", "diverging", "energy",
		"energy_error", "max_energy_error", "reached_max_treedepth", "index_in_trajectory"}
}

// Stat returns a statistic [chain][draw] by its name, true as 1, or nil.
func (f *Fit) Stat(name string) [][]float64 {
	get, ok := statOf[name]
	if !ok {
		return nil
	}
	out := make([][]float64, len(f.chains))
	for c := range out {
		for _, s := range f.Stats(c) {
			out[c] = append(out[c], get(&s))
		}
	}
	return out
}

var statOf = map[string]func(*DrawStat) float64{
	"lp":                    func(s *DrawStat) float64 { return s.LogProb },
	"acceptance_rate":       func(s *DrawStat) float64 { return s.AcceptanceRate },
	"step_size":             func(s *DrawStat) float64 { return s.StepSize },
	"tree_depth":            func(s *DrawStat) float64 { return float64(s.TreeDepth) },
	"n_steps":               func(s *DrawStat) float64 { return float64(s.Steps) },
	"diverging":             func(s *DrawStat) float64 { return truth(s.Diverging) },
	"energy":                func(s *DrawStat) float64 { return s.Energy },
	"energy_error":          func(s *DrawStat) float64 { return s.EnergyError },
	"max_energy_error":      func(s *DrawStat) float64 { return s.MaxEnergyError },
	"reached_max_treedepth": func(s *DrawStat) float64 { return truth(s.ReachedMax) },
	"index_in_trajectory":   func(s *DrawStat) float64 { return float64(s.Index) },
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Divergences returns the records of trajectories that diverged, warm-up
// included, at most 1000 per chain.
func (f *Fit) Divergences() []Divergence {
	var out []Divergence
	for _, c := range f.chains {
		out = append(out, c.divergences...)
	}
	return out
}

// Divergent returns the number of kept draws whose trajectory diverged.
func (f *Fit) Divergent() int { return f.count(func(s *DrawStat) bool { return s.Diverging }) }

// DepthHits returns the number of kept draws whose trajectory was cut short.
func (f *Fit) DepthHits() int { return f.count(func(s *DrawStat) bool { return s.ReachedMax }) }

func (f *Fit) count(is func(*DrawStat) bool) (n int) {
	for c := range f.chains {
		for _, s := range f.Stats(c) {
			if is(&s) {
				n++
			}
		}
	}
	return n
}

// EBFMI returns the energy Bayesian fraction of missing information per chain.
func (f *Fit) EBFMI() []float64 { return diag.EBFMI(f.Stat("energy")) }

// Gradients returns the number of gradient evaluations of all chains in
// warm-up, the search for starts and steps included, and in sampling.
func (f *Fit) Gradients() (warmup, sampling int) {
	for _, c := range f.chains {
		warmup += c.warmupGrads
		sampling += c.tr.Count - c.warmupGrads
	}
	return warmup, sampling
}

// Timing returns the time of each chain.
func (f *Fit) Timing() []Timing {
	var out []Timing
	for _, c := range f.chains {
		out = append(out, Timing{Warmup: c.times[0], Sampling: c.times[1]})
	}
	return out
}

// Adapted returns the metric and step size a chain ended with, for
// Settings.StartMetric and Settings.StepSize of another run. They are those of the coordinates
// in which it moved: where Coordinates tells of others than the parameters of the model,
// Settings.From serves another run.
func (f *Fit) Adapted(chain int) (Metric, float64) {
	return Metric{f.chains[chain].ad.Metric}, f.chains[chain].ad.StepSize
}

// Summary describes every column with the default settings.
func (f *Fit) Summary() diag.Summary { return f.Summarize(diag.Settings{}) }

// Summarize describes every column. Chains of unequal length, as after a
// cancellation, count up to the shortest; chains without draws do not count.
func (f *Fit) Summarize(s diag.Settings) diag.Summary {
	out := f.summarized(s)
	out.Note = f.note(f.report(out))
	return out
}

// summarized returns the table without its note.
func (f *Fit) summarized(s diag.Settings) diag.Summary {
	f.tableMu.Lock()
	defer f.tableMu.Unlock()
	if f.table == nil || f.tableSet != s {
		chains := f.common()
		x := make([][][]float64, len(f.names))
		for i := range x {
			x[i] = make([][]float64, len(chains))
			for k, rows := range chains {
				x[i][k] = column(rows, i)
			}
		}
		table := diag.Summarize(f.names, x, s)
		table.Chains = len(chains)
		if len(chains) > 0 {
			table.Draws = len(chains[0])
		}
		f.table, f.tableSet = &table, s
	}
	out := *f.table
	out.Rows = slices.Clone(out.Rows) // the caller may change them
	return out
}

// common returns the rows of the chains that have any, equally many of each.
func (f *Fit) common() [][][]float64 {
	shortest := 0
	for _, n := range f.n {
		if n > 0 && (shortest == 0 || n < shortest) {
			shortest = n
		}
	}
	var out [][][]float64
	for c, n := range f.n {
		if n > 0 {
			out = append(out, f.chains[c].kept.columns()[:shortest])
		}
	}
	return out
}

// AddMissedModes adds modes that something else than this run has found and that its draws do not represent, such as those of
// chains of an earlier attempt. Diagnose and Summary tell of them from then on.
func (f *Fit) AddMissedModes(m ...diag.MissedMode) { f.told = append(f.told, m...) }

// MissedModes returns the modes that were found and that the draws do not represent.
func (f *Fit) MissedModes() (missed []diag.MissedMode) {
	if f.modes != nil {
		for _, m := range f.modes.missed {
			missed = append(missed, m.MissedMode)
		}
	}
	return append(missed, f.told...)
}

// Diagnose judges the draws.
func (f *Fit) Diagnose() diag.Report { return f.report(f.summarized(diag.Settings{})) }

func (f *Fit) report(s diag.Summary) diag.Report {
	e := diag.Evidence{DepthHits: f.DepthHits(), MaxDepth: f.cfg.MaxTreeDepth, Divergences: f.Divergent(),
		EBFMI: f.EBFMI(), Runaways: f.away}
	if !slices.ContainsFunc(f.away, func(r diag.Runaway) bool { return r.Flat }) { // on a ridge without end any place is a mode
		e.Missed = f.MissedModes()
	}
	if !f.cfg.NoWarmup {
		e.TargetAccept = f.cfg.TargetAccept
	}
	if f.walkers {
		e.EBFMI = nil // walkers have no momenta, and so neither energies nor trajectories
		e.Unrecorded = []diag.Check{diag.CheckDepth, diag.CheckDivergence}
	}
	for c := range f.chains {
		e.Draws += f.n[c]
		if f.n[c] > 0 && !f.walkers && f.chains[c].tr.Target.Dim() > 0 {
			e.Acceptance = append(e.Acceptance, f.acceptance(c))
		}
	}
	r := diag.Diagnose(s, e)
	if f.evidence != nil {
		r = append(r, f.evidence.advice())
	}
	if a := f.laplaceAdvice(); a != nil {
		r = append(r, *a)
	}
	return r
}

// Aim returns what the step size of a chain was adapted to: Settings.TargetAccept,
// or more where the default was raised.
func (f *Fit) Aim(chain int) float64 { return f.chains[chain].ad.Aim() }

// acceptance returns the mean acceptance rate of the kept draws of a chain.
func (f *Fit) acceptance(chain int) float64 {
	sum := 0.0
	for _, s := range f.Stats(chain) {
		sum += s.AcceptanceRate
	}
	return sum / float64(f.n[chain])
}

// OK reports whether the draws meet the criteria; the zero Criteria asks for
// R-hat at most 1.01, effective sample sizes of at least 400, no divergence.
func (f *Fit) OK(c diag.Criteria) bool {
	return c.Accepts(f.summarized(diag.Settings{}), f.Divergent())
}

// String returns one line about the run.
func (f *Fit) String() string { return f.note(nil) }

func (f *Fit) note(r diag.Report) string {
	lengths := errtext.Count(f.n[0], "draw")
	for _, n := range f.n {
		if n != f.n[0] {
			lengths = strings.ReplaceAll(strings.Trim(fmt.Sprint(f.n), "[]"), " ", "+") + " draws"
		}
	}
	warm, sampling := f.Gradients()
	s := fmt.Sprintf("%s of %s, %s, %s, %s s.", errtext.Count(len(f.chains), "chain"), lengths,
		errtext.Count(f.Divergent(), "divergence"), errtext.Count(warm+sampling, "gradient"), twoDigits(f.Elapsed.Seconds()))
	if f.Stopped != "" {
		s += " The run stopped early: " + f.Stopped + "."
	}
	if r != nil {
		s += "  " + both(r, f.quoted())
	}
	return s
}

// twoDigits writes a duration with two digits, or whole seconds.
func twoDigits(seconds float64) string {
	if seconds >= 10 {
		return fmt.Sprintf("%.0f", seconds)
	}
	return fmt.Sprintf("%.2g", seconds)
}

// both puts the verdict about the chains and that about the model together.
func both(chains diag.Report, model *check.Verdict) string {
	if model == nil {
		return chains.Verdict()
	}
	return chains.Verdict() + "  " + model.Summary()
}
