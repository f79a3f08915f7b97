// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/golden/desi"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// The runs of the reference: the same rows, columns and flags, chi-squares no more than 1.001 of its own, and
// velocities and parameters within the tolerances that its README gives.
func TestRunsOfTheReference(t *testing.T) {
	for _, run := range desi.Runs(t) {
		t.Run(run.Run, func(t *testing.T) {
			dir := t.TempDir()
			s := Settings{Rotation: sim.Rotation{Compat: true}, FixedContinuum: true, KeepSpikes: true, Batch: 4, Config: must[*rvspecfit.Config](t)(rvspecfit.ReadConfig(run.Config(t, run.Library)))}
			job := DESIJob{Table: filepath.Join(dir, "tab.fits"), Models: filepath.Join(dir, "mod.fits"), Note: func(text string) { t.Log(text) }}
			f := run.Flags(t)
			job.Select = survey.Selection{Arms: f.Arms, TargetIDs: f.TargetIDs, ObjTypes: f.ObjTypes, MinSN: f.MinSN, MinExpID: f.MinExpID, MaxExpID: f.MaxExpID, StarsOnly: f.StarsOnly, WithRedshifts: f.WithRedshifts}
			s.Resolution, s.Continuum, s.Config.Continuum = f.Resolution, f.NPoly, s.Config.Continuum && !f.NoContinuum
			p := must[*Pipeline](t)(New(s))
			out := must[*DESIOutcome](t)(p.DESI(context.Background(), run.Coadd(t), job))
			if out.Fibers != run.NTab {
				t.Errorf("%d fibers: want %d", out.Fibers, run.NTab)
			}
			if left := must[[]string](t)(filepath.Glob(job.Table + ".journal*")); left != nil {
				t.Errorf("the journal is still there: %v", left)
			}
			sameFits(t, job.Table, run.Table(t))
		})
	}
}

func sameFits(t *testing.T, ours, theirs string) {
	read := func(file string) *fits.Table {
		f := must[*fits.File](t)(fits.Open(file))
		t.Cleanup(func() { f.Close() })
		return must[*fits.Table](t)(f.Table("RVTAB"))
	}
	a, b := read(ours), read(theirs)
	number := func(x *fits.Table, name string) []float64 {
		return must[[]float64](t)(must[*fits.Column](t)(x.Column(name)).Float64s())
	}
	names := func(x *fits.Table) (list []string) {
		for _, c := range x.Columns() {
			list = append(list, c.Name)
		}
		return list
	}
	if got, want := names(a), append(names(b), "NPIX_SPIKES", "MODEL_OK"); !slices.Equal(got, want) {
		t.Errorf("columns %v: want %v", got, want)
	}
	warn, wantWarn := number(a, "RVS_WARN"), number(b, "RVS_WARN")
	if !slices.Equal(warn, wantWarn) {
		t.Errorf("RVS_WARN %v: want %v", warn, wantWarn)
	}
	chi, wantChi := number(a, "CHISQ_TOT"), number(b, "CHISQ_TOT")
	for i := range chi {
		if int64(wantWarn[i])&survey.WarnSpectrum != 0 {
			continue
		}
		if !(chi[i] <= 1.001*wantChi[i]) {
			t.Errorf("row %d: chi-square %.2f: want %.2f", i, chi[i], wantChi[i])
		}
		if chi[i] < wantChi[i]-0.5 {
			t.Logf("row %d: chi-square %.2f is lower than %.2f", i, chi[i], wantChi[i])
			continue
		}
		near := func(name, err string, part float64) {
			x, want, sd := number(a, name)[i], number(b, name)[i], number(a, err)[i]
			if e := number(b, err)[i]; name == "VRAD" || !(sd > 0) {
				sd = e
			}
			if !(math.Abs(x-want) <= part*sd) {
				t.Errorf("row %d: %s %.5g +- %.3g: want %.5g +- %.3g", i, name, x, number(a, err)[i], want, number(b, err)[i])
			}
		}
		near("VRAD", "VRAD_ERR", 0.1)
		for _, name := range []string{"TEFF", "LOGG", "FEH", "ALPHAFE"} {
			near(name, name+"_ERR", 0.3)
		}
	}
}

// fitted returns a run of the reference's networks and the rows of its file that the reference fitted without a warning, those with the
// smallest errors of the velocity first, or skips the test if they are fewer than it needs.
func fitted(t testing.TB, least int) (run desi.Run, rows []int) {
	t.Helper()
	for _, run = range desi.Runs(t) {
		if rows = goodRows(t, run); run.Library == "nn" && len(rows) >= least {
			return run, rows
		}
	}
	t.Skipf("no run of the reference with networks fitted %d stars without a warning", least)
	return run, nil
}

func goodRows(t testing.TB, run desi.Run) (rows []int) {
	t.Helper()
	d := must[*survey.DESI](t)(survey.OpenDESI(run.Coadd(t)))
	defer d.Close()
	f := must[*fits.File](t)(fits.Open(run.Table(t)))
	defer f.Close()
	table := must[*fits.Table](t)(f.Table("RVTAB"))
	numbers := func(name string) []float64 {
		return must[[]float64](t)(must[*fits.Column](t)(table.Column(name)).Float64s())
	}
	sd, flags := map[int]float64{}, numbers("RVS_WARN")
	for i, id := range must[[]int64](t)(must[*fits.Column](t)(table.Column("TARGETID")).Int64s()) {
		if row := slices.Index(d.TargetID, id); flags[i] == 0 {
			rows, sd[row] = append(rows, row), numbers("VRAD_ERR")[i]
		}
	}
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(sd[a], sd[b]) })
	return rows
}

// On a machine without a GPU a process that may use one saves fits as often as one that may not: an interruption loses seconds.
func TestCallsAreShort(t *testing.T) {
	if d, err := ad.DeviceFor(ad.Auto{}, ad.Need{Name: "test", Work: ad.DeviceWorth}); d != nil || err != nil {
		t.Skip("there is a GPU")
	}
	for _, b := range []ad.Backend{nil, ad.CPU{}, ad.Auto{}} {
		p := &Pipeline{s: Settings{}}
		p.s.Backend, p.s.Threads = b, 2
		for part := range p.parts(make([]int, 1080)) {
			if len(part) != 8 {
				t.Errorf("%T: the first call fits %d stars, want 8", b, len(part))
			}
			break
		}
	}
	for took, want := range map[time.Duration]int{0: 32, longCall - 1: 16, longCall + 1: 16, 3 * longCall: 8} {
		if got := nextCall(16, 64, took, true); got != want {
			t.Errorf("after 16 stars in %v: %d stars, want %d", took, got, want)
		}
	}
	if got := nextCall(1024, 1024, time.Minute, false); got != 1024 {
		t.Errorf("on a GPU: %d stars, want 1024", got)
	}
}
