package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/infer"
)

// rundir is the folder of one run.
//
//	config.json      command, version, resolved settings, data, starts
//	checkpoint       state of all chains, replaced as a whole while sampling
//	chain-N.csv      draws, as CmdStan writes them
//	fit.json         the point fit that the chains started from
//	summary.json     the document of the command
//	diagnose.txt     the checks in words
//	plots/, report.html
type rundir string

// makeRundir creates the folder; an existing one that is not empty is refused.
func (a *app) makeRundir(name string) (rundir, error) {
	entries, err := os.ReadDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", as(exitCannotWrite, err)
	case len(entries) > 0 && !a.overwrite:
		return "", &exitError{code: exitCannotWrite, err: fmt.Errorf("%s exists and is not empty", name), hint: "--overwrite, --resume " + name + ", or another --out"}
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return "", as(exitCannotWrite, err)
	}
	if a.overwrite {
		if err := clearRundir(name); err != nil {
			return "", as(exitCannotWrite, err)
		}
	}
	return rundir(name), nil
}

// clearRundir removes all that a run may have left, and nothing else.
func clearRundir(name string) error {
	old := []string{"checkpoint", "config.json", "fit.json", "summary.json", "diagnose.txt", "report.html"}
	for _, pattern := range []string{"chain-*.csv", "plots/*.svg", "plots/*.png"} {
		found, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			return err
		}
		for _, f := range found {
			rel, err := filepath.Rel(name, f)
			if err != nil {
				return err
			}
			old = append(old, rel)
		}
	}
	for _, f := range old {
		if err := os.Remove(filepath.Join(name, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r rundir) path(elem ...string) string {
	return filepath.Join(append([]string{string(r)}, elem...)...)
}

// readConfig reads config.json into v.
func (r rundir) readConfig(v any) error {
	b, err := os.ReadFile(r.path("config.json"))
	if err != nil {
		return &exitError{code: exitNoInput, err: fmt.Errorf("%s is not a run folder: %w", r, err), hint: "the folder given to --out"}
	}
	if err := json.Unmarshal(b, v); err != nil {
		return as(exitData, fmt.Errorf("%s: %w", r.path("config.json"), err))
	}
	return nil
}

// saveDraws writes one table per chain.
func (r rundir) saveDraws(fit *infer.Fit, settings map[string]string) error {
	var keys []string
	for k := range settings {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for c := range fit.Chains() {
		t := &stancsv.Chain{Columns: []string{"lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"}, Settings: settings}
		t.Columns = append(t.Columns, stanNames(fit.Names())...)
		stats := fit.Stats(c)
		for d := range fit.Len(c) {
			s := stats[d]
			diverging := 0.0
			if s.Diverging {
				diverging = 1
			}
			row := []float64{s.LogProb, s.AcceptanceRate, s.StepSize, float64(s.TreeDepth), float64(s.Steps), diverging, s.Energy}
			t.Draws = append(t.Draws, append(row, fit.Row(c, d)...))
		}
		var b strings.Builder
		if err := t.Write(&b, keys); err != nil {
			return as(exitBug, err)
		}
		if err := writeFile(r.path(fmt.Sprintf("chain-%d.csv", c+1)), []byte(b.String())); err != nil {
			return err
		}
	}
	return nil
}

// stanNames turns name[0] into name.1.
func stanNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n
		base, index, ok := strings.Cut(strings.TrimSuffix(n, "]"), "[")
		if ok {
			k := 0
			if _, err := fmt.Sscan(index, &k); err == nil {
				out[i] = fmt.Sprintf("%s.%d", base, k+1)
			}
		}
	}
	return out
}
