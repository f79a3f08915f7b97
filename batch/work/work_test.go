// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/batch"
)

// curves writes a CSV table of decays with noise.
func curves(t testing.TB, name string, seed uint64, bins int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("bin,tau,g2,g2_err\n")
	for bin := 1; bin <= bins; bin++ {
		tau := 1e-3 * math.Pow(1.5, float64(bin%9))
		for k := range 40 {
			x := 1e-5 * math.Pow(10, float64(k)*5/39)
			u := float64(batch.Seed(seed, int64(bin*100+k))>>11)/(1<<53) - 0.5
			fmt.Fprintf(&b, "%d,%.8g,%.8g,%.3g\n", bin, x, 1+0.2*math.Exp(-2*x/tau)+0.003*math.Sqrt(12)*u, 0.003)
		}
	}
	write(t, name, b.String())
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// made reads a configuration and makes its manifest in a folder beside it.
func made(t testing.TB, config string) *batch.Manifest {
	t.Helper()
	l, err := Read(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Create(filepath.Join(filepath.Dir(config), "out", "manifest.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// done does all items in some number of shards and returns the results.
func done(t testing.TB, m *batch.Manifest, shards int) (list []batch.Record) {
	t.Helper()
	store := batch.Store(t.TempDir())
	for i := range shards {
		task, err := Open(m, Env{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Shard{Index: i, Count: shards}, Workers: 1 + i%2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Merge(m, func(r batch.Record) error { list = append(list, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

func same(t testing.TB, a, b []batch.Record) {
	t.Helper()
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%d and %d results", len(a), len(b))
	}
	for i := range a {
		a[i].Attempts, b[i].Attempts = 0, 0
		if x, y := fmt.Sprintf("%x %+v", a[i].Numbers, a[i]), fmt.Sprintf("%x %+v", b[i].Numbers, b[i]); x != y {
			t.Fatalf("item %d:\n%s\n%s", i, x, y)
		}
	}
}

// Fits of many files have the same bits however they are shared out, and what cannot be fitted is told.
func TestFitG2(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		curves(t, filepath.Join(dir, "data", fmt.Sprintf("a%d.csv", i)), uint64(i), 7)
	}
	write(t, filepath.Join(dir, "data", "a9.csv"), "nothing")
	config := filepath.Join(dir, "fits.yaml")
	write(t, config, "work: fit g2\nfiles: data/*.csv\nblock: 3\nretries: 0\n")
	m := made(t, config)
	if m.Items != 36 {
		t.Fatalf("%d items", m.Items)
	}
	whole := done(t, m, 1)
	same(t, whole, done(t, m, 4))
	for i, r := range whole {
		if (r.Err != "") != (i == 35) {
			t.Errorf("item %d: %s", i, r.Err)
		}
	}
	if tau := whole[0].Numbers[3]; math.Abs(tau/1.5e-3-1) > 0.2 {
		t.Errorf("tau %g, want 1.5e-3", tau)
	}
}

// A list has the same hash however often it is made.
func TestListsAreMadeAgain(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 1, 3)
	write(t, filepath.Join(dir, "sub", "in.txt"), "{a}")
	for name, text := range map[string]string{
		"fit.yaml":   "work: fit g2\nfiles: a.csv\nbins: 1-3\n",
		"sweep.yaml": "work: sweep\ncommand: [cat, '{t}']\nprogram: /bin/sh\ntemplate: {t: sub/in.txt}\ngrid: {a: [1]}\n",
	} {
		config := filepath.Join(dir, name)
		write(t, config, text)
		l, err := Read(config)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name+"-list", "manifest.txt")
		for range 3 {
			hash, err := l.Hash(path)
			if err != nil {
				t.Fatal(err)
			}
			os.Remove(path)
			if m, err := l.Create(path); err != nil || m.Hash != hash {
				t.Errorf("%s: %v, %v, want %s", name, m, err, hash)
			}
		}
	}
}

// Tables are not written over files of the user.
func TestMergeKeepsOtherTables(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 1, 2)
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: fit g2\nfiles: a.csv\n")
	m := made(t, config)
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	store := batch.Store(filepath.Join(m.Folder(), "results"))
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(m.Folder(), TableCSV)
	curves(t, mine, 2, 1)
	if _, err := Merge(m, store, m.Folder(), Env{}); err == nil || !strings.Contains(err.Error(), TableCSV+": the file is not a table of results") {
		t.Error(err)
	}
	if b, err := os.ReadFile(mine); err != nil || !strings.HasPrefix(string(b), "bin,tau") {
		t.Errorf("%.20s, %v", b, err)
	}
	os.Remove(mine)
	for range 2 {
		if _, err := Merge(m, store, m.Folder(), Env{}); err != nil {
			t.Error(err)
		}
	}
}

// older is a version of the program whose results have other columns.
type older struct{ batch.Task }

func (o older) Columns() []batch.Column { return o.Task.Columns()[1:] }
func (o older) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	return o.Task.Do(ctx, items, func(r batch.Record) { r.Texts = r.Texts[1:]; put(r) })
}

// Results of another version of the program are refused, if they have other columns.
func TestResultsOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 1, 2)
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: fit g2\nfiles: a.csv\n")
	m := made(t, config)
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	store := batch.Store(filepath.Join(m.Folder(), "results"))
	if _, err := batch.Run(context.Background(), m, older{task}, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(m, store, m.Folder(), Env{}); err == nil || !strings.Contains(err.Error(), "item 0 has") || !strings.Contains(err.Error(), "version") {
		t.Error(err)
	}
}

// What a configuration has wrong is told with its line.
func TestConfigurations(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 1, 1)
	for text, want := range map[string]string{
		"":                                      "not a list of keys and values",
		"work: fit g3\nfiles: a":                "no kind of work \"fit g3\": want one of fit g2",
		"files: a":                              "the kind of work is missing",
		"work: fit g2\nfile: a":                 "line 2: unknown key file: did you mean files?",
		"work: fit g2\nseed: -3":                "line 2: seed: ",
		"work: fit g2\nfixed: 3":                "line 2: fixed: ",
		"work: fit g2\nseed: 1.5":               "line 2: seed is 1.5: want a whole number",
		"work: fit g2\nretries: 0.9":            "line 2: retries is 0.9: want a whole number",
		"work: fit g2\nretries: .inf":           "line 2: retries is .inf: want a whole number",
		"work: fit g2\nmodel: [a]":              "line 2: model: want text",
		"work: sbc\nfits: 10.7":                 "line 2: fits is 10.7: want a whole number",
		"work: sbc\nseed: 18446744073709551616": "line 2: seed is 18446744073709551616: want a whole number",
		"work: fit g2\nmodel: x":                "model",
		"work: fit g2\nbins: 5-3":               "numbers from 1",
		"work: fit g2\nseed: &a 1\nretries: *a": "an alias",
		"work: fit g2\nsimd: mmx":               "simd is mmx: want one of ",
		"work: fit g2\nfixed: {taw: 1}":         `line 2: fixed: parameter "taw": want tau, baseline or contrast; did you mean "tau"?`,
		"work: fit g2\nwork: fit g2":            "twice",
		"work: [":                               "line 1",
	} {
		config := filepath.Join(dir, "c.yaml")
		write(t, config, text)
		if _, err := Read(config); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), config) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: fit g2\nfiles: [a.csv, b.csv]\n")
	l, err := Read(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create(filepath.Join(dir, "m", "manifest.txt")); err == nil || !strings.Contains(err.Error(), "there is no file "+filepath.Join(dir, "b.csv")) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "m", "manifest.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a manifest is there all the same")
	}
}

// Merging writes tables of all results, the worst first in what it returns.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 1, 30)
	write(t, filepath.Join(dir, "b.csv"), "nothing")
	config := filepath.Join(dir, "fits.yaml")
	write(t, config, "work: fit g2\nfiles: [a.csv, b.csv]\nfixed: {d: 1.1}\nretries: 0\n")
	if _, err := Read(config); err == nil {
		t.Log("model single has d")
	}
	write(t, config, "work: fit g2\nfiles: [a.csv, b.csv]\nretries: 0\n")
	m := made(t, config)
	store := batch.Store(filepath.Join(dir, "out", "results"))
	var incomplete *batch.IncompleteError
	if _, err := Merge(m, store, filepath.Join(dir, "out"), Env{}); !errors.As(err, &incomplete) {
		t.Fatal(err)
	}
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	g, err := Merge(m, store, filepath.Join(dir, "out"), Env{})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Failed) != 1 || g.Failed[0].Count != 1 || g.Status.Failed != 1 || len(g.Sample) != 30 || g.Flagged < 0 {
		t.Errorf("%+v", g)
	}
	for _, name := range g.Files {
		if _, err := os.Stat(filepath.Join(dir, "out", name)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", TableCSV))
	if err != nil || strings.Count(string(text), "\n") != 31 || !strings.HasPrefix(string(text), "item,file,bin,q,phi,tau,tau_sd,") {
		t.Errorf("%v:\n%s", err, text)
	}
	left, err := filepath.Glob(filepath.Join(dir, "out", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if where := g.Where(&g.Sample[4]); where != "../a.csv, bin 5" {
		t.Error(where)
	}
	if text := g.ByChance(); text != "right models would give up to 1 by chance" {
		t.Error(text)
	}
	first, err := os.ReadFile(filepath.Join(dir, "out", TableHDF5))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // the same results are the same file
		if _, err := Merge(m, store, filepath.Join(dir, "out"), Env{}); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(filepath.Join(dir, "out", TableHDF5)); err != nil || !bytes.Equal(again, first) {
			t.Fatalf("%s differs when it is written again: %v", TableHDF5, err)
		}
	}
}

func TestWhereOfAPoint(t *testing.T) {
	g := &Merged{Columns: []batch.Column{{Name: "beta", Kind: batch.Text}, {Name: "p", Kind: batch.Text}, {Name: "support"}, {Name: "note", Kind: batch.Text}}}
	if where := g.Where(&batch.Record{Numbers: []float64{3}, Texts: []string{"0.1", "0.02", "long"}}); where != "beta = 0.1, p = 0.02" {
		t.Error(where)
	}
}
