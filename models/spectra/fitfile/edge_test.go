// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/golden/desi"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/spectra"
)

// pipeline is one with the reference's library.
func pipeline(t testing.TB) *Pipeline {
	t.Helper()
	c := rvspecfit.DefaultConfig()
	c.Library = templates.Folder(t, "nn")
	return must[*Pipeline](t)(New(Settings{Config: c, Threads: 1, Batch: 2, FixedContinuum: true, KeepSpikes: true}))
}

// pipelineOf is one with the configuration of a run and networks.
func pipelineOf(t testing.TB, run *desi.Run, change func(s *Settings)) *Pipeline {
	t.Helper()
	c := must[*rvspecfit.Config](t)(rvspecfit.ReadConfig(run.Config(t, "nn")))
	s := Settings{Config: c, Threads: 1, Batch: 2, FixedContinuum: true, KeepSpikes: true}
	if change != nil {
		change(&s)
	}
	return must[*Pipeline](t)(New(s))
}

// among reports whether a row is one of the first n of a list.
func among(rows []int, n int) func(row int) bool {
	return func(row int) bool { return slices.Contains(rows[:min(n, len(rows))], row) }
}

// A run that ends in the middle goes on where it ended, and gives the same table as one that did not.
func TestJournal(t *testing.T) {
	defer func(n int) { perThread = n }(perThread)
	perThread = 2
	run, rows := fitted(t, 3)
	file, some := run.Coadd(t), among(rows, 3)
	dir := t.TempDir()
	p := pipelineOf(t, &run, func(s *Settings) { s.NoVerdict = true })
	whole := must[*DESIOutcome](t)(p.DESI(context.Background(), file, DESIJob{Table: filepath.Join(dir, "whole.fits"), Rows: some}))

	ctx, cancel := context.WithCancel(context.Background())
	job := DESIJob{Table: filepath.Join(dir, "tab.fits"), Models: filepath.Join(dir, "mod.fits"), Rows: some}
	done := 0
	job.Done = func(fibers, _ int) {
		if done += fibers; done >= 2 {
			cancel()
		}
	}
	if _, err := p.DESI(ctx, file, job); !errors.Is(err, context.Canceled) {
		t.Fatalf("canceled: %v", err)
	}
	if _, err := os.Stat(job.Table); !os.IsNotExist(err) {
		t.Errorf("a table is there: %v", err)
	}
	// The process was killed while it wrote a row.
	names := must[[]string](t)(filepath.Glob(job.Table + ".journal-*"))
	if len(names) != 1 {
		t.Fatalf("journals: %v", names)
	}
	journal := names[0]
	b := must[[]byte](t)(os.ReadFile(journal))
	if err := os.WriteFile(journal, append(b, b[len(b)-100:]...), 0o666); err != nil {
		t.Fatal(err)
	}
	before, after := -1, 0
	job.Started = func(_, n int) { before = n }
	job.Done = func(fibers, _ int) { after += fibers }
	rest := must[*DESIOutcome](t)(p.DESI(context.Background(), file, job))
	if before != done || before+after != whole.Fibers {
		t.Errorf("%d fibers of %d were kept, %d done before, %d after", before, whole.Fibers, done, after)
	}
	// NaN is not equal to itself: compare what is printed.
	if got, want := fmt.Sprintf("%+v", rest.Results.Rows), fmt.Sprintf("%+v", whole.Results.Rows); got != want {
		t.Errorf("the rows differ:\n%.2000s\n%.2000s", got, want)
	}
	if rest.Fitted != whole.Fitted || rest.Warned != whole.Warned || rest.Misfits != whole.Misfits {
		t.Errorf("%d fitted, %d warned, %d misfits: want %d, %d, %d", rest.Fitted, rest.Warned, rest.Misfits, whole.Fitted, whole.Warned, whole.Misfits)
	}
	// Other settings begin anew.
	if err := os.WriteFile(journal, b, 0o666); err != nil {
		t.Fatal(err)
	}
	q := pipelineOf(t, &run, func(s *Settings) { s.NoVerdict, s.Continuum = true, 6 })
	job.Table, before = filepath.Join(dir, "tab.fits"), -1
	must[*DESIOutcome](t)(q.DESI(context.Background(), file, job))
	if before != 0 {
		t.Errorf("%d fibers of other settings were kept", before)
	}
}

// A library of which one file is replaced in place is another one, whose fits are not mixed with those of before.
func TestVersionOfLibrary(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "interp_blue.h5")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	c := rvspecfit.DefaultConfig()
	c.Library = dir
	p := must[*Pipeline](t)(New(Settings{Config: c}))
	st := must[os.FileInfo](t)(os.Stat(dir))
	before := must[string](t)(p.versionOfLibrary())
	if again := must[string](t)(p.versionOfLibrary()); again != before {
		t.Errorf("%s is another library than %s", again, before)
	}
	write("ab")
	if now := must[os.FileInfo](t)(os.Stat(dir)); !now.ModTime().Equal(st.ModTime()) {
		t.Fatal("the folder has changed")
	}
	after := must[string](t)(p.versionOfLibrary())
	if after == before {
		t.Error("a file of another size makes no other library")
	}
	was := must[os.FileInfo](t)(os.Stat(file))
	write("cd")
	if err := os.Chtimes(file, was.ModTime(), was.ModTime()); err != nil {
		t.Fatal(err)
	}
	if again := must[string](t)(p.versionOfLibrary()); again == after {
		t.Error("other bytes of the same size and time make no other library")
	}
}

// First guesses on a grid reach the same fits.
func TestBruteForce(t *testing.T) {
	tier.SlowOnly(t)
	run, rows := fitted(t, 1)
	file, job := run.Coadd(t), DESIJob{Rows: among(rows, 1)}
	a := must[*DESIOutcome](t)(pipelineOf(t, &run, func(s *Settings) { s.NoVerdict = true }).DESI(context.Background(), file, job))
	b := must[*DESIOutcome](t)(pipelineOf(t, &run, func(s *Settings) { s.NoVerdict, s.BruteForce = true, true }).DESI(context.Background(), file, job))
	for i := range a.Results.Rows {
		x, y := a.Results.Rows[i], b.Results.Rows[i]
		if x.Fitted != y.Fitted || math.Abs(x.VRad-y.VRad) > 0.1*x.VRadErr || math.Abs(x.Teff-y.Teff) > 0.1*x.TeffErr {
			t.Errorf("row %d: %+v, %+v", i, x.Teff, y.Teff)
		}
	}
	if !b.Results.NoCCF || !math.IsNaN(b.Results.Rows[0].VRadCCF) {
		t.Error("a velocity of a cross-correlation that was not made")
	}
}

// One that nothing can be done with ends no other, and each row of the table has its model (Q3).
func TestEachRowHasItsModel(t *testing.T) {
	run := desi.Runs(t)[0]
	dir := t.TempDir()
	var fits []int64
	job := DESIJob{Table: filepath.Join(dir, "t.fits"), Models: filepath.Join(dir, "m.fits"), Fitted: func(id int64, _ *spectra.Star, o *Outcome) { fits = append(fits, id) }}
	out := must[*DESIOutcome](t)(pipelineOf(t, &run, func(s *Settings) { s.NoVerdict = true }).DESI(context.Background(), run.Coadd(t), job))
	if (out.Fitted < out.Fibers) != (out.FirstFail != nil) || len(fits) != out.Fitted || len(out.Results.Rows) != out.Fibers {
		t.Fatalf("%d of %d fitted, %v", out.Fitted, out.Fibers, out.FirstFail)
	}
	for i, row := range out.Results.Rows {
		if row.Fitted == (row.WarningFlags&survey.WarnSpectrum != 0) {
			t.Errorf("row %d: fitted %t, flags %d", i, row.Fitted, row.WarningFlags)
		}
	}
}

func TestSettings(t *testing.T) {
	good := func() *rvspecfit.Config {
		c := rvspecfit.DefaultConfig()
		c.Library = t.TempDir()
		return c
	}
	for says, s := range map[string]Settings{
		"no library":  {},
		"min_vel":     {Config: func() *rvspecfit.Config { c := good(); c.MinVel = 2000; return c }()},
		"prior":       {Config: good(), Priors: map[string]string{"teff": "what(3)"}},
		"no such":     {Config: func() *rvspecfit.Config { c := good(); c.Library = "nowhere"; return c }()},
		"max_vsini":   {Config: func() *rvspecfit.Config { c := good(); c.MaxVsini = math.NaN(); return c }()},
		"lsf_sigma0_": {Config: func() *rvspecfit.Config { c := good(); c.Sigma0["b"] = -1; return c }()},
	} {
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %q", err, says)
		}
	}
	p := must[*Pipeline](t)(New(Settings{Config: good()}))
	if _, err := p.Arms(); err == nil || !strings.Contains(err.Error(), "interp_SETUP.h5") {
		t.Error(err)
	}
}

// Spectra of other surveys are cut to what templates cover.
func TestPlainSpectrum(t *testing.T) {
	p := pipeline(t)
	arms := must[[]string](t)(p.Arms())
	lo, hi, err := p.coverage(arms[0])
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("wavelength,flux,error\n")
	for x := lo - 100; x < hi+100; x += 1 {
		fmt.Fprintf(&b, "%g,%g,%g\n", x, 100+10*math.Sin(x/50), 2.0)
	}
	name := filepath.Join(t.TempDir(), "star.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := must[*Source](t)(Open(name, 0, survey.Units{}))
	defer s.Close()
	if s.Kind != Spectrum || s.N != 1 {
		t.Error(s.Kind, s.N)
	}
	if len(arms) > 1 {
		if _, _, err := p.Spectrum(s, 0, Taking{}); err == nil || !strings.Contains(err.Error(), arms[1]) {
			t.Errorf("no arm: %v", err)
		}
	}
	if _, _, err := p.Spectrum(s, 0, Taking{Arm: "nothing"}); err == nil || !strings.Contains(err.Error(), "no arm nothing") {
		t.Error(err)
	}
	spec, left, err := p.Spectrum(s, 0, Taking{Arm: arms[0], Power: 2000})
	if err != nil || left <= 0 || spec.Lam[0] < lo || spec.Lam[len(spec.Lam)-1] > hi || spec.Resolution == nil {
		t.Errorf("%g left, %v", left, err)
	}
	if _, _, err := p.Spectrum(s, 0, Taking{Arm: arms[0], Within: Range{From: hi - 5}}); err == nil || !strings.Contains(err.Error(), "want 10 or more") {
		t.Error(err)
	}
	out := must[[]Outcome](t)(p.Fit(context.Background(), []spectra.Star{{Name: "a", Spectra: []spectra.Spectrum{*spec}}, {Name: "b", Spectra: []spectra.Spectrum{*spec}}}))
	if out[0].Fit.Err != nil || !reflect.DeepEqual(out[0].Fit.X, out[1].Fit.X) || out[0].Fit.Verdict.OK {
		t.Errorf("%v, %v", out[0].Fit.Err, out[0].Fit.X)
	}
}

// A GPU without room in the middle of a file is an error, and what was fitted before stays in the journal.
func TestJournalOfDevice(t *testing.T) {
	tier.SlowOnly(t)
	lib := pretend.LookPath(t)
	defer func(n int) { perThread = n }(perThread)
	perThread = 2
	run, rows := fitted(t, 3)
	file := run.Coadd(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := 0
	job := DESIJob{Table: filepath.Join(t.TempDir(), "tab.fits"), Rows: among(rows, 3), Done: func(fibers, _ int) {
		if done += fibers; done >= 2 {
			cancel()
		}
	}}
	p := pipelineOf(t, &run, func(s *Settings) { s.NoVerdict = true })
	if _, err := p.DESI(ctx, file, job); !errors.Is(err, context.Canceled) {
		t.Fatalf("canceled: %v", err)
	}
	defer lib.Set("memory", 1<<30)
	lib.Set("memory", 1<<24)
	onDevice := p.s
	onDevice.Backend = ad.CUDA{}
	q := must[*Pipeline](t)(New(onDevice))
	before := -1
	job.Started, job.Done = func(_, n int) { before = n }, nil
	if _, err := q.DESI(context.Background(), file, job); !ad.IsDeviceFault(err) || before != done {
		t.Errorf("without memory: %v, and %d fibers were kept of %d", err, before, done)
	} else {
		t.Log(err)
	}
	if _, err := p.DESI(context.Background(), file, job); err != nil || before != done {
		t.Errorf("on the processor: %v, and %d fibers were kept of %d", err, before, done)
	}
}
