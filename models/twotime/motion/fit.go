// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// FitSettings are the settings of a fit. The zero value is the default.
type FitSettings struct {
	Starts int // number of points to start from. Default 1: that of the configuration alone
	// Penalties are priors of parameters of the motion: the fit is then the most probable point. See Request.Penalties.
	Penalties []twotime.Penalty
	Near      []float64  // parameters of the motion to start from too, such as those at another q; nil for none
	Threads   int        // number of threads. Default 1
	Seed      uint64     // seed of the starts, and of the simulated pixels for the verdict
	Backend   ad.Backend // backend of the passes over the pairs; see twotime.Settings. Default: the CPU
	// Progress is called with what Fit does, and with the share of that which is done, or -1 if it is not known. It may be
	// called from several goroutines.
	Progress func(what string, done float64)
}

// Fit is a least-squares fit with its errors and its verdict.
type Fit struct {
	*twotime.Fit
	Problem  *Problem
	Scaling  twotime.Scaling
	Compared []string              // results of other ways of scaling, if they were compared
	Shared   *twotime.SharedErrors // errors that allow for shared frames; nil if the data do not determine them
	Verdict  check.Verdict
	Notes    []string
	Seconds  float64
}

// judgePixels is the number of pixels that are simulated for a verdict.
const judgePixels = 4000

// ErrNoScale says that contrast and offset are to be constant but were not given.
var ErrNoScale = errors.New("motion: the scaling is constant, but contrast and offset are missing: give both")

// Fit fits the correlations, computes errors that allow for shared frames, and judges the model.
func (p *Problem) Fit(ctx context.Context, s FitSettings) (*Fit, error) {
	begin := time.Now()
	if s.Progress == nil {
		s.Progress = func(string, float64) {}
	}
	f := &Fit{Problem: p}
	s.Progress("searching for the minimum", -1)
	start, fixed, free := p.Start()
	set := twotime.Settings{Start: start, Fixed: fixed, Bounds: p.bounds(), Starts: s.Starts, Seed: s.Seed, Threads: s.Threads, MaxEvaluations: p.Config.NLSQ.Iterations, Backend: s.Backend}
	if s.Near != nil {
		set.Near = [][]float64{s.Near}
	}
	if err := f.scaled(ctx, &set); err != nil {
		return nil, err
	}
	var err error
	s.Progress("computing errors that allow for shared frames", -1)
	if f.Shared, err = f.SharedErrors(ctx, p.Data, set); err != nil {
		f.Notes = append(f.Notes, "errors that allow for entries that share a frame could not be computed: "+err.Error())
	}
	if err := f.penalised(ctx, &set, s.Penalties); err != nil {
		return nil, err
	}
	s.Progress("judging the model", -1)
	if f.Verdict, err = twotime.Judge(ctx, p.Data, f.Point(), free, f.Scaling, twotime.PosteriorSettings{Pixels: judgePixels, Threads: s.Threads, Seed: s.Seed, Progress: s.Progress}); err != nil {
		f.Verdict = check.Unjudged(strings.TrimPrefix(err.Error(), "twotime: "), "")
		f.Verdict.Flags = append(f.Verdict.Flags, p.Data.Faults()...)
	}
	f.roughIntervals()
	s.Progress("comparing with a fit without flow", -1)
	if err := f.withoutFlow(ctx, set); err != nil {
		return nil, err
	}
	f.Notes = append(f.Notes, p.diagonals()...)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !f.Status.Converged() {
		f.Verdict.OK, f.Verdict.Flags = false, append(check.Unconverged(f.Status), f.Verdict.Flags...)
	}
	if f.Outside != nil {
		f.Verdict.OK = false
		f.Verdict.Flags = append([]check.Flag{{Kind: "unphysical parameters", Text: "the fitted parameters have no physical meaning: " + unphysical(f.Outside), Remedy: "hold a parameter fixed, give bounds, or use more starting points"}}, f.Verdict.Flags...)
	}
	for _, d := range f.Directions {
		if d.IsFlat() {
			f.Verdict.OK = false
			f.Verdict.Flags = append(f.Verdict.Flags, check.Flag{Kind: check.KindUnknown, Where: fmt.Sprint(d), Text: fmt.Sprintf("the data hardly determine the combination %s", d), Remedy: "hold one of these parameters fixed, or sample with a prior"})
		}
	}
	f.Seconds = time.Since(begin).Seconds()
	return f, nil
}

// roughIntervals notes in the verdict which intervals are rough, because the model bends within them.
func (f *Fit) roughIntervals() {
	if f.Shared == nil {
		return
	}
	var all []string
	for _, i := range f.Shared.Rough() {
		ends := f.Shared.Intervals[i]
		all = append(all, fmt.Sprintf("%s %.4g to %.4g", f.Names[i], ends[0], ends[1]))
	}
	if all == nil {
		return
	}
	fewest, most := math.Inf(1), 0.0
	for _, n := range f.Shared.Noise {
		fewest, most = min(fewest, n.Speckles), max(most, n.Speckles)
	}
	f.Verdict.Notes = append(f.Verdict.Notes, check.Flag{Kind: KindRough, Note: true,
		Text: fmt.Sprintf("the standard deviations of some parameters are rough, because the model is not linear within them with %.3g to %.3g speckles an angle; intervals of 95 %% are lopsided: %s",
			fewest, most, strings.Join(all, ", ")),
		Remedy: "measure more pixels or a longer part of the decay, hold contrast or offset at known values, or sample the posterior"})
}

// KindRough is the kind of the note about intervals that are rough.
const KindRough = "rough intervals"

// withoutFlow says if a model without shear does as well, by the criterion of CompareScalings.
func (f *Fit) withoutFlow(ctx context.Context, s twotime.Settings) error {
	const diffusion = 3 // the first parameters
	p := f.Problem
	if p.Data.Setup.Model != transport.Laminar {
		return nil
	}
	d := p.Data
	d.Setup.Model = transport.Static
	names := d.Setup.Names()
	var fixed []string
	for _, name := range s.Fixed {
		if slices.Contains(names, name) {
			fixed = append(fixed, name)
		}
	}
	s.Start, s.Bounds, s.Fixed, s.Starts = f.Theta[:diffusion], s.Bounds[:diffusion], fixed, 0
	still, err := twotime.FitLeastSquares(ctx, d, s)
	if ad.IsDeviceFault(err) { // the fit with shear is finished
		f.Notes = append(f.Notes, "the fit could not be compared with diffusion without shear: "+err.Error())
	}
	if err != nil { // nothing to compare with
		return ctx.Err()
	}
	shared := f.Shared
	if shared == nil { // the data do not tell the shear, but they tell the diffusion
		if shared, err = still.SharedErrors(ctx, d, s); err != nil {
			return ctx.Err()
		}
	}
	variance, effective := f.unit()*f.unit(), shared.Effective
	rise, fewer := (still.SSQ-f.SSQ)/variance*effective/float64(f.Points), len(f.X)-len(still.X)
	if rise < float64(fewer)*math.Log(effective) {
		f.Notes = append(f.Notes, fmt.Sprintf("diffusion without shear describes the data as well: chi-square over independent entries is only %.1f higher with %d fewer parameters, "+
			"so the shear may not be real; compare --model static", rise, fewer))
	}
	return nil
}

// scaled fits with the configured scaling, or with the best of all.
func (f *Fit) scaled(ctx context.Context, s *twotime.Settings) (err error) {
	config, angles := f.Problem.Config, len(f.Problem.C2.Phi)
	each := func(list []float64) []float64 {
		if len(list) == 1 {
			return slices.Repeat(list, angles)
		}
		return list
	}
	scaling := config.Scaling
	if scaling == homodyne.ScalingAuto && angles == 1 { // all are the same
		scaling = homodyne.ScalingIndividual
	}
	switch s.Scaling = twotime.Scaling(scaling); scaling {
	case homodyne.ScalingAuto:
		all, err := twotime.CompareScalings(ctx, f.Problem.Data, *s)
		if err != nil {
			return err
		}
		f.Fit, f.Scaling, s.Scaling = all[0].Fit, all[0].Scaling, all[0].Scaling
		for _, c := range all[1:] {
			f.Compared = append(f.Compared, fmt.Sprintf("%s is %.1f above", c.Scaling, c.BIC))
		}
		return nil
	case homodyne.ScalingConstant:
		if config.Contrasts == nil || config.Offsets == nil {
			return ErrNoScale
		}
		s.Contrast, s.Offset = each(config.Contrasts), each(config.Offsets)
	}
	f.Scaling = s.Scaling
	f.Fit, err = twotime.FitLeastSquares(ctx, f.Problem.Data, *s)
	return err
}

// Point returns the point at which the fit ended.
func (f *Fit) Point() twotime.Point {
	return twotime.Point{Theta: f.Theta, Contrast: f.Contrast, Offset: f.Offset, Held: f.Held}
}

// Row is a fitted number: a parameter of the motion, or contrast or offset of an angle.
type Row struct {
	Name, Unit      string
	Value           float64
	SD, Independent float64    // errors that allow for shared frames, and those of independent entries; NaN if not known, or held fixed
	Interval        [2]float64 // ends of an interval of 95 % that allows for shared frames, of parameters of the motion; NaN as SD
	Fixed           bool
}

// unit is what errors are multiplied by where the entries have none of their own: the scatter of the residuals.
func (f *Fit) unit() float64 {
	if f.Problem.Data.Sigma != nil {
		return 1
	}
	return math.Sqrt(f.SSQ / float64(f.Points-len(f.X)))
}

// Rows returns the parameters of the motion.
func (f *Fit) Rows() (rows []Row) {
	for k, par := range f.Problem.Config.Parameters {
		row := Row{Name: par.Name, Unit: Units[par.Name], Value: f.Theta[k], SD: math.NaN(), Independent: math.NaN(), Interval: [2]float64{math.NaN(), math.NaN()}, Fixed: par.Fixed}
		if i := slices.Index(f.Names, par.Name); i >= 0 {
			row.Independent = f.unit() * f.SD[i]
			if f.Shared != nil {
				row.SD, row.Interval = f.Shared.SD[i], f.Shared.Intervals[i]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Scales returns the contrasts of the angles, then their offsets.
func (f *Fit) Scales() (rows []Row) {
	for part, values := range [][]float64{f.Contrast, f.Offset} {
		for k, phi := range f.Problem.C2.Phi {
			row := Row{Name: fmt.Sprintf("%s at %.4g", []string{"contrast", "offset"}[part], phi), Value: values[k], SD: math.NaN(), Independent: math.NaN(), Fixed: f.Scaling == twotime.Constant}
			if !row.Fixed {
				if f.Shared != nil {
					row.SD = math.Sqrt(f.variance(f.Shared.Cov, part, k))
				}
				row.Independent = f.unit() * math.Sqrt(f.variance(f.Cov, part, k))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// variance returns that of the contrast (part 0) or the offset of an angle, from the covariance of the coefficients.
func (f *Fit) variance(cov []float64, part, angle int) (sum float64) {
	var basis []float64
	switch phi := f.Problem.C2.Phi[angle] * math.Pi / 180; f.Scaling {
	case twotime.Averaged:
		basis = []float64{1}
	case twotime.Fourier:
		basis = []float64{1, math.Cos(phi), math.Sin(phi), math.Cos(2 * phi), math.Sin(2 * phi)}
	default:
		basis = make([]float64, len(f.Problem.C2.Phi))
		basis[angle] = 1
	}
	first, size := part*len(basis), len(f.X)
	for i, u := range basis {
		for j, v := range basis {
			if u != 0 && v != 0 {
				sum += u * v * cov[(first+i)*size+first+j]
			}
		}
	}
	return sum
}

// unphysical returns the reason of a *transport.DomainError, or the text of another error.
func unphysical(err error) string {
	var d *transport.DomainError
	if errors.As(err, &d) {
		return d.What
	}
	return err.Error()
}

// Warned returns warnings about bounds, parameters that cannot be told apart, and the domain of the
// model.
func (f *Fit) Warned() []string {
	all := append([]string{}, f.Warnings...)
	if f.Outside != nil {
		all = append(all, "the fitted parameters have no physical meaning: "+unphysical(f.Outside))
	}
	return all
}

// Said returns the remarks and notes about the result.
func (f *Fit) Said() []string {
	var sd []float64
	for _, row := range f.Rows() {
		sd = append(sd, row.SD)
	}
	return append(f.Problem.Remarks(f.Theta, sd), f.Notes...)
}

// Result returns the fit as homodyne arranges it, with maps or without.
func (f *Fit) Result(m *Maps, software string) *homodyne.Fit {
	p := f.Problem
	out := &homodyne.Fit{Model: p.Config.Model, Q: p.C2.Q, Phi: p.C2.Phi, Times: p.Data.Setup.Times, Scaling: homodyne.Scaling(f.Scaling), Contrast: f.Contrast, Offset: f.Offset,
		ChiSquared: f.SSQ, Points: f.Points, Free: len(f.X), Status: f.Status.String(), Converged: f.Status.Converged(), Iterations: f.Passes, Seconds: f.Seconds,
		Quality: map[bool]string{true: "good", false: "poor"}[f.Verdict.OK], Window: p.Config.Clock.Window, Customary: p.Config.Customary, Notes: slices.Concat(f.Said(), f.Warned()), Software: software, When: time.Now()}
	if m != nil {
		out.Data, out.Shape, out.Curve = m.Data, m.Shape, m.Model
	}
	for _, row := range f.Rows() {
		out.Names, out.Values, out.Errors = append(out.Names, row.Name), append(out.Values, row.Value), append(out.Errors, row.SD)
	}
	for i, row := range f.Scales() {
		if i < len(p.C2.Phi) {
			out.ContrastErrors = append(out.ContrastErrors, row.SD)
		} else {
			out.OffsetErrors = append(out.OffsetErrors, row.SD)
		}
	}
	return out
}
