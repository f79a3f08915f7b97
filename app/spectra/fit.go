// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz/term"
)

var errNoLibrary = errors.New("no template library is given")

func fitSpectra(a *frame.App) *cobra.Command {
	var f fitSpectraFlags
	c := &cobra.Command{
		Use:   "spectra FILE...",
		Short: "Fit velocities, rotations and atmospheres of stars to spectra",
		Long: `Fit template spectra to the spectra of stars. The result is the radial velocity,
rotation, effective temperature, gravity and abundances of each star, with their
errors.

For DESI's files (coadd-, spectra-) the command writes the tables rvtab_ and the
models rvmod_ of rvspecfit's rvs_desi_fit, whose options it understands.
Finished fits are kept in a journal beside the table, so the same command
continues after Ctrl-C or a crash. All flags can be spelled with - or with _, as
--output-dir or --output_dir. For files of SDSS (spec-, spPlate-) and WEAVE
(L1), and for single spectra as CSV or FITS, it prints a table, and
writes it with a report to the folder --out, or alone to --out FILE.csv, .xlsx
or .parquet. Files that cannot be read are left out, and named at the end.

  euryale fit spectra --config config.yaml coadd-main-dark-1234.fits
  euryale fit spectra coadd-*.fits --output_dir rv --skipexisting
  euryale fit spectra star.csv --library templates --arm desi_b --out star
  euryale fit spectra b.csv r.csv --joint --arm desi_b,desi_r --fixed logg=4.4
`,
		RunE: func(c *cobra.Command, args []string) error { return runFitSpectra(a, c, args, &f) },
	}
	f.add(c)
	c.Flags().BoolVar(&f.HalfWeights, "half-weights", false, "store the weights of template networks in 16 bits on a GPU (needs --precision 32)")
	f.addPlain(c)
	c.Flags().BoolVar(&f.Joint, "joint", false, "treat all files as spectra of one star (not for DESI)")
	f.desi.add(c)
	return c
}

// fitSpectraFlags are the flags of fit spectra.
type fitSpectraFlags struct {
	spectraFlags
	Joint bool
	desi  desiFlags
}

func runFitSpectra(a *frame.App, c *cobra.Command, args []string, f *fitSpectraFlags) error {
	ctx := c.Context()
	if f.desi.Threads < 0 {
		return exit.Usage("--nthreads %d: want 0 (all) or more", f.desi.Threads)
	}
	if f.desi.Threads > 0 {
		a.Threads = f.desi.Threads
		frame.LimitThreads(a.Threads)
	}
	names, err := f.desi.names(args)
	if err != nil {
		return err
	}
	if len(names) == 0 && f.desi.Queue == "" {
		return exit.Usage("fit spectra needs input: name one or more files of spectra")
	}
	desi := f.desi.Queue != ""
	for i, name := range names {
		kind, err := fitfile.KindOf(name)
		if err != nil && !(desi && i > 0) {
			return exit.Input(err)
		}
		switch is := kind == fitfile.DESI; {
		case i == 0:
			desi = is
		case err == nil && is != desi:
			return exit.Usage("%s is a file of %s, but %s is not: fit them in separate commands", map[bool]string{true: names[0], false: name}[desi], fitfile.DESI, map[bool]string{true: name, false: names[0]}[desi])
		}
	}
	if !desi {
		if set := f.desi.given(c); set != "" {
			return exit.Usage("--%s is only for DESI files: leave it out", set)
		}
	}
	p, err := pipeline(a, &f.spectraFlags)
	if err != nil {
		return err
	}
	if desi {
		name := f.plain()
		if f.Joint {
			name = "joint"
		}
		if name != "" {
			return exit.Usage("--%s cannot be used with DESI files: use --fitarm to choose arms, and --resolution-matrix to use the resolution in the files", name)
		}
		return runFitDESI(ctx, a, p, names, &f.desi)
	}
	stars, lost, err := starsOf(a, p, names, f)
	if err != nil {
		return err
	}
	to, err := a.OpenOutputs(names...) // replaces what is there, so after the spectra are read, and before they are fitted
	if err != nil {
		return err
	}
	return errors.Join(fitStars(ctx, a, p, names, stars, to), lost.Err("fitted"))
}

// save writes what was fitted.
func save(a *frame.App, to frame.Outputs, p *fitfile.Pipeline, doc spectraDoc, fitted *report.SpectraFits) error {
	if err := to.Save(a, doc, starTable(doc.Stars)); err != nil {
		return err
	}
	if to.Folder != "" {
		err := a.WhileWaiting("drawing the report", func() error {
			return exit.With(exit.CannotWrite, errors.Join(fitted.Page(a.Page(0)).Save(string(to.Folder)), writeModels(to.Folder.Path(modelsFile), fitted.Stars, fitted.Outcomes)))
		})
		if err != nil {
			return err
		}
	}
	if told := to.Told(); told != "" {
		a.Note("%s", told)
	}
	return nil
}

// starsOf reads the spectra of files: a star for each of them, or one of all. Files that cannot be read are in lost if each is a star
// of its own and others can be.
func starsOf(a *frame.App, p *fitfile.Pipeline, names []string, f *fitSpectraFlags) (stars []spectra.Star, lost *frame.Lost, err error) {
	lost = frame.LostOf("file", len(names))
	units, err := f.units()
	if err != nil {
		return nil, nil, err
	}
	notes := a.NotesOn("file")
	defer notes.Tell()
	for i := range names {
		some, err := f.read(notes, p, i, names, units)
		var usage *exit.Error
		switch {
		case err != nil && (f.Joint || errors.As(err, &usage) && usage.Code == exit.WrongUsage || !lost.Add(a, names[i], err)):
			return nil, nil, err
		case err != nil:
		case f.Joint && len(stars) > 0:
			stars[0].Spectra = append(stars[0].Spectra, some[0].Spectra...)
		default:
			stars = append(stars, some...)
		}
	}
	if len(stars) == 0 {
		return nil, nil, lost.Err("")
	}
	if f.Joint {
		stars[0].Name = strings.Join(names, " + ")
	}
	for _, text := range f.Leave {
		if told := masksNothing(text, stars); told != "" {
			a.Note("%s", told)
		}
	}
	return stars, lost, nil
}

// masksNothing is a sentence on a range of --mask-range in which no spectrum has a pixel, or "" if one has.
func masksNothing(text string, stars []spectra.Star) string {
	r, err := wavelengths("mask-range", text)
	if err != nil {
		return ""
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, star := range stars {
		for _, s := range star.Spectra {
			if i, _ := slices.BinarySearch(s.Lam, r.From); i < len(s.Lam) && s.Lam[i] <= r.To {
				return ""
			}
			lo, hi = min(lo, s.Lam[0]), max(hi, s.Lam[len(s.Lam)-1])
		}
	}
	if lo > hi {
		return ""
	}
	told := fmt.Sprintf("--mask-range %s masks no pixel: those that are fitted lie at %.6g to %.6g Angstrom", text, lo, hi)
	if 10*r.From <= hi && 10*r.To >= lo {
		told += fmt.Sprintf(". Is the range in nm? In Angstrom it is %g:%g", 10*r.From, 10*r.To)
	}
	return told
}

// read reads the stars of file i.
func (f *fitSpectraFlags) read(notes *frame.Notes, p *fitfile.Pipeline, i int, names []string, units survey.Units) (stars []spectra.Star, err error) {
	name := names[i]
	s, err := fitfile.Open(name, f.MaskBits, units)
	if err != nil {
		return nil, exit.Input(err)
	}
	defer s.Close()
	if s.Told != "" {
		notes.Add(name, "%s", s.Told)
	}
	t, err := f.taking(i, len(names))
	if err != nil {
		return nil, err
	}
	if f.Joint && s.N > 1 {
		return nil, exit.Usage("--joint: %s has %d spectra: want files with one spectrum each", name, s.N)
	}
	told := false
	for row := range s.N {
		spec, left, err := p.Spectrum(s, row, t)
		if err != nil {
			return nil, exit.Input(err)
		}
		if left > 0 && !told {
			told = true
			notes.Add(name, "%.1f %% of the pixels lie outside the templates or --range and were left out", 100*left)
		}
		star := spectra.Star{Name: name}
		if s.N > 1 {
			star.Name = fmt.Sprintf("%s:%d", name, row+1)
		}
		switch {
		case spec == nil && f.Joint:
			return nil, exit.With(exit.Data, fmt.Errorf("%s has no usable data: all pixels are masked, or the flux is 0", name))
		case spec != nil && f.Joint:
			if spec.Exposure, err = f.exposure(i, names); err != nil {
				return nil, err
			}
		}
		if spec != nil {
			star.Spectra = []spectra.Spectrum{*spec}
		}
		stars = append(stars, star)
	}
	return stars, nil
}

// spectraDoc is the JSON document of fit spectra.
type spectraDoc struct {
	Device  string            `json:"device,omitempty"` // where it was computed: see docs/guide/gpu.md
	Engine  string            `json:"engine"`
	Units   map[string]string `json:"units"` // of the parameters
	Library string            `json:"library"`
	Files   []string          `json:"files"`
	Stars   []starDoc         `json:"stars"`
	Partial bool              `json:"partial,omitempty"`
}

type starDoc struct {
	Name        string                  `json:"name"`
	Status      string                  `json:"status"`
	Message     string                  `json:"message,omitempty"`
	Converged   bool                    `json:"converged"`
	X           map[string]frame.Number `json:"x,omitempty"`
	SD          map[string]frame.Number `json:"sd,omitempty"`
	Conditional map[string]frame.Number `json:"sd_conditional,omitempty"`
	Velocity    *velocityDoc            `json:"velocity,omitempty"`
	Profile     *profileDoc             `json:"velocity_profile,omitempty"`
	Guess       frame.Number            `json:"first_guess_vel"`
	ChiSquare   frame.Number            `json:"minus_2_log_likelihood"`
	Spectra     []spectrumDoc           `json:"spectra,omitempty"`
	Names       []string                `json:"names,omitempty"`    // of the parameters, in their order
	SN          *frame.Number           `json:"sn,omitempty"`       // median of flux over error
	Warn        *int64                  `json:"rvs_warn,omitempty"` // as in the tables of DESI
	// LeftOut are the pixels that the fit left out as spikes, and Polynomials are those that it added to the continuum.
	LeftOut     []spikeDoc      `json:"left_out,omitempty"`
	Polynomials int             `json:"polynomials,omitempty"`
	AtBound     []string        `json:"at_bound,omitempty"`
	Limits      []limitDoc      `json:"limits,omitempty"`
	Exposures   []exposureDoc   `json:"exposures,omitempty"`
	Common      *commonDoc      `json:"common_velocity,omitempty"`
	Outside     frame.Number    `json:"penalty_outside"`
	BadHessian  bool            `json:"bad_hessian,omitempty"`
	Evaluations int             `json:"evaluations"`
	Check       *frame.CheckDoc `json:"model_check,omitempty"`
}

// spikeDoc is a run of pixels that were left out.
type spikeDoc struct {
	Arm        string       `json:"arm"`
	Wavelength frame.Number `json:"wavelength"` // of the highest pixel, Angstrom
	Pixels     int          `json:"pixels"`
	Height     frame.Number `json:"height"` // above the model, in standard deviations
	Line       string       `json:"line,omitempty"`
}

// limitDoc is what is known of a parameter at a bound.
type limitDoc struct {
	Name    string       `json:"name"`
	Bound   frame.Number `json:"bound"`
	Limit95 frame.Number `json:"limit95"` // between it and the bound the parameter lies with 95 %
}

type exposureDoc struct {
	Exposure string `json:"exposure"`
	velocityDoc
}

// commonDoc says whether the velocities of exposures agree.
type commonDoc struct {
	Vel       frame.Number `json:"vel"`
	SD        frame.Number `json:"sd"`
	ChiSquare frame.Number `json:"chi2"`
	DoF       int          `json:"dof"`
	P         frame.Number `json:"p"`
	Agree     bool         `json:"agree"`
}

type velocityDoc struct {
	Vel      frame.Number `json:"vel"`
	SD       frame.Number `json:"sd"`
	Skewness frame.Number `json:"skewness"`
	Kurtosis frame.Number `json:"kurtosis"`
}

// profileDoc is where the velocity of a star with weak lines may be.
type profileDoc struct {
	Lower  frame.Number       `json:"lower"` // km/s, as Upper
	Upper  frame.Number       `json:"upper"`
	SD     frame.Number       `json:"sd"`
	Others []otherVelocityDoc `json:"others,omitempty"`
}

// otherVelocityDoc is another minimum, and by how much chi-square is higher there.
type otherVelocityDoc struct {
	Vel  frame.Number `json:"vel"`
	Rise frame.Number `json:"rise"`
}

type spectrumDoc struct {
	Arm       string       `json:"arm"`
	ChiSquare frame.Number `json:"chi2"`
	Continuum frame.Number `json:"chi2_continuum"`
	Pixels    int          `json:"pixels"`
}

func starDocument(o *fitfile.Outcome) starDoc {
	f := &o.Fit
	d := starDoc{Name: f.Star, Status: f.Status, Converged: f.Converged, Guess: frame.Number(o.Guess), ChiSquare: frame.Number(math.NaN()), Outside: frame.Number(f.Outside), Evaluations: f.Evaluations}
	if f.Err != nil {
		d.Status, d.Message = "failed", f.Err.Error()
		return d
	}
	d.Names = f.Names
	d.X, d.SD, d.Conditional = frame.Named(f.Names, f.X), frame.Named(f.Names, f.SD), frame.Named(f.Names, f.Conditional)
	if v := f.Velocity; v != (spectra.VelocityPosterior{}) { // as it is where the velocity is fixed
		d.Velocity = &velocityDoc{frame.Number(v.Vel), frame.Number(v.SD), frame.Number(v.Skewness), frame.Number(v.Kurtosis)}
	}
	if p := f.Profile; p != nil {
		d.Profile = &profileDoc{Lower: frame.Number(p.Lower), Upper: frame.Number(p.Upper), SD: frame.Number(p.SD)}
		for _, o := range p.Others {
			d.Profile.Others = append(d.Profile.Others, otherVelocityDoc{frame.Number(o.Vel), frame.Number(o.Rise)})
		}
	}
	for i, v := range f.Velocities { // none where the velocity is fixed
		name := f.Exposures[i]
		d.Exposures = append(d.Exposures, exposureDoc{name, velocityDoc{frame.Number(v.Vel), frame.Number(v.SD), frame.Number(v.Skewness), frame.Number(v.Kurtosis)}})
	}
	if c := f.Common; c != nil {
		d.Common = &commonDoc{frame.Number(c.Vel), frame.Number(c.SD), frame.Number(c.ChiSquare), c.DoF, frame.Number(c.P), c.Agree()}
	}
	for _, s := range f.Spikes {
		d.LeftOut = append(d.LeftOut, spikeDoc{s.Arm, frame.Number(s.Wavelength), s.To - s.From, frame.Number(s.Height), s.Line})
	}
	d.Polynomials = f.Polynomials
	for _, l := range f.Limits {
		d.Limits = append(d.Limits, limitDoc{l.Name, frame.Number(l.Bound), frame.Number(l.Limit95)})
	}
	d.ChiSquare, d.AtBound, d.BadHessian = frame.Number(f.ChiSquare), f.AtBound, f.BadHessian
	for _, s := range f.Spectra {
		d.Spectra = append(d.Spectra, spectrumDoc{s.Arm, frame.Number(s.ChiSquare), frame.Number(s.ContinuumOnly), s.Pixels})
	}
	if f.Verdict != nil {
		d.Check = frame.CheckDocument(*f.Verdict)
	}
	return d
}

// fitStars fits stars, writes the results and prints them. After Ctrl-C those that are done are written.
func fitStars(ctx context.Context, a *frame.App, p *fitfile.Pipeline, names []string, stars []spectra.Star, to frame.Outputs) error {
	doc := spectraDoc{Device: a.Where(), Engine: "spectra", Units: map[string]string{}, Library: p.Library(), Files: names}
	outcomes, err := fitAll(ctx, a, p, stars)
	if err != nil && ctx.Err() == nil {
		return exit.With(exit.Data, err)
	}
	doc.Partial = err != nil
	for i := range outcomes {
		doc.Stars = append(doc.Stars, starDocument(&outcomes[i]))
		doc.Stars[i].measured(p, &stars[i], &outcomes[i])
		for _, name := range doc.Stars[i].Names {
			doc.Units[name] = spectra.Unit(name)
		}
	}
	if doc.Partial && len(outcomes) == 0 {
		return exit.With(exit.Interrupted, errors.New("interrupted before a star was fitted"))
	}
	fitted := report.SpectraFits{Files: names, Library: p.Library(), Stars: stars[:len(outcomes)], Outcomes: outcomes}
	unwritten := save(a, to, p, doc, &fitted) // what cannot be written is printed all the same
	if a.JSON {
		err = a.Document(doc)
	} else {
		err = exit.With(exit.CannotWrite, fitted.Write(a.Stdout, a.Verbose))
	}
	switch {
	case unwritten != nil:
		return unwritten
	case err != nil:
		return err
	case doc.Partial:
		return exit.With(exit.Interrupted, fmt.Errorf("interrupted: %d of %d stars have been fitted", len(outcomes), len(stars)))
	}
	return starVerdict(outcomes, a.Strict)
}

// starVerdict returns an error if no star could be fitted or, with strict, if a fit failed or disagrees with
// the data.
func starVerdict(outcomes []fitfile.Outcome, strict bool) error {
	failed, misfit := 0, 0
	var first error
	for _, o := range outcomes {
		switch {
		case o.Fit.Err != nil:
			failed++
			if first == nil {
				first = o.Fit.Err
			}
		case !o.Fit.Converged, o.Fit.Verdict != nil && !o.Fit.Verdict.OK:
			misfit++
		}
	}
	switch {
	case failed == len(outcomes):
		return exit.With(exit.Data, fmt.Errorf("none of %d stars could be fitted: %w", failed, first))
	case strict && failed+misfit > 0:
		return exit.With(exit.Failed, fmt.Errorf("%d of %d stars could not be fitted, and %d did not converge or disagree with the model", failed, len(outcomes), misfit))
	}
	return nil
}

// fitAll fits stars in parts, and returns the outcomes of those that are done.
func fitAll(ctx context.Context, a *frame.App, p *fitfile.Pipeline, stars []spectra.Star) (out []fitfile.Outcome, err error) {
	bar := term.NewBar(a.Screen, a.BarSettings("stars", len(stars)))
	defer bar.Close()
	const part = 64
	for len(out) < len(stars) {
		some := stars[len(out):min(len(stars), len(out)+part)]
		o, err := p.Fit(ctx, some)
		if err != nil {
			return out, err
		}
		failed := 0
		for i := range o {
			if o[i].Fit.Err != nil {
				failed++
			}
		}
		bar.Add(len(some), failed)
		out = append(out, o...)
	}
	return out, nil
}
