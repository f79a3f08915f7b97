// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
)

// rvtab has columns of a table of velocities; none of one that has no such column.
func rvtab(t *testing.T, name string, columns ...string) (out [][]float64) {
	t.Helper()
	f, err := fits.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := f.Table("RVTAB")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		var x []float64
		if table.Has(c) {
			column, err := table.Column(c)
			if err != nil {
				t.Fatal(err)
			}
			if x, err = column.Float64s(); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, x)
	}
	return out
}

// Options of files of DESI do what they say: those that choose how work is done change no number, those of the model do.
func TestOptionsOfDESI(t *testing.T) {
	if !tier.Slow {
		t.Skip("make test-slow tries every option: quick tests fit with the usual ones")
	}
	dir := starFolder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	file := at("coadd-demo.fits")
	if err := os.WriteFile(at("list.txt"), []byte(file+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	columns := []string{"VRAD", "TEFF", "TEFF_ERR", "VSINI", "CHISQ_TOT", "CHISQ_Z"}
	const teffErr, chi, chiZ = 2, 4, 5
	fit := func(name string, args ...string) (int, [][]float64, string) {
		base := []string{"fit", "spectra", "--config", at("config.yaml"), "--no_subdirs", "--targetid", "39627000000000001,39627000000000002", "--quiet", "--output_dir", at(name)}
		code, _, stderr := apptest.Do(t, append(base, args...)...)
		table := filepath.Join(at(name), "rvtab_coadd-demo.fits")
		if !foreign.Exists(table) {
			return code, nil, stderr
		}
		return code, rvtab(t, table, columns...), stderr
	}
	code, whole, stderr := fit("whole", file)
	if code != exit.OK || len(whole[chi]) != 2 || len(whole[chiZ]) != 2 {
		t.Fatalf("exit %d, %v: %s", code, whole, stderr)
	}
	all := func(holds func(x, of float64) bool, column int) func(got [][]float64) bool {
		return func(got [][]float64) bool {
			for i, of := range whole[column] {
				if len(got[column]) != len(whole[column]) || !holds(got[column][i], of) {
					return false
				}
			}
			return true
		}
	}
	equal := func(got [][]float64) bool {
		return slices.EqualFunc(got, whole, func(a, b []float64) bool { return slices.Equal(a, b) })
	}
	less := func(x, of float64) bool { return x < of }
	more := func(x, of float64) bool { return x > of }
	other := func(x, of float64) bool { return x != of && math.Abs(x/of-1) < 0.2 }
	for name, c := range map[string]struct {
		args []string
		want func(got [][]float64) bool
	}{
		"a list":      {[]string{"--input_file_from", at("list.txt")}, equal},
		"input_files": {[]string{"--input_files", file}, equal},
		"one thread":  {[]string{file, "--nthreads", "1"}, equal},
		"mpi":         {[]string{file, "--mpi"}, equal},
		"a log":       {[]string{file, "--log", at("messages.log")}, equal},
		"conditional": {[]string{file, "--errors", "conditional"}, all(less, teffErr)},
		"brute force": {[]string{file, "--param_init", "bruteforce"}, all(func(x, of float64) bool { return x <= of+0.05 }, chi)},
		"chebyshev":   {[]string{file, "--chebyshev"}, all(other, chi)},
		"compat":      {[]string{file, "--kernel", "compat"}, all(other, chi)},
		"npoly":       {[]string{file, "--npoly", "6"}, all(more, chi)},
		"a floor":     {[]string{file, "--floor", "desi_b=1"}, all(more, teffErr)},
		"two arms":    {[]string{file, "--fitarm", "b,r"}, func(got [][]float64) bool { return len(got[chi]) == 2 && got[chiZ] == nil }},
		"no objects":  {[]string{file, "--objtypes", "STD_.*"}, func(got [][]float64) bool { return len(got[chi]) == 0 }},
	} {
		if !tier.Slow && !slices.Contains([]string{"a list", "a log", "conditional", "two arms", "no objects"}, name) {
			continue
		}
		if code, got, stderr := fit(name, c.args...); code != exit.OK || got == nil || !c.want(got) {
			t.Errorf("%s: exit %d, %v, without it %v: %s", name, code, got, whole, stderr)
		}
	}
	if b, err := os.ReadFile(at("messages.log")); err != nil || !strings.Contains(string(b), "2 fibers, 2 fitted") {
		t.Errorf("%v: the log is %q", err, b)
	}
	for says, args := range map[string][]string{
		"param_init bruteforce": {file, "--no_ccf_continuum_normalize"}, // of which the library has no templates
		"fit without it":        {file, "--resolution_matrix"},          // which the file lacks
	} {
		if code, _, stderr := fit(args[1], args...); code != exit.Data || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s: want %q", args, code, stderr, says)
		}
	}
}
