package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// twotimeRunConfig is the content of config.json for fit twotime.
type twotimeRunConfig struct {
	Command  string       `json:"command"`
	Version  string       `json:"version"`
	File     string       `json:"file"`
	Seed     uint64       `json:"seed"`
	Starts   int          `json:"starts"`
	From     string       `json:"from,omitempty"`
	Twotime  twotimeFlags `json:"twotime"`
	Measured measuredDoc  `json:"measured"`
}

const (
	fitTwotime    = "fit twotime"
	defaultStarts = 16
)

func (a *app) fitTwotime() *cobra.Command {
	cfg := twotimeRunConfig{Command: fitTwotime}
	c := &cobra.Command{
		Use:   "twotime FILE",
		Short: "Fit models of moving samples to two-time correlations",
		Long: `Fit diffusion, shear flow or a flowing sample beside a reference to two-time
correlations C2(t1, t2) of several azimuths, by least squares from several
starts. Errors allow for entries of C2 that share a frame.

FILE holds correlations in a layout of APS 8-ID (HDF5, old or new, also that of
euryale correlate) or is a cache of homodyne (NPZ). It may instead be a
configuration of homodyne, xpcsjax or heterodyne (YAML or JSON), which names
such a file. With --out the results go to a folder, in the layout of homodyne
also (its subfolder nlsq).

  euryale fit twotime A003_results.hdf --model laminar --q 0.0054 --gap 200um
  euryale fit twotime flow.yaml --out flow
  euryale fit twotime c2.npz --config flow.yaml --fixed D_offset=0 --json
  euryale fit twotime flow.yaml --from old_results --frames 101:400
`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && cfg.Twotime.Config == "" {
				return usage("fit twotime: name a file of two-time correlations, or a configuration")
			}
			return a.runFitTwotime(c.Context(), append(args, "")[0], cfg)
		},
	}
	cfg.Twotime.add(c)
	cfg.Twotime.addData(c)
	cfg.Twotime.addFit(c)
	c.Flags().IntVar(&cfg.Starts, "starts", defaultStarts, "points to start from, the best of which are fitted to the end")
	c.Flags().StringVar(&cfg.From, "from", "", "result to start from, of this command, homodyne, xpcsjax or heterodyne: a folder or a file")
	return c
}

func (a *app) runFitTwotime(ctx context.Context, file string, cfg twotimeRunConfig) error {
	if bad := whole("starts", cfg.Starts, 1, 1<<16); bad != nil {
		return usage("%s", bad[0])
	}
	p, err := a.openTwotime(file, &cfg.Twotime)
	if err != nil {
		return err
	}
	if err := a.startFrom(p, cfg.From); err != nil {
		return err
	}
	r, err := a.fitMotion(ctx, p, cfg.Starts)
	if err != nil {
		return err
	}
	doc := r.document()
	if a.out != "" {
		cfg.Version, cfg.Seed, cfg.File, cfg.Measured = version(), a.seed, absolute(p.file), p.measured()
		if err := a.saveTwotimeFit(r, doc, cfg); err != nil {
			return err
		}
	}
	if a.json {
		err = a.document(doc)
	} else {
		err = a.printTwotimeFit(r, doc)
	}
	switch {
	case err != nil:
		return err
	case a.strict && !r.fit.Status.Converged():
		return as(exitFailed, fmt.Errorf("the fit did not converge: %s", r.fit.Status))
	case a.strict:
		return strictly(r.verdict)
	}
	return nil
}

// startFrom takes the starts from a result.
func (a *app) startFrom(p *twotimeProblem, name string) error {
	if name == "" {
		return nil
	}
	s, err := homodyne.ReadStart(name)
	if err != nil {
		return input(err)
	}
	t := p.data.Setup.Times
	if !p.config.Customary {
		s = s.Physical(p.c2.Q, p.config.Gap, t[len(t)-1])
	}
	notes, err := p.config.StartAt(s)
	if err != nil {
		return as(exitData, err)
	}
	for _, n := range slices.Concat(s.Notes, notes) {
		a.note("%s", n)
	}
	return nil
}

// motionFit is a fit with what is said about it.
type motionFit struct {
	p        *twotimeProblem
	scaling  twotime.Scaling
	compared []string // what other ways of scaling come to
	fit      *twotime.Fit
	shared   *twotime.SharedErrors // nil if the data do not tell them
	verdict  check.Verdict
	notes    []string
	seconds  float64
}

func (r *motionFit) point() twotime.Point {
	return twotime.Point{Theta: r.fit.Theta, Contrast: r.fit.Contrast, Offset: r.fit.Offset}
}

// fitMotion fits, computes errors and judges.
func (a *app) fitMotion(ctx context.Context, p *twotimeProblem, starts int) (*motionFit, error) {
	begin := time.Now()
	r := &motionFit{p: p}
	s := a.twotimeSettings(p, starts)
	err := r.fitScaled(ctx, s)
	if err == nil {
		s.Scaling = r.scaling
		var missing error
		if r.shared, missing = r.fit.SharedErrors(ctx, p.data, s); missing != nil && ctx.Err() == nil {
			r.notes = append(r.notes, "there are no errors that allow for shared frames: "+missing.Error())
		}
		_, _, free := p.theta()
		if r.verdict, err = twotime.Judge(ctx, p.data, r.point(), free, r.scaling, twotime.PosteriorSettings{Threads: s.Threads, Seed: a.seed}); err != nil && ctx.Err() == nil {
			r.notes = append(r.notes, "the model was not judged: "+err.Error())
			r.verdict, err = check.Verdict{P: math.NaN(), Reduced: math.NaN(), Flags: check.Unconverged(r.fit.Status)}, nil
		}
	}
	if ctx.Err() != nil {
		return nil, as(exitInterrupted, ctx.Err())
	}
	if err != nil {
		return nil, as(exitData, err)
	}
	if flags := check.Unconverged(r.fit.Status); !r.fit.Status.Converged() {
		r.verdict.OK, r.verdict.Flags = false, append(flags, r.verdict.Flags...)
	}
	r.seconds = time.Since(begin).Seconds()
	return r, nil
}

// twotimeSettings are the settings of a fit from the configured starts.
func (a *app) twotimeSettings(p *twotimeProblem, starts int) twotime.Settings {
	start, fixed, _ := p.theta()
	return twotime.Settings{Start: start, Fixed: fixed, Bounds: p.bounds(), Starts: starts, Seed: a.seed, Threads: a.most(), MaxEvaluations: p.config.NLSQ.Iterations}
}

// fitScaled fits with the configured scaling, or with the best of all.
func (r *motionFit) fitScaled(ctx context.Context, s twotime.Settings) error {
	config, angles := r.p.config, len(r.p.c2.Phi)
	each := func(list []float64) []float64 {
		if len(list) == 1 {
			return slices.Repeat(list, angles)
		}
		return list
	}
	var err error
	switch r.scaling = twotime.Scaling(config.Scaling); config.Scaling {
	case homodyne.ScalingAuto:
		all, err := twotime.CompareScalings(ctx, r.p.data, s)
		if err != nil {
			return err
		}
		r.fit, r.scaling = all[0].Fit, all[0].Scaling
		for _, c := range all[1:] {
			r.compared = append(r.compared, fmt.Sprintf("%s is %.1f above", c.Scaling, c.BIC))
		}
		return nil
	case homodyne.ScalingConstant:
		if config.Contrasts == nil || config.Offsets == nil {
			return usage("--scaling constant wants --contrast and --offset, or a configuration that has them")
		}
		s.Contrast, s.Offset = each(config.Contrasts), each(config.Offsets)
	}
	s.Scaling = r.scaling
	r.fit, err = twotime.FitLeastSquares(ctx, r.p.data, s)
	return err
}

// independent returns the errors of independent entries: where no errors were given, those that the residuals have.
func (r *motionFit) independent(i int) float64 {
	if r.p.data.Sigma != nil {
		return r.fit.SD[i]
	}
	return r.fit.SD[i] * math.Sqrt(r.fit.SSQ/float64(r.fit.Points-len(r.fit.X)))
}

// rows are the parameters of the motion.
func (r *motionFit) rows() (rows []report.TwotimeRow) {
	for k, par := range r.p.config.Parameters {
		row := report.TwotimeRow{Name: par.Name, Unit: motionUnits[par.Name], Value: r.fit.Theta[k], SD: math.NaN(), Independent: math.NaN(), Fixed: par.Fixed}
		if i := slices.Index(r.fit.Names, par.Name); i >= 0 {
			row.Independent = r.independent(i)
			if r.shared != nil {
				row.SD = r.shared.SD[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// scales are contrast and offset of each angle.
func (r *motionFit) scales() (rows []report.TwotimeRow) {
	for part, values := range [][]float64{r.fit.Contrast, r.fit.Offset} {
		for k, phi := range r.p.c2.Phi {
			name := fmt.Sprintf("%s at %.4g", []string{"contrast", "offset"}[part], phi)
			row := report.TwotimeRow{Name: name, Value: values[k], SD: math.NaN(), Independent: math.NaN(), Fixed: r.scaling == twotime.Constant}
			if size := len(r.fit.X); !row.Fixed {
				if r.shared != nil {
					row.SD = math.Sqrt(r.variance(r.shared.Cov, part, k))
				}
				unit := 1.0
				if size > 0 && r.fit.SD[0] > 0 {
					unit = r.independent(0) / r.fit.SD[0]
				}
				row.Independent = unit * math.Sqrt(r.variance(r.fit.Cov, part, k))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// variance returns that of the contrast (part 0) or the offset of an angle, from the covariance of the coefficients.
func (r *motionFit) variance(cov []float64, part, angle int) (sum float64) {
	var basis []float64
	switch phi := r.p.c2.Phi[angle] * math.Pi / 180; r.scaling {
	case twotime.Averaged:
		basis = []float64{1}
	case twotime.Fourier:
		basis = []float64{1, math.Cos(phi), math.Sin(phi), math.Cos(2 * phi), math.Sin(2 * phi)}
	default:
		basis = make([]float64, len(r.p.c2.Phi))
		basis[angle] = 1
	}
	first, size := part*len(basis), len(r.fit.X)
	for i, u := range basis {
		for j, v := range basis {
			if u != 0 && v != 0 {
				sum += u * v * cov[(first+i)*size+first+j]
			}
		}
	}
	return sum
}

// motionUnits are the units of the parameters.
var motionUnits = map[string]string{
	"D0": "A^2/s^(1+alpha)", "D_offset": "A^2/s", "gamma_dot_t0": "1/s^(1+beta)", "gamma_dot_t_offset": "1/s", "phi0": "degrees",
	"D0_ref": "A^2/s^(1+alpha_ref)", "D_offset_ref": "A^2/s", "D0_sample": "A^2/s^(1+alpha_sample)", "D_offset_sample": "A^2/s",
	"v0": "A/s^(1+v_beta)", "v_offset": "A/s", "f1": "1/s", "f2": "s", "phi0_het": "degrees",
}

// twiceStokesEinstein stands in every result.
const twiceStokesEinstein = "D0 is the amplitude of the transport coefficient J, which is twice the diffusion coefficient of Stokes and Einstein"

// remarks are what a person should know about a result.
func (p *twotimeProblem) remarks(theta, sd []float64) []string {
	notes := []string{twiceStokesEinstein}
	if p.config.Customary && p.config.Model == homodyne.LaminarFlow {
		t := p.data.Setup.Times
		s := &homodyne.Start{Customary: true, Names: p.config.Model.Names(), Values: theta, Errors: sd}
		s = s.Physical(p.c2.Q, p.config.Gap, t[len(t)-1])
		i := slices.Index(s.Names, "gamma_dot_t0")
		notes = append(notes, fmt.Sprintf("gamma_dot_t0 is as homodyne has it; that of the sample is %s 1/s^(1+beta)", report.PlusMinus(s.Values[i], s.Errors[i])))
		notes = append(notes, s.Notes...)
	}
	return notes
}

// noiseDoc is what makes the entries of an angle scatter.
type noiseDoc struct {
	Speckles  number `json:"speckles"`
	MeanCount number `json:"mean_count"` // of a pixel in a frame; "Infinity" if there is no shot noise
}

// motionPointDoc is a point in the space of parameters.
type motionPointDoc struct {
	Theta    []number `json:"theta"`
	Contrast []number `json:"contrast"`
	Offset   []number `json:"offset"`
}

func (d *motionPointDoc) point() twotime.Point {
	floats := func(v []number) (out []float64) {
		for _, x := range v {
			out = append(out, float64(x))
		}
		return out
	}
	return twotime.Point{Theta: floats(d.Theta), Contrast: floats(d.Contrast), Offset: floats(d.Offset)}
}

func pointDocOf(at twotime.Point) motionPointDoc {
	return motionPointDoc{numbers(at.Theta), numbers(at.Contrast), numbers(at.Offset)}
}

// motionFitDoc is the JSON document of fit twotime.
type motionFitDoc struct {
	Engine      string            `json:"engine"`
	Model       homodyne.Model    `json:"model"`
	File        string            `json:"file"`
	Q           number            `json:"q"`
	Phi         []number          `json:"phi"`
	Frames      [2]int            `json:"frames"`
	Shear       string            `json:"shear"`
	Origin      string            `json:"time_origin"`
	Scaling     twotime.Scaling   `json:"scaling"`
	Compared    []string          `json:"scalings_compared,omitempty"`
	Status      string            `json:"status"`
	X           map[string]number `json:"x"`
	SD          map[string]number `json:"sd"` // that allow for shared frames
	Independent map[string]number `json:"sd_independent"`
	Fixed       []string          `json:"fixed"`
	ContrastSD  []number          `json:"contrast_sd"`
	OffsetSD    []number          `json:"offset_sd"`
	Point       motionPointDoc    `json:"point"`
	SSQ         number            `json:"ssq"`
	Points      int               `json:"points"`
	Effective   number            `json:"effective_points"`
	Noise       []noiseDoc        `json:"noise"`
	Minima      []minimumDoc      `json:"other_minima"`
	Warnings    []string          `json:"warnings"`
	Notes       []string          `json:"notes"`
	Seconds     number            `json:"seconds"`
	Check       *checkDoc         `json:"model_check"`
}

// minimumDoc is another minimum of the sum of squares.
type minimumDoc struct {
	X   map[string]number `json:"x"`
	SSQ number            `json:"ssq"`
}

func (r *motionFit) document() *motionFitDoc {
	p := r.p
	d := &motionFitDoc{Engine: "twotime", Model: p.config.Model, File: p.file, Q: number(p.c2.Q), Phi: numbers(p.c2.Phi), Frames: [2]int{p.c2.First, p.c2.Last},
		Shear: map[bool]string{true: "homodyne", false: "physical"}[p.config.Customary], Origin: map[bool]string{true: "window", false: "experiment"}[p.config.Clock.Window],
		Scaling: r.scaling, Compared: r.compared, Status: r.fit.Status.String(), X: map[string]number{}, SD: map[string]number{}, Independent: map[string]number{}, Fixed: []string{},
		Point: pointDocOf(r.point()), SSQ: number(r.fit.SSQ), Points: r.fit.Points, Effective: number(math.NaN()), Noise: []noiseDoc{}, Minima: []minimumDoc{}, Warnings: r.warnings(),
		Seconds: number(r.seconds), Check: checkDocument(r.verdict)}
	var sd []float64
	for _, row := range r.rows() {
		d.X[row.Name] = number(row.Value)
		sd = append(sd, row.SD)
		if row.Fixed {
			d.Fixed = append(d.Fixed, row.Name)
			continue
		}
		d.SD[row.Name], d.Independent[row.Name] = number(row.SD), number(row.Independent)
	}
	for i, row := range r.scales() {
		if i < len(p.c2.Phi) {
			d.ContrastSD = append(d.ContrastSD, number(row.SD))
		} else {
			d.OffsetSD = append(d.OffsetSD, number(row.SD))
		}
	}
	if r.shared != nil {
		d.Effective = number(r.shared.Effective)
		for _, n := range r.shared.Noise {
			d.Noise = append(d.Noise, noiseDoc{number(n.Speckles), number(1 / n.InverseCount)})
		}
	}
	for _, m := range r.fit.Others {
		d.Minima = append(d.Minima, minimumDoc{named(p.config.Model.Names(), m.Theta), number(m.SSQ)})
	}
	d.Notes = append(p.remarks(r.fit.Theta, sd), r.notes...)
	return d
}

// warnings are about bounds, parameters that cannot be told apart, and the domain.
func (r *motionFit) warnings() []string {
	all := append([]string{}, r.fit.Warnings...)
	if r.fit.Outside != nil {
		all = append(all, "the parameters have no meaning in the model: "+r.fit.Outside.Error())
	}
	return all
}

// result returns the fit in homodyne's layout.
func (r *motionFit) result(m *report.TwotimeMaps) *homodyne.Fit {
	p := r.p
	f := &homodyne.Fit{Model: p.config.Model, Q: p.c2.Q, Phi: p.c2.Phi, Times: p.data.Setup.Times, Scaling: homodyne.Scaling(r.scaling), Contrast: r.fit.Contrast, Offset: r.fit.Offset,
		ChiSquared: r.fit.SSQ, Points: r.fit.Points, Free: len(r.fit.X), Status: r.fit.Status.String(), Converged: r.fit.Status.Converged(), Iterations: r.fit.Passes, Seconds: r.seconds,
		Quality: map[bool]string{true: "good", false: "poor"}[r.verdict.OK], Window: p.config.Clock.Window, Customary: p.config.Customary, Software: "euryale " + version(), When: time.Now(),
		Data: m.Data, Shape: m.Shape, Curve: m.Model}
	for _, row := range r.rows() {
		f.Names, f.Values, f.Errors = append(f.Names, row.Name), append(f.Values, row.Value), append(f.Errors, row.SD)
	}
	for i, row := range r.scales() {
		if i < len(p.c2.Phi) {
			f.ContrastErrors = append(f.ContrastErrors, row.SD)
		} else {
			f.OffsetErrors = append(f.OffsetErrors, row.SD)
		}
	}
	f.Notes = slices.Concat(p.remarks(f.Values, f.Errors), r.notes, r.warnings())
	return f
}

// saveTwotimeFit writes the run folder of a fit.
func (a *app) saveTwotimeFit(r *motionFit, doc *motionFitDoc, cfg twotimeRunConfig) error {
	dir, err := a.makeRundir(a.out)
	if err != nil {
		return err
	}
	m, err := r.p.maps(r.point())
	if err != nil {
		return as(exitFailed, err)
	}
	if err := writeJSON(dir.Path(runs.ConfigFile), cfg); err != nil {
		return err
	}
	if err := r.p.keep(dir); err != nil {
		return err
	}
	if err := as(exitCannotWrite, r.result(m).Write(dir.Path("nlsq"), true)); err != nil {
		return err
	}
	if err := writeJSON(dir.Path("fit.json"), doc); err != nil {
		return err
	}
	page := report.TwotimeFit{File: r.p.file, Rows: append(r.rows(), r.scales()...), Notes: slices.Concat(doc.Warnings, doc.Notes), Maps: m, Verdict: r.verdict, Facts: []viz.Fact{
		{Name: "model", Value: string(doc.Model)}, {Name: "q", Value: fmt.Sprintf("%.5g 1/A", r.p.c2.Q)}, {Name: "entries", Value: fmt.Sprint(doc.Points)}, {Name: "effective entries", Value: fmt.Sprintf("%.4g", float64(doc.Effective))}}}
	return as(exitCannotWrite, page.Page(a.page(a.seed)).Save(string(dir)))
}

// printTwotimeFit prints a fit as text.
func (a *app) printTwotimeFit(r *motionFit, doc *motionFitDoc) error {
	p := r.p
	say := func(format string, args ...any) { fmt.Fprintf(a.stdout, format+"\n", args...) }
	say("%s: %s, q = %.5g 1/A, %s, frames %d to %d, %d entries, %s", p.file, doc.Model, p.c2.Q, counted(len(p.c2.Phi), "angle"), p.c2.First, p.c2.Last, doc.Points, doc.Status)
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "parameter\tvalue\terror\tif entries were independent\tunit")
	for _, row := range r.rows() {
		value, sd, other := row.Texts()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row.Name, value, sd, other, row.Unit)
	}
	w.Flush()
	say("")
	fmt.Fprintln(w, "angle\tcontrast\toffset\tspeckles\tmean count")
	scales, n := r.scales(), len(p.c2.Phi)
	for k, phi := range p.c2.Phi {
		text := func(row report.TwotimeRow) string {
			if row.Fixed {
				return fmt.Sprintf("%.6g fixed", row.Value)
			}
			return report.PlusMinus(row.Value, row.SD)
		}
		noise := "-\t-"
		if r.shared != nil {
			noise = fmt.Sprintf("%.4g\t%.3g", r.shared.Noise[k].Speckles, 1/r.shared.Noise[k].InverseCount)
		}
		fmt.Fprintf(w, "%.4g\t%s\t%s\t%s\n", phi, text(scales[k]), text(scales[n+k]), noise)
	}
	if err := w.Flush(); err != nil {
		return as(exitCannotWrite, err)
	}
	say("")
	if r.shared != nil {
		say("the %d entries tell as much as %.3g independent ones", doc.Points, r.shared.Effective)
	}
	if r.compared != nil {
		say("contrast and offset are %s, by the Bayesian information criterion: %s", r.scaling, joined(r.compared))
	}
	for _, m := range doc.Minima {
		say("another minimum: sum of squares %.6g instead of %.6g at %s", float64(m.SSQ), float64(doc.SSQ), valuesText(p.config.Model.Names(), m.X))
	}
	for _, text := range doc.Warnings {
		say("warning: %s", text)
	}
	for _, text := range doc.Notes {
		say("note: %s", text)
	}
	say("%s", doc.Check.lines())
	if a.out != "" {
		say("results in %s", a.out)
	}
	return nil
}
