// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// A fit of one file writes a table too, in its folder or alone, with units, errors, bounds and the verdict.
func TestFitsOfOneFileAreATable(t *testing.T) {
	t.Chdir(filepath.Dir(apptest.DemoFile(t)))
	if code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf --out run --bins 2,3 --bound contrast=0.01:0.05")...); code != exit.OK || !strings.Contains(stdout, "fits.csv") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	all := apptest.Rows(t, "run/fits.csv")
	if head := strings.Join(all[0], ","); len(all) != 3 || !strings.HasPrefix(head, "file,bin,q (1/A),phi (deg),tau (s),tau_sd (s),tau_bound,baseline,") {
		t.Errorf("%q", all)
	}
	if apptest.Cell(t, all, 1, "bin") != "2" || apptest.Cell(t, all, 1, "contrast_bound") != "upper" || apptest.Cell(t, all, 1, "tau_bound") != "" || apptest.Cell(t, all, 1, "model") == "" || apptest.Cell(t, all, 1, "tau_sd (s)") == "" || !strings.Contains(apptest.Cell(t, all, 1, "flags"), "bound") {
		t.Errorf("%q", all[1])
	}
	for _, name := range []string{"tau.csv", "tau.xlsx", "tau.parquet"} {
		if code, stdout, stderr := apptest.Do(t, "fit", "g2", "demo.hdf", "--bins", "2", "--out", name); code != exit.OK || !strings.Contains(stdout, "wrote "+name) {
			t.Errorf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
		if st, err := os.Stat(name); err != nil || st.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, _, stderr := apptest.Do(t, "fit", "g2", "demo.hdf", "--out", "tau.csv"); code != exit.CannotWrite || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 tau.csv --overwrite --out tau.csv")...); code == exit.OK || len(apptest.Rows(t, "tau.csv")) != 2 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.WriteFile("in.csv", []byte(apptest.DecayCSV("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 in.csv --overwrite --out ./in.csv")...); code != exit.WrongUsage || !strings.Contains(stderr, "this is the input") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf demo.hdf --bins 2 --out both.csv")...); code != exit.OK || len(apptest.Rows(t, "both.csv")) != 3 {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Documents of fits, also those without units of earlier versions and what a command printed, become the table that the fit writes.
func TestOldFitsBecomeTables(t *testing.T) {
	t.Chdir(filepath.Dir(apptest.DemoFile(t)))
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf --out run --bins 2,3")...); code != exit.OK {
		t.Fatal(stderr)
	}
	_, stdout, _ := apptest.Do(t, strings.Fields("fit g2 demo.hdf demo.hdf --bins 2,3 --json")...)
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "units")
	b, _ := json.Marshal(doc)
	if err := os.WriteFile("old.json", b, 0o644); err != nil {
		t.Fatal(err)
	}
	for line, rows := range map[string]int{"convert run a.csv": 2, "convert old.json b.csv --json": 4, "convert run run c.csv": 4, "convert . d.csv": 2} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
		want, got := apptest.Rows(t, "run/fits.csv"), apptest.Rows(t, strings.Fields(line)[len(strings.Fields(strings.TrimSuffix(line, " --json")))-1])
		if len(got) != rows+1 || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("convert run a.csv")...); code != exit.CannotWrite || !strings.Contains(stderr, "exists") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A fit that cannot begin leaves no folder behind.
func TestFitThatFailsLeavesNoFolder(t *testing.T) {
	t.Chdir(filepath.Dir(apptest.DemoFile(t)))
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf --bins 2 --out run --start tau=-1")...); code == exit.OK {
		t.Error(stderr)
	}
	if _, err := os.Stat("run"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// The fit of a table of ages has the ages in its rows, and a picture against them.
func TestFitsOfAges(t *testing.T) {
	correlated(t)
	if code, _, stderr := apptest.Do(t, strings.Fields("reduce ages a_results.hdf ages.csv --bin 3 --ages 50,150 --half 10")...); code != exit.OK {
		t.Fatal(stderr)
	}
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 ages.csv --out run")...)
	all := apptest.Rows(t, "run/fits.csv")
	if code != exit.OK || apptest.Cell(t, all, 1, "age (s)") != "0.5" || apptest.Cell(t, all, 2, "age (s)") != "1.5" || apptest.Cell(t, all, 1, "q (1/A)") == "" || !strings.Contains(stdout, "age (s)") {
		t.Errorf("exit %d: %q %s%s", code, all, stdout, stderr)
	}
	if _, err := os.Stat("run/plots/parameters.svg"); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile("run/report.html")
	if err != nil || !strings.Contains(string(page), "<th>age (s)</th>") {
		t.Error(err)
	}
}

// Every q of a result is fitted by one command, with a folder for each and one table.
func TestFitTwotimeAtEveryQ(t *testing.T) {
	tier.SlowOnly(t)
	correlated(t)
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit twotime a_results.hdf --all-q --starts 1 --model static --out rings --json --quiet")...)
	var doc struct {
		Fits []struct{ Q float64 }
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exit.OK || len(doc.Fits) != 2 || !(doc.Fits[1].Q > doc.Fits[0].Q) {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	all := apptest.Rows(t, "rings/fits.csv")
	if n := len(all) - 1; n%2 != 0 || apptest.Cell(t, all, 1, "parameter") != "D0" || apptest.Cell(t, all, n/2+1, "parameter") != "D0" || apptest.Cell(t, all, 1, "q (1/A)") == apptest.Cell(t, all, n/2+1, "q (1/A)") {
		t.Errorf("%q", all)
	}
	if found, err := filepath.Glob("rings/q*/fit.json"); err != nil || len(found) != 2 {
		t.Errorf("%v %v", found, err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("convert rings again.csv")...); code != exit.OK || len(apptest.Rows(t, "again.csv")) != len(all) {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit twotime a_results.hdf --all-q --q 0.001")...); code != exit.WrongUsage {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Several bins are sampled by one command. Those that are finished are kept, and a bin that fails stops no other.
func TestSampleBins(t *testing.T) {
	t.Chdir(t.TempDir())
	var b strings.Builder // of bins 1 and 3 that are right, and bin 2 with a NaN
	for line := range strings.Lines(apptest.DecayCSV("NaN")) {
		b.WriteString(line)
		if strings.HasPrefix(line, "1,") {
			b.WriteString("3" + line[1:])
		}
	}
	if err := os.WriteFile("g2.csv", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	line := strings.Fields("sample g2 g2.csv --bins all --out run --warmup 100 --draws 100 --retries 0 --no-report --quiet --json")
	for again := range 2 {
		code, stdout, stderr := apptest.Do(t, line...)
		var doc struct {
			Bins []struct {
				Bin   int
				Units map[string]string
			}
			Failed []struct{ Bin int }
		}
		if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exit.Data || len(doc.Bins) != 2 || doc.Bins[1].Bin != 3 || doc.Bins[0].Units["tau"] != "s" || len(doc.Failed) != 1 || !strings.Contains(stderr, "1 of 3 bins failed, and the others were sampled: bin 2") {
			t.Fatalf("run %d: exit %d, %v: %s%s", again+1, code, err, stdout, stderr)
		}
	}
	all := apptest.Rows(t, "run/posteriors.csv")
	if len(all) != 3 || apptest.Cell(t, all, 1, "tau (s)") == "" || apptest.Cell(t, all, 2, "bin") != "3" || apptest.Cell(t, all, 1, "tau_low89 (s)") == "" {
		t.Errorf("%q", all)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("sample g2 g2.csv --bins all --bin 2")...); code != exit.WrongUsage {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A q that cannot be fitted stops no other: it is named at the end with the reason, and the exit code is 65. Every q also begins from the
// motion at the one before, which is that of the same sample.
func TestFitTwotimePastBadQ(t *testing.T) {
	t.Chdir(t.TempDir())
	const frames, step, d0 = 40, 0.1, 2e6
	qs := []float64{0.001, 0.002, 0.003}
	c2 := make([]float64, 0, len(qs)*frames*frames)
	z := tensor.NewStream(5, 0, 0)
	for k, q := range qs {
		one := make([]float64, frames*frames)
		for i := range frames {
			for j := range i + 1 {
				if k != 1 { // the second bin is one without light
					one[i*frames+j] = 1 + 0.3*math.Exp(-q*q*d0*step*float64(i-j)) + 0.003*z.Normal()
				}
				one[j*frames+i] = one[i*frames+j]
			}
		}
		c2 = append(c2, one...)
	}
	var b bytes.Buffer
	at := func(i int) float64 { return float64(i) * step }
	var t1 []float64
	for i := range frames {
		t1 = append(t1, at(i))
	}
	of := func(data []float64, shape ...int) *tensor.Tensor {
		x, err := tensor.From(data, shape...)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if err := tensor.WriteNPZ(&b, map[string]*tensor.Tensor{"wavevector_q_list": of(qs, 3), "phi_angles_list": of([]float64{0, 0, 0}, 3),
		"t1": of(t1, frames), "t2": of(t1, frames), "c2_exp": of(c2, 3, frames, frames)}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("c2.npz", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit twotime c2.npz --all-q --starts 1 --model static --fixed alpha=0 --fixed D_offset=0 --start D0=1e6 --out rings --json --quiet")...)
	var doc struct {
		Fits   []struct{ Q float64 }
		Failed []struct {
			Q       float64
			Message string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exit.Data || len(doc.Fits) != 2 || len(doc.Failed) != 1 || doc.Failed[0].Q != 0.002 || doc.Fits[1].Q != 0.003 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if !strings.Contains(stderr, "q = 0.002") || !strings.Contains(stderr, "half of all C2 is 0") {
		t.Errorf("the bad q is not named with the reason: %s", stderr)
	}
	if all := apptest.Rows(t, "rings/fits.csv"); len(all) < 3 {
		t.Errorf("%q", all)
	}
}
