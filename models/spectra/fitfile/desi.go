// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// DESIJob says which fibers of a file to fit, and where results go.
type DESIJob struct {
	Select survey.Selection
	// Table and Models are the names of the files of results, rvtab_ and rvmod_. Default: not
	// written.
	Table, Models string
	// New means that another process may write the table meanwhile, which is then not replaced: the error wraps fs.ErrExist. Wanted is
	// asked before anything is written whether the results are still wanted; if not, DESI returns without them. Default: they are.
	New    bool
	Wanted func() bool
	// More adds columns that the reference does not have; see [survey.Results].
	More     bool
	Command  string      // command line, as recorded in the headers
	Software [][2]string // names and versions of programs, as recorded in the headers
	// Started is called with the number of fibers to fit, and with the number that an earlier run
	// has done; Done with numbers that are done since, and are in the journal; Note with whatever a user may want to
	// know. Each may be nil.
	Started func(fibers, before int)
	Done    func(fibers, failed int)
	Note    func(text string)
	// Fitted receives each fit that is made, for plots; the caller may keep the star and the fit.
	// Calls are made one after another.
	Fitted func(id int64, star *spectra.Star, o *Outcome)
	// Failed is called with the reason why a row of FIBERMAP has no fit. Default: Note is called.
	Failed func(row int, err error)
	// Rows are the rows of FIBERMAP to fit, of those that are selected. Default: all.
	Rows func(row int) bool
}

// DESIOutcome summarises the fits of a file.
type DESIOutcome struct {
	Fibers    int // number of fibers that were chosen
	Fitted    int
	Misfits   int // number of fits whose verdict is that the model disagrees with the data
	Warned    int // number of fits with a bit set in RVS_WARN
	Results   *survey.Results
	FirstFail error // reason why the first fiber without a fit has none
}

// perThread is the number of stars for each thread that are read and fitted in one call: enough to keep all
// threads busy.
var perThread = 32

// perDevice is the same for each GPU: what is fitted side by side there.
const perDevice = 1024

// atATime is the largest number of stars that are read and fitted in one call.
func (p *Pipeline) atATime(onCPU bool) int {
	n := perThread * p.s.Threads
	if onCPU {
		return n
	}
	return max(n, perDevice*len(ad.Spread(p.s.Backend)))
}

// onCPU reports whether fits run on the processor: because it was asked for, or because there is no GPU that can be used.
func (p *Pipeline) onCPU() bool {
	auto, ok := p.s.Backend.(ad.Auto)
	if !ok {
		return ad.OnProcessor(p.s.Backend)
	}
	auto.Chosen = nil // fits tell it themselves
	d, err := ad.DeviceFor(auto, ad.Need{Name: "fits of spectra", Work: ad.DeviceWorth})
	return d == nil && err == nil
}

// longCall is the time after which a call is long enough: what an interruption loses.
const longCall = 4 * time.Second

// parts yields the stars of each call. On the processor the first calls are small, and each has twice as many as the one
// before until a call is long enough, so that a process that ends early loses seconds of work. Where a GPU fits many stars
// as fast as a few, all have as many.
func (p *Pipeline) parts(left []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		onCPU := p.onCPU()
		most := p.atATime(onCPU)
		n := most
		if onCPU {
			n = min(most, 4*p.s.Threads)
		}
		for len(left) > 0 {
			n = min(n, len(left))
			start := time.Now()
			if !yield(left[:n]) {
				return
			}
			left = left[n:]
			n = nextCall(n, most, time.Since(start), onCPU)
		}
	}
}

// nextCall is the number of stars of the call after one that took some time for n stars.
func nextCall(n, most int, took time.Duration, onCPU bool) int {
	switch {
	case onCPU && took > 2*longCall:
		return max(1, n/2)
	case onCPU && took > longCall/2:
		return n
	}
	return min(2*n, most)
}

// DESI fits the fibers of a coadd- or spectra- file and writes the tables. Finished fits are kept
// in a journal beside the table until that is complete, so that the same call continues where a
// process ended. When ctx ends it returns ctx.Err().
func (p *Pipeline) DESI(ctx context.Context, name string, job DESIJob) (*DESIOutcome, error) {
	d, err := survey.OpenDESI(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	chosen, err := d.Select(job.Select)
	if err != nil {
		return nil, err
	}
	if job.Rows != nil {
		chosen.Rows = slices.DeleteFunc(chosen.Rows, func(row int) bool { return !job.Rows(row) })
	}
	out := &DESIOutcome{Fibers: len(chosen.Rows), Results: &survey.Results{Source: d, Chosen: chosen, NoCCF: p.s.BruteForce, More: job.More, New: job.New, Command: job.Command, Software: job.Software, Config: p.s.Config.File}}
	r := out.Results
	if len(chosen.Rows) > 0 {
		e, err := p.engine(setupsOf(chosen.Arms))
		if err != nil {
			return nil, err
		}
		r.Libraries = e.versions
		if err := p.fibers(ctx, e, d, job, out); err != nil {
			return out, err
		}
	}
	if job.Wanted != nil && !job.Wanted() {
		return out, nil
	}
	if job.Models != "" {
		if err := r.WriteModels(job.Models); err != nil {
			return out, err
		}
	}
	if job.Table != "" {
		if err := r.WriteTable(job.Table); err != nil {
			return out, err
		}
		if err := survey.RemoveJournal(job.Table); err != nil {
			return out, err
		}
	}
	return out, nil
}

// setupsOf returns the names of DESI's arms in a library.
func setupsOf(arms []string) (list []string) {
	for _, a := range arms {
		list = append(list, "desi_"+a)
	}
	return list
}

// fibers fits the chosen fibers, or takes them from the journal.
func (p *Pipeline) fibers(ctx context.Context, e *engine, d *survey.DESI, job DESIJob, out *DESIOutcome) error {
	r := out.Results
	r.Rows = make([]survey.Row, len(r.Chosen.Rows))
	done := make([]bool, len(r.Rows))
	var j *survey.Journal
	if job.Table != "" {
		key, err := p.key(d, r.Chosen, job.Software)
		if err != nil {
			return err
		}
		if j, err = survey.OpenJournal(job.Table, key, r.Rows, done); err != nil {
			return err
		}
		defer j.Close()
		if j.Other && job.Note != nil {
			job.Note(fmt.Sprintf("the rows that an interrupted run left beside %s are of other spectra, another library or other settings: starting over", job.Table))
		}
	}
	var left []int
	for i, ok := range done {
		if ok {
			out.count(&r.Rows[i])
		} else {
			left = append(left, i)
		}
	}
	if job.Started != nil {
		job.Started(len(r.Rows), len(r.Rows)-len(left))
	}
	for part := range p.parts(left) {
		if err := ctx.Err(); err != nil {
			return err
		}
		failed, err := p.someFibers(ctx, e, d, job, out, part)
		if err != nil {
			return err
		}
		if j != nil {
			if err := j.Add(r.Rows, part); err != nil {
				return err
			}
		}
		if job.Done != nil {
			job.Done(len(part), failed)
		}
	}
	return nil
}

func (o *DESIOutcome) count(row *survey.Row) {
	if row.Fitted {
		o.Fitted++
	}
	if row.WarningFlags != 0 {
		o.Warned++
	}
	if row.Fitted && row.Disagrees {
		o.Misfits++
	}
}

// someFibers fits some of the chosen fibers, and returns how many have no fit.
func (p *Pipeline) someFibers(ctx context.Context, e *engine, d *survey.DESI, job DESIJob, out *DESIOutcome, part []int) (failed int, err error) {
	r := out.Results
	var stars []spectra.Star
	var place []int
	fail := func(i int, err error) {
		failed++
		r.Rows[i] = survey.Row{WarningFlags: survey.WarnSpectrum}
		if out.FirstFail == nil {
			out.FirstFail = err
		}
		switch {
		case job.Failed != nil:
			job.Failed(r.Chosen.Rows[i], err)
		case job.Note != nil:
			job.Note(err.Error())
		}
	}
	for _, i := range part {
		star, err := p.fiber(d, r.Chosen, r.Chosen.Rows[i])
		switch {
		case err != nil:
			fail(i, err)
		case star == nil:
			fail(i, fmt.Errorf("%s: target %d (row %d) has no usable data, because all pixels are masked, or their median flux is 0 or not a number: leave it out", d.Name, d.TargetID[r.Chosen.Rows[i]], r.Chosen.Rows[i]))
		default:
			stars, place = append(stars, *star), append(place, i)
		}
	}
	outcomes, err := e.fit(ctx, stars)
	if err != nil {
		return failed, err
	}
	for k := range outcomes {
		i, o := place[k], &outcomes[k]
		if o.Fit.Err != nil {
			fail(i, fmt.Errorf("%s: target %d (row %d): %w", d.Name, d.TargetID[r.Chosen.Rows[i]], r.Chosen.Rows[i], o.Fit.Err))
			continue
		}
		r.Rows[i] = p.Row(o)
		if job.Fitted != nil {
			job.Fitted(d.TargetID[r.Chosen.Rows[i]], &stars[k], o)
		}
	}
	for _, i := range part {
		out.count(&r.Rows[i])
	}
	return failed, nil
}

// Fiber reads the star of one fiber of a file, chosen by its row.
func (p *Pipeline) Fiber(name string, choose func(d *survey.DESI) (row int, err error)) (*spectra.Star, error) {
	d, err := survey.OpenDESI(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	row, err := choose(d)
	if err != nil {
		return nil, err
	}
	star, err := p.fiber(d, &survey.Chosen{Arms: d.Arms}, row)
	if err == nil && star == nil {
		err = fmt.Errorf("%s: target %d (row %d) has no usable data, because all pixels are masked, or their median flux is 0 or not a number: leave it out", name, d.TargetID[row], row)
	}
	return star, err
}

// fiber returns the star of a row of FIBERMAP; nil if it has no data that can be used.
func (p *Pipeline) fiber(d *survey.DESI, chosen *survey.Chosen, row int) (*spectra.Star, error) {
	arms, err := d.Fiber(row, chosen.Arms, p.s.Resolution)
	if err != nil || len(arms) == 0 {
		return nil, err
	}
	star := &spectra.Star{Name: fmt.Sprint(d.TargetID[row])}
	for _, a := range arms {
		s, err := p.spectrum(a)
		if err != nil {
			return nil, fmt.Errorf("%s: target %d (row %d): %w", d.Name, d.TargetID[row], row, err)
		}
		star.Spectra = append(star.Spectra, *s)
	}
	return star, nil
}

// spectrum turns a prepared arm into what is fitted.
func (p *Pipeline) spectrum(a *survey.Arm) (*spectra.Spectrum, error) {
	s := &spectra.Spectrum{Arm: a.Name, Lam: a.Wave, Flux: a.Flux, Err: a.Err, Bad: a.Bad, Unusable: a.Unusable}
	if a.Resolution == nil {
		return s, nil
	}
	letter := a.Name[len(a.Name)-1:]
	sigma, ok := p.s.Config.Sigma0[letter]
	if !ok {
		return nil, fmt.Errorf("the configuration has no lsf_sigma0_angstrom for arm %s: give the width of the lines of the templates", letter)
	}
	var err error
	s.Resolution, err = sim.DESIResolution(a.Resolution, a.Diagonals, sigma, a.Wave[1]-a.Wave[0])
	return s, err
}

// Row turns an outcome into a row of a table.
func (p *Pipeline) Row(o *Outcome) survey.Row {
	f := &o.Fit
	r := survey.Row{Fitted: true, VRad: f.Velocity.Vel, VRadErr: f.Velocity.SD, VRadSkew: f.Velocity.Skewness, VRadKurt: f.Velocity.Kurtosis, VRadCCF: o.Guess, BadHessian: f.BadHessian}
	if _, fixed := p.s.Fixed[spectra.Vel]; fixed {
		r.VRad, r.VRadErr = f.X[0], math.NaN()
	}
	k := slices.Index(f.Names, spectra.Vsini)
	r.VSini, r.VSiniErr, r.VRadMarginal = f.X[k], f.SD[k], f.SD[0]
	if f.Rotation != nil {
		r.VSiniErr = f.Rotation.Upper - r.VSini
	}
	r.Teff, r.TeffErr = p.value(f, "teff")
	r.LogG, r.LogGErr = p.value(f, "logg")
	r.FeH, r.FeHErr = p.value(f, "feh")
	r.Alpha, r.AlphaErr = p.value(f, "alpha")
	for _, name := range f.Names[k+1:] {
		if !slices.Contains([]string{"teff", "logg", "feh", "alpha"}, name) {
			x, sd := p.value(f, name)
			r.Others = append(r.Others, survey.Parameter{Name: name, Value: x, Err: sd})
		}
	}
	r.P, r.Judged = math.NaN(), f.Verdict != nil
	if f.Verdict != nil {
		r.P, r.Disagrees = f.Verdict.P, !f.Verdict.OK
		r.Unexplained = f.Verdict.Has(check.KindOutliers, spectra.KindEmission, spectra.KindAbsorption, spectra.KindSecondStar)
	}
	r.OtherVelocities = f.Profile != nil && len(f.Profile.Others) > 0
	for _, s := range f.Spikes {
		r.LeftOut += s.To - s.From
	}
	for _, s := range f.Spectra {
		arm := s.Arm[len(s.Arm)-1:]
		k := slices.IndexFunc(r.Arms, func(a survey.ArmFit) bool { return a.Arm == arm })
		if k < 0 {
			r.Arms = append(r.Arms, survey.ArmFit{Arm: arm, Spectrum: make([]float32, len(s.Model))})
			k = len(r.Arms) - 1
			for i, v := range s.Model {
				r.Arms[k].Spectrum[i] = float32(v)
			}
		}
		a := &r.Arms[k]
		a.Chisq += s.ChiSquare
		a.ChisqC += s.ContinuumOnly
		a.Pixels += s.Pixels
	}
	r.WarningFlags = r.Warn(p.s.Config.MinVel, p.s.Config.MaxVel)
	return r
}

// key is a hash of all that a row depends on.
func (p *Pipeline) key(d *survey.DESI, chosen *survey.Chosen, software [][2]string) (string, error) {
	file, err := foreign.Identify(d.Name, true)
	if err != nil {
		return "", err
	}
	lib, err := p.identity()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	s := p.s
	fmt.Fprintln(h, *file, lib, chosen.Rows, chosen.Arms, software)
	fmt.Fprintln(h, *s.Config, s.Continuum, s.Chebyshev, s.FixedContinuum, s.KeepSpikes, s.Resolution, s.BruteForce, s.Conditional, s.Rotation, s.Fixed, s.Priors, s.Floor, s.NoVerdict, s.Load)
	if s.Precision == 32 {
		fmt.Fprintln(h, "float32")
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// versionOfLibrary tells one library from another, and from itself after a change of any of its files, by their contents.
func (p *Pipeline) versionOfLibrary() (string, error) {
	names := []string{p.library}
	if st, err := os.Stat(p.library); err == nil && st.IsDir() {
		entries, err := os.ReadDir(p.library)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			names = append(names, filepath.Join(p.library, e.Name()))
		}
	}
	var b strings.Builder
	for i, name := range names {
		st, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i > 0:
			continue // a link to nothing, or a temporary file
		case err != nil:
			return "", err
		case !st.Mode().IsRegular():
			fmt.Fprintln(&b, name)
			continue
		}
		id, err := foreign.Identify(name, true)
		if err != nil {
			return "", err
		}
		if id.Whole() {
			id.Modified = time.Time{} // a copy is the same library
		}
		fmt.Fprintln(&b, name, id.Bytes, id.SHA256, id.Modified.Format(time.RFC3339Nano))
	}
	return b.String(), nil
}
