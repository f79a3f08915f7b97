// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/tensor"
)

// A reader of draws is told of chains that were cut and of draws that are those of an approximation, whose checks of
// chains are not made.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long, short := write("1.csv", "lp__,a\n-1,1\n-1,2\n-1,3\n-1,4\n-1,5\n"), write("2.csv", "a,lp__\n1,-1\n7,-1\n3,-1\n4,-1\n")
	fit := write("3.csv", "# method = variational\nlp__,log_p__,log_g__,a\n0,0,0,9\n0,-7,-0.5,1\n0,-7,-0.5,2\n0,-7,-0.5,1\n0,-7,-0.5,3\n")
	for want, files := range map[string][]string{"": {long}, "5, 4 draws: only the first 4": {long, short}, "method = variational": {fit}} {
		s, err := runs.Open(files...)
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(s.Notes(), "\n")
		if !strings.Contains(notes, want) || want == "" && notes != "" {
			t.Errorf("%v: notes %q, want %q", files, notes, want)
		}
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range diag.Diagnose(table.Summary(), table.Evidence()) {
			if a.Check == diag.CheckRHat && a.Unchecked != (len(files) == 1 && files[0] == fit) {
				t.Errorf("%v: %v", files, a)
			}
		}
		if len(files) == 2 && table.X[0][1][1] != 7 {
			t.Errorf("the second chain was not arranged: %v", table.X)
		}
	}
}

// Approximations of one posterior that differ do not pass.
func TestApproximationsThatDiffer(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	for _, shift := range []float64{0, 5} {
		var files []string
		for k := range 2 {
			var b strings.Builder
			b.WriteString("# method = variational\nlp__,log_p__,log_g__,a\n0,0,0,0\n")
			for range 1000 {
				fmt.Fprintf(&b, "0,-1,-1,%g\n", rng.NormFloat64()+shift*float64(k))
			}
			files = append(files, filepath.Join(dir, fmt.Sprintf("%g-%d.csv", shift, k)))
			if err := os.WriteFile(files[k], []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := runs.Open(files...)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		if r := diag.Diagnose(table.Summary(), table.Evidence()); r.OK() != (shift == 0) {
			t.Errorf("shifted by %g: %v", shift, r)
		}
	}
}

// A file of one dataset without groups is read as the posterior; variables whose types cannot be read are told; a file without draws is
// told what it holds.
func TestFilesWithoutGroups(t *testing.T) {
	const data = "../data/netcdf/testdata/"
	s, err := runs.Open(data + "classic1.nc")
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.Table()
	if err != nil || len(table.X) != 5 || len(s.Notes()) > 0 {
		t.Fatal(table, err, s.Notes())
	}
	if s, err = runs.Open(data + "other.nc"); err != nil || !strings.Contains(strings.Join(s.Notes(), "\n"), "variables of the group posterior were left out, since their types cannot be read: complex") {
		t.Error(s, err)
	}
	d := tensor.NewDataset("prior")
	tree := tensor.NewDataTree()
	name := filepath.Join(t.TempDir(), "prior.nc")
	if err := errors.Join(d.Add("a", []float64{1, 2}, tensor.Shape{1, 2}, "chain", "draw"), tree.Add(d), netcdf.Write(name, tree, netcdf.Settings{})); err != nil {
		t.Fatal(err)
	}
	if s, err = runs.Open(name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Table(); err == nil || !strings.Contains(err.Error(), "there is no group posterior with draws: it has prior: want a group posterior") {
		t.Error(err)
	}
}

// Tree depths are judged although nothing says their limit, by the usual one, unless a trajectory went beyond it.
func TestTreeDepthsWithoutLimit(t *testing.T) {
	for deepest, want := range map[int]int{9: 0, 10: 1, 12: -1} {
		name := filepath.Join(t.TempDir(), "c.csv")
		if err := os.WriteFile(name, fmt.Appendf(nil, "lp__,treedepth__,a\n-1,3,1\n-1,%d,2\n-1,4,3\n-1,3,4\n", deepest), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := runs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		e := table.Evidence()
		if unknown := slices.Contains(e.Unrecorded, diag.CheckDepth); unknown != (want < 0) || !unknown && (e.DepthHits != want || e.MaxDepth != 10) {
			t.Errorf("deepest %d: %+v", deepest, e)
		}
	}
}
