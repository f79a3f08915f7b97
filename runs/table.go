// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/infer/diag"
)

// Table holds draws by parameter, for summaries, checks and plots.
type Table struct {
	Names []string
	X     [][][]float64          // draws by [name][chain][draw]
	Stat  map[string][][]float64 // sampler statistics by ArviZ name, then [chain][draw]
	Depth int                    // largest tree depth allowed; 0 if it is not known
	// Target acceptance rate used to adapt the step size; 0 if it is not known.
	Target float64
	// Approximate is true for independent draws from an approximation of the posterior, which are not chains.
	Approximate bool
}

// Table returns the draws by parameter. Every element of an array is a parameter of its
// own.
func (s *Source) Table() (*Table, error) {
	if s.Tree != nil {
		return treeTable(s)
	}
	return tabulate(s.Name, s.Chains)
}

// cmdstanStats maps ArviZ names of statistics to those of CmdStan.
var cmdstanStats = map[string]string{"diverging": "divergent__", "tree_depth": "treedepth__", "energy": "energy__", "acceptance_rate": "accept_stat__"}

// tabulate makes a table of the columns of CmdStan chains.
func tabulate(file string, chains []*stancsv.Chain) (*Table, error) {
	n := len(chains[0].Draws)
	for _, c := range chains {
		n = min(n, len(c.Draws))
	}
	if n == 0 {
		return nil, fmt.Errorf("%s: a chain has no draws below its header: the run may have been stopped during warm-up, so run it again", file)
	}
	t := &Table{Names: chains[0].Parameters(), Stat: map[string][][]float64{}, Approximate: chains[0].Approximate()}
	column := func(name string) [][]float64 {
		var out [][]float64
		for _, c := range chains {
			out = append(out, c.Column(name)[:n])
		}
		return out
	}
	for _, name := range t.Names {
		t.X = append(t.X, column(name))
	}
	for name, theirs := range cmdstanStats {
		if slices.Contains(chains[0].Columns, theirs) {
			t.Stat[name] = column(theirs)
		}
	}
	t.Depth, _ = strconv.Atoi(chains[0].Settings["max_depth"])
	t.Target, _ = strconv.ParseFloat(chains[0].Settings["delta"], 64)
	if len(t.Names) == 0 {
		return nil, fmt.Errorf("%s: the only columns are those of the sampler (%v): want columns of parameters as well", file, chains[0].Columns)
	}
	return t, nil
}

// treeTable makes a table of the group posterior.
func treeTable(s *Source) (*Table, error) {
	post, err := s.Tree.Group("posterior")
	if err != nil {
		return nil, noPosterior(s.Name, s.Tree)
	}
	t := &Table{Stat: map[string][][]float64{}}
	if t.Names, t.X = post.Draws(); len(t.Names) == 0 || post.Len("chain")*post.Len("draw") == 0 {
		return nil, fmt.Errorf("%s: the group posterior has no draws: want numbers with the axes chain and draw", s.Name)
	}
	if stats, err := s.Tree.Group("sample_stats"); err == nil {
		for _, name := range []string{"diverging", "tree_depth", "energy", "reached_max_treedepth", "acceptance_rate"} {
			if x := stats.Stat(name); x != nil {
				t.Stat[name] = x
			}
		}
		t.Depth, _ = strconv.Atoi(stats.Attrs["max_tree_depth"])
		t.Target, _ = strconv.ParseFloat(stats.Attrs["target_accept"], 64)
	}
	return t, nil
}

// Summary returns means, intervals, effective sample sizes and R-hat.
func (t *Table) Summary() diag.Summary { return diag.Summarize(t.Names, t.X, diag.Settings{}) }

// Evidence returns the sampler's statistics about the draws, for diag.Diagnose.
func (t *Table) Evidence() diag.Evidence {
	limit := t.depthLimit()
	e := diag.Evidence{MaxDepth: limit, Draws: len(t.X[0]) * len(t.X[0][0]), TargetAccept: t.Target}
	e.Divergences = count(t.Stat["diverging"], func(v float64) bool { return v != 0 })
	switch cut := t.Stat["reached_max_treedepth"]; {
	case cut != nil:
		e.DepthHits = count(cut, func(v float64) bool { return v != 0 })
		if depth := t.Stat["tree_depth"]; t.Depth == 0 && depth != nil && e.DepthHits > 0 {
			e.MaxDepth = int(slices.Max(diag.Flatten(depth)))
		}
	case limit > 0:
		e.DepthHits = count(t.Stat["tree_depth"], func(v float64) bool { return int(v) >= limit })
	}
	if energy := t.Stat["energy"]; energy != nil {
		e.EBFMI = diag.EBFMI(energy)
	}
	for _, rates := range t.Stat["acceptance_rate"] {
		e.Acceptance = append(e.Acceptance, diag.Mean(rates))
	}
	if t.Approximate {
		e.Unrecorded = append(e.Unrecorded, diag.CheckESS, diag.CheckStuck) // independent draws have none of them
		if len(t.X[0]) < 2 {                                                // of several approximations R-hat tells whether they are the same
			e.Unrecorded = append(e.Unrecorded, diag.CheckRHat)
		}
	}
	if t.Stat["diverging"] == nil {
		e.Unrecorded = append(e.Unrecorded, diag.CheckDivergence)
	}
	if t.Stat["reached_max_treedepth"] == nil && (t.Stat["tree_depth"] == nil || limit == 0) {
		e.Unrecorded = append(e.Unrecorded, diag.CheckDepth)
	}
	return e
}

// usualDepth is the largest tree depth of Stan, PyMC and NumPyro unless one sets it.
const usualDepth = 10

// depthLimit returns the largest tree depth that was allowed, or 0 if it is not known. Where the draws have tree depths and nothing says
// the limit, as in CmdStan tables whose comments were stripped, it is the usual one, unless a trajectory went beyond.
func (t *Table) depthLimit() int {
	depth := t.Stat["tree_depth"]
	if t.Depth > 0 || depth == nil || count(depth, func(v float64) bool { return v > usualDepth }) > 0 {
		return t.Depth
	}
	return usualDepth
}

func count(x [][]float64, is func(float64) bool) (n int) {
	for _, c := range x {
		for _, v := range c {
			if is(v) {
				n++
			}
		}
	}
	return n
}
