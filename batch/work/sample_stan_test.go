// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Posteriors of a program with many files of data are the same however they are shared out.
func TestSampleStan(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	write(t, filepath.Join(dir, "m.stan"), "data { int n; real s; vector[n] y; } parameters { real mu; } model { mu ~ normal(0, 100); y ~ normal(mu, s); } generated quantities { real twice = 2 * mu; }")
	write(t, filepath.Join(dir, "common.json"), `{"s": 1}`)
	write(t, filepath.Join(dir, "a.csv"), "y\n1\n2.5\n2.1\n")
	write(t, filepath.Join(dir, "b.json"), `{"n": 4, "y": [11, 12, 12.5, 12.5]}`)
	write(t, filepath.Join(dir, "d.R"), "n <- 2\ny <- c(3, NaN)\n")
	write(t, config, "work: sample stan\nprogram: m.stan\nfiles: [a.csv, b.json, d.R]\ncommon: common.json\nquantities: [mu, twice]\nwarmup: 200\ndraws: 200\nchains: 2\nkeep_draws: true\nretries: 0\n")
	m := made(t, config)
	write(t, filepath.Join(dir, "m.stan"), "no program") // its text is part of the list
	whole := done(t, m, 1)
	same(t, whole, done(t, m, 3))
	if len(whole) != 3 || !strings.Contains(whole[2].Err, "d.R: observation 2 of y is NaN") {
		t.Fatalf("%+v", whole)
	}
	for i, want := range []float64{1.8667, 12} {
		r := whole[i]
		if math.Abs(r.Numbers[0]-want) > 0.2 || math.Abs(r.Numbers[5]-2*want) > 0.4 || r.Texts[0] != []string{"a.csv", "b.json"}[i] && !strings.HasSuffix(r.Texts[0], []string{"a.csv", "b.json"}[i]) {
			t.Errorf("%+v, want a mean of %g", r, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", "draws", r.Texts[2])); err != nil {
			t.Error(err)
		}
	}
	for text, says := range map[string]string{
		"work: sample stan\nfiles: a.csv\n":                                                         "program is missing",
		"work: sample stan\nprogram: m.stan\nfiles: a.csv\ncommon: common.json\n":                   "line 1",
		"work: sample stan\nprogram: ok.stan\nfiles: a.csv\nquantities: tau\ncommon: common.json\n": "the program has no tau",
	} {
		write(t, filepath.Join(dir, "ok.stan"), "data { int n; vector[n] y; } parameters { real mu; } model { y ~ normal(mu, 1); }")
		write(t, config, text)
		l, err := Read(config)
		if err == nil {
			_, err = l.Create(filepath.Join(dir, "other", "manifest.txt"))
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
