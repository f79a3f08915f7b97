// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/runs"
)

type settings struct {
	Command string `json:"command"`
	Draws   int    `json:"draws"`
}

// made is a folder of a finished run.
func made(t *testing.T) runs.Folder {
	t.Helper()
	w := &runs.Writer{Command: "study", Program: "study 1"}
	defer func() {
		if err := w.Release(); err != nil {
			t.Error(err)
		}
	}()
	dir, err := w.Create(filepath.Join(t.TempDir(), "run [1]"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Begin(settings{"study", 7}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A folder to which nothing was written is removed with its lock, and one that holds results stays.
func TestUnusedFoldersAreRemoved(t *testing.T) {
	w := &runs.Writer{Command: "study", Program: "study 1"}
	base := t.TempDir()
	unused, err := w.Create(filepath.Join(base, "unused"), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(unused)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := os.Stat(string(made(t))); err != nil {
		t.Error(err)
	}
}

func TestFoldersAreRefused(t *testing.T) {
	dir := made(t)
	w := &runs.Writer{Command: "other"}
	defer w.Release()
	var occupied *runs.OccupiedError
	if _, err := w.Create(string(dir), false); !errors.As(err, &occupied) || !occupied.Replaceable || occupied.Run != "study" {
		t.Errorf("%v", err)
	}
	theirs := t.TempDir()
	if err := os.WriteFile(filepath.Join(theirs, "notes"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, replace := range []bool{false, true} {
		if _, err := w.Create(theirs, replace); !errors.As(err, &occupied) || occupied.Replaceable {
			t.Errorf("%v", err)
		}
	}
	if _, err := w.Create(string(dir), true); err != nil || dir.Checkpoint() != "" {
		t.Error(err)
	}
	if _, err := os.Stat(dir.Path(runs.ConfigFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old settings stay: %v", err)
	}
	var held *runs.HeldError
	if err := (&runs.Writer{}).Lock(string(dir)); !errors.As(err, &held) || held.Owner.Command != "other" {
		t.Errorf("%v", err)
	}
}

func TestResume(t *testing.T) {
	dir := made(t)
	var s settings
	if err := dir.Resume("study", &s); err != nil || s.Draws != 7 {
		t.Error(err, s)
	}
	var other *runs.OtherRunError
	if err := dir.Resume("another", &s); !errors.As(err, &other) || other.Run != "study" {
		t.Error(err)
	}
	if err := runs.Folder(t.TempDir()).Resume("study", &s); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"{", "{}"} {
		if err := os.WriteFile(dir.Path(runs.ConfigFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := dir.Resume("study", &s); err == nil || !strings.Contains(err.Error(), runs.ConfigFile) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Draws are kept as arrays and as tables, and never in place of files of others.
func TestSaveDraws(t *testing.T) {
	dir := made(t)
	m := infer.NewModel("m")
	m.Param("x", dist.Normal(0, 1))
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 2, Warmup: 50, Draws: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := dir.SaveDraws(fit, map[string]string{"model": "m"}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := stancsv.Open(dir.Path("chain-2.csv"))
	if err != nil || c.Settings["id"] != "2" || c.Settings["model"] != "m" || len(c.Draws) != 20 {
		t.Errorf("%v %v", err, c)
	}
	if tree, err := zarr.Open(dir.Path(runs.DrawsFolder)); err != nil || len(tree.Groups()) == 0 {
		t.Error(err)
	}
	mine := dir.Path(runs.DrawsFolder, "notes")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	w := &runs.Writer{}
	defer w.Release()
	if _, err := w.Create(string(dir), true); err == nil || !strings.Contains(err.Error(), "holds notes") {
		t.Error(err)
	}
	var foreign *zarr.ForeignError
	if err := dir.SaveDraws(fit, nil); !errors.As(err, &foreign) {
		t.Error(err)
	}
}

func TestPatiently(t *testing.T) {
	full, told := errors.New("full"), 0
	save := func() error {
		if told < 3 {
			return full
		}
		return nil
	}
	failing := func(error) { told++ }
	if err := runs.Patiently(context.Background(), time.Second/10, save, failing); err != nil || told != 3 {
		t.Error(err, told)
	}
	told = 0
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := runs.Patiently(ctx, time.Hour, save, failing); !errors.Is(err, full) || told != 1 {
		t.Error(err, told)
	}
}

// Draws are opened in every form, and summed up.
func TestOpen(t *testing.T) {
	dir := made(t)
	m := infer.NewModel("m")
	m.Param("x", dist.Normal(0, 1))
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Chains: 2, Warmup: 50, Draws: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Open(string(dir)); !errors.As(err, new(*runs.NoDrawsError)) {
		t.Error(err)
	}
	if err := dir.SaveDraws(fit, nil); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{string(dir)}, {dir.Path(runs.DrawsFolder)}, {dir.Path("chain-1.csv"), dir.Path("chain-2.csv")}} {
		s, err := runs.Open(names...)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Table()
		if err != nil || len(table.Names) != 1 || len(table.X[0]) != 2 || table.X[0][1][19] != fit.Draws("x")[1][19] {
			t.Errorf("%v: %v %+v", names, err, table)
			continue
		}
		if sum := table.Summary(); len(sum.Rows) != 1 || table.Evidence().Draws != 40 {
			t.Errorf("%v: %v", names, sum)
		}
		if got, want := diag.Diagnose(table.Summary(), table.Evidence()).String(), fit.Diagnose().String(); got != want {
			t.Errorf("%v: the stored draws give\n%s\nand the sampler\n%s", names, got, want)
		}
		if tree, err := s.AsTree(); err != nil || len(tree.Groups()) == 0 {
			t.Error(err)
		}
	}
	file := filepath.Join(t.TempDir(), "two.json")
	if err := os.WriteFile(file, []byte(`{"log_likelihood": {"y": [[[1, 2], [3, 4]]], "z": [[[5], [6]]]}, "observed_data": {"y": [7, 8]}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := runs.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if l, err := s.Likelihood("y"); err != nil || l.X[0][1][1] != 4 || len(l.Data) != 2 {
		t.Errorf("%v %+v", err, l)
	}
	var several *runs.SeveralError
	if _, err := s.Likelihood(""); !errors.As(err, &several) || len(several.Names) != 2 {
		t.Error(err)
	}
	if _, err := s.Likelihood("x"); err == nil || !strings.Contains(err.Error(), "the observed variables are y, z") {
		t.Error(err)
	}
	var alone *runs.AloneError
	if _, err := runs.Open(dir.Path(runs.DrawsFolder), dir.Path("chain-1.csv")); !errors.As(err, &alone) {
		t.Error(err)
	}
	arrow := dir.Path("x.arrow")
	if err := os.WriteFile(arrow, []byte("ARROW1 and more"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Open(arrow); !errors.As(err, new(*runs.ArrowError)) {
		t.Error(err)
	}
	if _, err := runs.Open(); err == nil {
		t.Error("no files to read draws from")
	}
}

// Files without statistics do not pass checks of them, and acceptance rates in files are judged.
func TestChecksThatFilesDoNotRecord(t *testing.T) {
	for name, c := range map[string]struct{ head, row, want string }{
		"draws alone": {"lp__,mu", "-1,", "divergences: not checked: the draws do not record it"},
		"acceptance":  {"# delta = 0.8\nlp__,accept_stat__,mu", "-1,0.2,", "acceptance rate: it is 0.20 in chain 1, but the target is 0.80"},
	} {
		text := c.head + "\n"
		for i := range 40 {
			text += fmt.Sprintf("%s%g\n", c.row, math.Sin(float64(i*i)))
		}
		file := filepath.Join(t.TempDir(), "chain.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := runs.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		if got := diag.Diagnose(table.Summary(), table.Evidence()).String(); !strings.Contains(got, c.want) || strings.Contains(got, "no trajectory") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
