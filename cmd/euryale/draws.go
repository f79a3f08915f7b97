package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/infer/diag"
)

// drawTable is what summary, diagnose and plot work on: draws of ours or of
// others, from any of the forms that loadSource reads.
type drawTable struct {
	names  []string
	x      [][][]float64          // [name][chain][draw]
	stat   map[string][][]float64 // of the sampler, by ArviZ's names
	depth  int                    // largest tree depth allowed; 0 unknown
	target float64
}

// loadDraws reads draws.
func loadDraws(args []string) (*drawTable, error) {
	s, err := loadSource(args)
	if err != nil {
		return nil, err
	}
	if s.tree != nil {
		return treeTable(s)
	}
	return tabulate(s.name, s.chains)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stanStats are CmdStan's names of statistics.
var stanStats = map[string]string{"diverging": "divergent__", "tree_depth": "treedepth__", "energy": "energy__"}

// tabulate takes the columns of chains as they are.
func tabulate(file string, chains []*stancsv.Chain) (*drawTable, error) {
	n := len(chains[0].Draws)
	for _, c := range chains {
		n = min(n, len(c.Draws))
	}
	if n == 0 {
		return nil, as(exitData, fmt.Errorf("%s: a chain has no draws below its header: was the run stopped in its warm-up?", file))
	}
	t := &drawTable{names: chains[0].Parameters(), stat: map[string][][]float64{}}
	column := func(name string) [][]float64 {
		var out [][]float64
		for _, c := range chains {
			out = append(out, c.Column(name)[:n])
		}
		return out
	}
	for _, name := range t.names {
		t.x = append(t.x, column(name))
	}
	for name, theirs := range stanStats {
		if slices.Contains(chains[0].Columns, theirs) {
			t.stat[name] = column(theirs)
		}
	}
	t.depth, _ = strconv.Atoi(chains[0].Settings["max_depth"])
	t.target, _ = strconv.ParseFloat(chains[0].Settings["delta"], 64)
	if len(t.names) == 0 {
		return nil, as(exitData, fmt.Errorf("%s: no columns besides the sampler's own (%v): want those of parameters", file, chains[0].Columns))
	}
	return t, nil
}

// treeTable takes the group posterior apart.
func treeTable(s *source) (*drawTable, error) {
	post, err := s.tree.Group("posterior")
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", s.name, err))
	}
	t := &drawTable{stat: map[string][][]float64{}}
	if t.names, t.x = post.Draws(); len(t.names) == 0 || post.Len("chain")*post.Len("draw") == 0 {
		return nil, as(exitData, fmt.Errorf("%s: group posterior has no draws: want numbers with the axes chain and draw", s.name))
	}
	if stats, err := s.tree.Group("sample_stats"); err == nil {
		for _, name := range []string{"diverging", "tree_depth", "energy", "reached_max_treedepth"} {
			if x := stats.Stat(name); x != nil {
				t.stat[name] = x
			}
		}
		t.depth, _ = strconv.Atoi(stats.Attrs["max_tree_depth"])
		t.target, _ = strconv.ParseFloat(stats.Attrs["target_accept"], 64)
	}
	return t, nil
}

func (t *drawTable) summary() diag.Summary { return diag.Summarize(t.names, t.x, diag.Settings{}) }

func (t *drawTable) evidence() diag.Evidence {
	e := diag.Evidence{MaxDepth: t.depth, Draws: len(t.x[0]) * len(t.x[0][0]), TargetAccept: t.target}
	e.Divergences = count(t.stat["diverging"], func(v float64) bool { return v != 0 })
	switch cut := t.stat["reached_max_treedepth"]; {
	case cut != nil:
		e.DepthHits = count(cut, func(v float64) bool { return v != 0 })
		if depth := t.stat["tree_depth"]; e.MaxDepth == 0 && depth != nil && e.DepthHits > 0 {
			e.MaxDepth = int(slices.Max(diag.Flatten(depth)))
		}
	case t.depth > 0:
		e.DepthHits = count(t.stat["tree_depth"], func(v float64) bool { return int(v) >= t.depth })
	}
	if energy := t.stat["energy"]; energy != nil {
		e.EBFMI = diag.EBFMI(energy)
	}
	return e
}

func count(x [][]float64, is func(float64) bool) (n int) {
	for _, c := range x {
		for _, v := range c {
			n += boolInt(is(v))
		}
	}
	return n
}

// rowDoc and diagnosticsDoc are the objects of the JSON contract.
type rowDoc struct {
	Mean     number `json:"mean"`
	SD       number `json:"sd"`
	Q05      number `json:"q05"`
	Q50      number `json:"q50"`
	Q95      number `json:"q95"`
	HDILo    number `json:"hdi94_lo"`
	HDIHi    number `json:"hdi94_hi"`
	MCSEMean number `json:"mcse_mean"`
	MCSESD   number `json:"mcse_sd"`
	ESSBulk  number `json:"ess_bulk"`
	ESSTail  number `json:"ess_tail"`
	RHat     number `json:"r_hat"`
}

type diagnosticsDoc struct {
	Divergences int      `json:"divergences"`
	DepthHits   int      `json:"max_treedepth_hits"`
	EBFMI       []number `json:"e_bfmi"`
	OK          bool     `json:"ok"`
	Advice      []string `json:"advice"`
}

func summaryDoc(s diag.Summary) map[string]rowDoc {
	out := map[string]rowDoc{}
	for _, r := range s.Rows {
		out[r.Name] = rowDoc{number(r.Mean), number(r.SD), number(r.Q05), number(r.Q50), number(r.Q95), number(r.HDI94.Low), number(r.HDI94.High),
			number(r.MCSEMean), number(r.MCSESD), number(r.ESSBulk), number(r.ESSTail), number(r.RHat)}
	}
	return out
}

func diagnosticsOf(s diag.Summary, e diag.Evidence) (diagnosticsDoc, diag.Report) {
	rep := diag.Diagnose(s, e)
	return diagnosticsDoc{Divergences: e.Divergences, DepthHits: e.DepthHits, EBFMI: numbers(e.EBFMI), OK: rep.OK(), Advice: advice(rep)}, rep
}
