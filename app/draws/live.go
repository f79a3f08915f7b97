// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/runs"
)

// mostLive is the number of draws of a chain that a run shows while it goes on: of longer ones, one draw in several.
const mostLive = 2000

// live writes the draws of a run that goes on, so that people can look at them: live/chain-N.csv, as CmdStan writes chains, and
// live/progress.json. Nothing reads them again but commands that show a run, and a failure to write them harms nothing.
type live struct {
	dir   string
	begun time.Time

	mu       sync.Mutex
	names    []string
	rows     [][][]string // by chain
	every    []int        // one draw in so many is kept
	progress infer.Progress
	changed  bool
	end      chan struct{}
	ended    chan struct{}
}

// liveIn returns what writes the draws of a run in a folder.
func liveIn(dir runs.Folder) *live {
	return &live{dir: dir.Path(runs.LiveFolder), begun: time.Now(), end: make(chan struct{}), ended: make(chan struct{})}
}

// sink takes the draws.
func (l *live) sink() infer.Sink {
	return infer.Sink{Open: func(names []string, chains int) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.names, l.rows, l.every = names, make([][][]string, chains), make([]int, chains)
		return nil
	}, Write: l.take}
}

// take keeps a draw. When there are too many of a chain, every other one is dropped.
func (l *live) take(d infer.SinkDraw) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.Warmup || d.Chain >= len(l.rows) {
		return nil
	}
	every := max(1, l.every[d.Chain])
	if d.Draw%every != 0 {
		return nil
	}
	s := d.Stat
	row := []string{number(s.LogProb), number(s.AcceptanceRate), number(s.StepSize), strconv.Itoa(s.TreeDepth), strconv.Itoa(s.Steps), flag(s.Diverging), number(s.Energy)}
	for _, v := range d.Values {
		row = append(row, number(v))
	}
	rows := append(l.rows[d.Chain], row)
	if len(rows) > mostLive {
		for i := range rows[:(len(rows)+1)/2] {
			rows[i] = rows[2*i]
		}
		rows, every = rows[:(len(rows)+1)/2], 2*every
	}
	l.rows[d.Chain], l.every[d.Chain], l.changed = rows, every, true
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

func flag(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

// update keeps how far the chains are.
func (l *live) update(p infer.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progress, l.changed = p, true
}

// run writes once a second until close.
func (l *live) run() {
	defer close(l.ended)
	tick := time.NewTicker(tune.LiveEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.end:
			return
		case <-tick.C:
			if time.Since(l.begun) > tune.LiveAfter {
				l.write()
			}
		}
	}
}

// close ends the writing. The files stay until the run has written its draws.
func (l *live) close() {
	close(l.end)
	<-l.ended
	if time.Since(l.begun) > tune.LiveAfter {
		l.write()
	}
}

// liveDoc is the document progress.json.
type liveDoc struct {
	Elapsed   float64     `json:"elapsed_s"`
	Remaining float64     `json:"remaining_s"` // 0 if it is not known
	Chains    []liveChain `json:"chains"`
}

type liveChain struct {
	Chain       int     `json:"chain"` // from 1
	Draw        int     `json:"draw"`
	Total       int     `json:"total"`
	Warmup      bool    `json:"warmup"`
	Divergences int     `json:"divergences"`
	StepSize    float64 `json:"step_size"`
	Gradients   int     `json:"gradients"`
	Kept        int     `json:"kept"` // one draw in so many is in the file of the chain
}

func (l *live) write() {
	l.mu.Lock()
	if !l.changed {
		l.mu.Unlock()
		return
	}
	l.changed = false
	names, rows, p := l.names, make([][][]string, len(l.rows)), l.progress
	for c := range rows {
		rows[c] = append(rows[c], l.rows[c]...)
	}
	every := append([]int(nil), l.every...)
	l.mu.Unlock()

	doc := liveDoc{Elapsed: p.Elapsed.Seconds(), Remaining: p.Remaining().Seconds()}
	for i, c := range p.Chains {
		kept := 1
		if i < len(every) {
			kept = max(1, every[i])
		}
		doc.Chains = append(doc.Chains, liveChain{c.Chain + 1, c.Draw, c.Total, c.Warmup, c.Divergences, c.StepSize, c.Gradients, kept})
	}
	if os.MkdirAll(l.dir, 0o777) != nil {
		return
	}
	if doc.Chains != nil {
		runs.WriteJSON(filepath.Join(l.dir, runs.ProgressFile), doc)
	}
	for c, list := range rows {
		if len(list) > 0 {
			writeChain(filepath.Join(l.dir, fmt.Sprintf("chain-%d.csv", c+1)), names, list)
		}
	}
}

// writeChain replaces the file of a chain.
func writeChain(name string, names []string, rows [][]string) {
	f, err := os.CreateTemp(filepath.Dir(name), ".chain-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name())
	w := foreign.CSV(f)
	w.Write(append([]string{"lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"}, names...))
	w.WriteAll(rows)
	if err := w.Error(); err == nil && f.Close() == nil {
		os.Rename(f.Name(), name)
		return
	}
	f.Close()
}
