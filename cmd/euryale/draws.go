package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/infer/diag"
)

// drawTable is what summary, diagnose and plot work on: draws from our runs or
// from others' CmdStan files.
type drawTable struct {
	names  []string
	x      [][][]float64 // [name][chain][draw]
	stat   map[string][][]float64
	depth  int // largest tree depth allowed; 0 unknown
	target float64
}

// loadDraws reads a run folder, or CSV files of one chain each.
func loadDraws(args []string) (*drawTable, error) {
	var files []string
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, input(err)
		}
		if !st.IsDir() {
			files = append(files, arg)
			continue
		}
		found, err := filepath.Glob(filepath.Join(arg, "chain-*.csv"))
		if err != nil || len(found) == 0 {
			return nil, &exitError{code: exitNoInput, err: fmt.Errorf("%s has no chain-*.csv: the run was not finished", arg), hint: "euryale sample g2 --resume " + arg}
		}
		slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + 10*compare(a, b)*boolInt(len(a) == len(b)) })
		files = append(files, found...)
	}
	var chains []*stancsv.Chain
	for _, f := range files {
		c, err := stancsv.Open(f)
		if err != nil {
			return nil, input(err)
		}
		if len(chains) > 0 && !slices.Equal(c.Columns, chains[0].Columns) {
			return nil, as(exitData, fmt.Errorf("%s has columns %v, %s has %v: chains of one run have the same", f, c.Columns, files[0], chains[0].Columns))
		}
		chains = append(chains, c)
	}
	return tabulate(chains)
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func tabulate(chains []*stancsv.Chain) (*drawTable, error) {
	n := len(chains[0].Draws)
	for _, c := range chains {
		n = min(n, len(c.Draws))
	}
	if n == 0 {
		return nil, as(exitData, fmt.Errorf("a chain has no draws below its header"))
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
	for _, name := range chains[0].Columns {
		if len(name) > 2 && name[len(name)-2:] == "__" {
			t.stat[name] = column(name)
		}
	}
	t.depth, _ = strconv.Atoi(chains[0].Settings["max_depth"])
	t.target, _ = strconv.ParseFloat(chains[0].Settings["delta"], 64)
	if len(t.names) == 0 {
		return nil, as(exitData, fmt.Errorf("no columns besides the sampler's own (%v)", chains[0].Columns))
	}
	return t, nil
}

func (t *drawTable) summary() diag.Summary { return diag.Summarize(t.names, t.x, diag.Settings{}) }

func (t *drawTable) evidence() diag.Evidence {
	e := diag.Evidence{MaxDepth: t.depth, Draws: len(t.x[0]) * len(t.x[0][0]), TargetAccept: t.target}
	for _, c := range t.stat["divergent__"] {
		for _, v := range c {
			e.Divergences += boolInt(v != 0)
		}
	}
	if t.depth > 0 {
		for _, c := range t.stat["treedepth__"] {
			for _, v := range c {
				e.DepthHits += boolInt(int(v) >= t.depth)
			}
		}
	}
	if energy := t.stat["energy__"]; energy != nil {
		e.EBFMI = diag.EBFMI(energy)
	}
	return e
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
	d := diagnosticsDoc{Divergences: e.Divergences, DepthHits: e.DepthHits, EBFMI: numbers(e.EBFMI), OK: rep.OK(), Advice: []string{}}
	for _, p := range rep.Problems() {
		d.Advice = append(d.Advice, p.String())
	}
	return d, rep
}
