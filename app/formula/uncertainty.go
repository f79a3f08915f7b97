// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/table"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/report"
)

// uncertainty is what a fit is to say of errors beside the standard deviations.
type uncertainty struct {
	profile, limits, correlations, conventions bool
	contours, derived                          []string
	bootstrap                                  int
	resample                                   string
	starts                                     int
	choices                                    choices
	relative                                   bool
	counts                                     bool // whether errors are the roots of predicted counts
	run                                        resumption
	guesses                                    *guesses // of several fits, which one note describes; nil for a single one
}

const uncertaintyHelp = `--profile computes intervals of 68 and 95 % from profiles of the sum of squares
(MINOS errors), which hold where standard errors do not, --limits one-sided
limits of 95 %, --contour regions of two parameters at 39, 68 and 95 %, and
--bootstrap intervals from fits of resampled data, which --resume continues
where they have a folder. --derived "ratio=a/b" gives a
formula of parameters with its error.
`

func (u *uncertainty) add(flags *pflag.FlagSet) {
	flags.BoolVar(&u.profile, "profile", false, "compute intervals of 68 and 95 % from profiles")
	flags.BoolVar(&u.limits, "limits", false, "compute one-sided limits of 95 % from profiles")
	flags.BoolVar(&u.correlations, "correlations", false, "print the correlations of the parameters")
	flags.BoolVar(&u.conventions, "conventions", false, "print the errors as SciPy, lmfit and ROOT would")
	flags.StringArrayVar(&u.contours, "contour", nil, "pair of parameters, such as a,tau, or all; may be repeated")
	flags.StringArrayVar(&u.derived, "derived", nil, "quantity derived from parameters, such as ratio=a/b; may be repeated")
	flags.IntVar(&u.bootstrap, "bootstrap", 0, "number of resampled data sets to fit, such as 1000 (default none)")
	flags.StringVar(&u.resample, "resample", "cases", "what the bootstrap draws: cases or residuals")
	flags.IntVar(&u.starts, "starts", 0, "number of starts from which to fit for a report of all minima, such as 50 (default none)")
	u.choices.add(flags)
	flags.BoolVar(&u.relative, "relative-sigma", false, "take errors of y only as weights, and scale errors so that chi2/dof is 1")
}

// into puts what the flags say of a problem into it.
func (u *uncertainty) into(p *expr.Problem) error {
	for _, text := range u.derived {
		name, value, err := assigned("derived", text)
		if err != nil {
			return err
		}
		if p.Derived == nil {
			p.Derived = map[string]string{}
		}
		p.Derived[name] = value
	}
	if u.relative {
		p.Absolute = new(bool)
	}
	if u.bootstrap < 0 || u.bootstrap > 0 && u.bootstrap < 50 {
		return exit.Usage("--bootstrap %d: want 50 or more data sets, such as 1000", u.bootstrap)
	}
	if u.bootstrap > maxBootstrap {
		return exit.Usage("--bootstrap %d: want at most %d data sets, whose fits are held in memory", u.bootstrap, maxBootstrap)
	}
	if u.starts < 0 || u.starts > maxStarts {
		return exit.Usage("--starts %d: want a number from 0 to %d, such as 50", u.starts, maxStarts)
	}
	if r := optim.Resampling(u.resample); r != optim.ResampleCases && r != optim.ResampleResiduals {
		return exit.Usage("--resample %s: want cases or residuals", u.resample)
	}
	return nil
}

// derivedDoc is a quantity that follows from parameters.
type derivedDoc struct {
	Formula string       `json:"formula"`
	X       frame.Number `json:"x"`
	SD      frame.Number `json:"sd"`
}

// contourDoc is the boundary of a region of two parameters.
type contourDoc struct {
	Names [2]string      `json:"names"`
	Level frame.Number   `json:"level"`
	X     []frame.Number `json:"x"`
	Y     []frame.Number `json:"y"`
	Open  bool           `json:"open"` // whether a bound cuts it, or the data do not close it
}

// minimumDoc is a minimum that fits from several starts ended at.
type minimumDoc struct {
	Cost   frame.Number            `json:"cost"`
	Starts int                     `json:"starts"`
	Status string                  `json:"status"`
	X      map[string]frame.Number `json:"x"`
}

// mostMinima is the largest number of minima in a report.
const mostMinima = 20

// survey fits from many starts, and takes the result from the lowest minimum.
func (u *uncertainty) survey(ctx context.Context, a *frame.App, f *fitted, problem *optim.Problem, s optim.Settings) error {
	if u.starts <= 0 {
		return nil
	}
	found, err := f.Problem.Minima(ctx, problem, s, u.starts, a.Seed)
	if err != nil {
		return fmt.Errorf("fits from several starts: %w", err)
	}
	for _, m := range found[:min(len(found), mostMinima)] {
		f.doc.Minima = append(f.doc.Minima, minimumDoc{frame.Number(m.Cost), m.Hits, m.Status.String(), frame.Named(m.Names, m.X)})
	}
	if found[0].Cost < f.Result.Cost*(1-1e-6) {
		a.Note("one of the starts led to a lower minimum, of cost %.6g instead of %.6g: give its values with --start", found[0].Cost, f.Result.Cost)
	}
	return nil
}

// minimaText is a table of minima.
func minimaText(names []string, minima []minimumDoc) string {
	if len(minima) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("minima:\n")
	w := foreign.Table(&b, 0)
	fmt.Fprintf(w, "  cost\tstarts\t%s\n", strings.Join(names, "\t"))
	for _, m := range minima {
		fmt.Fprintf(w, "  %.6g\t%d", float64(m.Cost), m.Starts)
		for _, n := range names {
			fmt.Fprintf(w, "\t%.5g", float64(m.X[n]))
		}
		fmt.Fprintf(w, "\t%s\n", map[bool]string{true: "", false: m.Status}[m.Status == "converged"])
	}
	_ = w.Flush()
	return b.String()
}

// bootstrapDoc is what fits of resampled data scatter by.
type bootstrapDoc struct {
	Resampled string                    `json:"resampled"`
	Draws     int                       `json:"draws"`
	Failed    int                       `json:"failed"`
	SD        map[string]frame.Number   `json:"sd"`
	Interval  map[string][]frame.Number `json:"interval95"`
}

// compute adds to a fit what was asked for.
func (u *uncertainty) compute(ctx context.Context, a *frame.App, f *fitted, problem *optim.Problem, s optim.Settings) error {
	d := &f.doc
	of, err := f.Problem.Quantities()
	if err != nil {
		return exit.With(exit.Data, err)
	}
	q, err := f.Result.Derive(of)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	d.Correlation = correlationRows(f.Result)
	for i, sd := range q.SD() {
		if d.Derived == nil {
			d.Derived = map[string]derivedDoc{}
		}
		d.Derived[q.Names[i]] = derivedDoc{f.Problem.Derived[base(q.Names[i])], frame.Number(q.X[i]), frame.Number(sd)}
	}
	follow, err := u.likelihood(ctx, f, problem, s)
	if err != nil {
		return fmt.Errorf("the likelihood of counts: %w", err)
	}
	if err := u.profiles(ctx, follow, optim.ProfileSettings{Settings: s, Quantities: of}); err != nil {
		return fmt.Errorf("intervals by profiles: %w", err)
	}
	if err := u.outline(ctx, follow, s); err != nil {
		return err
	}
	if err := u.survey(ctx, a, f, problem, s); err != nil {
		return err
	}
	return u.resampled(ctx, a, f)
}

// followed is a fit whose profiles are followed.
type followed struct {
	*fitted
	problem *optim.Problem
	result  *optim.Result
}

// likelihood is the fit with the problem whose profiles are those of the likelihood: for errors that are the roots of predicted counts, that of the deviance.
func (u *uncertainty) likelihood(ctx context.Context, f *fitted, problem *optim.Problem, s optim.Settings) (*followed, error) {
	same := &followed{f, problem, f.Result}
	if !f.counts || !(u.profile || u.limits || len(u.contours) > 0) || s.Loss != "" && s.Loss != "linear" {
		return same, nil
	}
	p, err := f.Problem.Deviance(problem)
	if err != nil {
		return nil, err
	}
	p.Start = slices.Clone(f.Result.X)
	r, err := optim.LeastSquares(ctx, p, s)
	if err != nil || !r.Status.Converged() { // the errors of the fit are held
		return same, ctx.Err()
	}
	return &followed{f, p, r}, nil
}

// profiles computes the intervals that were asked for.
func (u *uncertainty) profiles(ctx context.Context, f *followed, s optim.ProfileSettings) error {
	var levels []optim.IntervalLevel
	var to []*map[string][]frame.Number
	if u.profile {
		levels = append(levels, optim.IntervalLevel{Level: 0.95}, optim.IntervalLevel{Level: oneSigma})
		to = append(to, &f.doc.Interval, &f.doc.Interval68)
	}
	if u.limits {
		levels, to = append(levels, optim.IntervalLevel{Level: 0.95, OneSided: true}), append(to, &f.doc.Limits)
	}
	if len(levels) == 0 {
		return nil
	}
	all, err := optim.Profiles(ctx, f.problem, f.result, s, levels...)
	if err != nil {
		return err
	}
	for l, intervals := range all {
		*to[l] = map[string][]frame.Number{}
		for _, i := range intervals {
			(*to[l])[i.Name] = frame.Numbers([]float64{i.Lower, i.Upper})
		}
	}
	return nil
}

// base is the name of a quantity without the label of its value.
func base(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}

// oneSigma is the probability of one standard deviation.
const oneSigma = 0.682689492137086

// correlationRows is the table of correlations.
func correlationRows(r *optim.Result) (rows [][]frame.Number) {
	n, c := len(r.Names), r.Correlation()
	for i := range n {
		if c != nil {
			rows = append(rows, frame.Numbers(c[i*n:(i+1)*n]))
		}
	}
	return rows
}

// outline computes the contours that were asked for.
func (u *uncertainty) outline(ctx context.Context, f *followed, s optim.Settings) error {
	var free []string
	for _, name := range f.Result.Names {
		if _, fixed := f.Problem.Fixed[name]; !fixed && f.Problem.Tied[name] == "" {
			free = append(free, name)
		}
	}
	var pairs [][2]string
	for _, text := range u.contours {
		if text == "all" {
			for i, a := range free {
				for _, b := range free[i+1:] {
					pairs = append(pairs, [2]string{a, b})
				}
			}
			continue
		}
		a, b, ok := strings.Cut(text, ",")
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
		for _, name := range []string{a, b} {
			if ok && !slices.Contains(free, name) {
				return exit.Usage("--contour %s: %s is no parameter of the fit%s; there are %s", text, name, didYouMean(name, free), strings.Join(free, ", "))
			}
		}
		if !ok || a == b {
			return exit.Usage("--contour %s: want two parameters, such as a,tau, or all", text)
		}
		pairs = append(pairs, [2]string{a, b})
	}
	for _, pair := range pairs {
		all, err := optim.Contours(ctx, f.problem, f.result, pair[0], pair[1], optim.ContourSettings{Settings: s, Points: 48})
		if err != nil {
			return fmt.Errorf("contour of %s and %s: %w", pair[0], pair[1], err)
		}
		f.Contours = append(f.Contours, all...)
		for _, c := range all {
			f.doc.Contours = append(f.doc.Contours, contourDoc{c.Names, frame.Number(c.Level), frame.Numbers(c.X), frame.Numbers(c.Y), slices.Contains(c.Open, true)})
		}
	}
	return nil
}

// resampled fits resampled data.
func (u *uncertainty) resampled(ctx context.Context, a *frame.App, f *fitted) error {
	if u.bootstrap == 0 {
		return nil
	}
	s := optim.BootstrapSettings{Resampling: optim.Resampling(u.resample), Draws: u.bootstrap, Seed: a.Seed}
	if err := u.run.keep(a, &s); err != nil {
		return err
	}
	b, err := f.Problem.Bootstrap(ctx, f.Result, s)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	d := &bootstrapDoc{u.resample, u.bootstrap, b.Failed, frame.Named(b.Names, b.SD), map[string][]frame.Number{}}
	for i, name := range b.Names {
		d.Interval[name] = frame.Numbers([]float64{b.Lower[i], b.Upper[i]})
	}
	f.doc.Bootstrap = d
	return nil
}

// text is what is printed below the parameters.
func (u *uncertainty) text(f *fitted) string {
	var b strings.Builder
	d := &f.doc
	for _, name := range sortedNames(d.Derived) {
		q := d.Derived[name]
		fmt.Fprintf(&b, "%-12s %s%s   = %s\n", name, report.PlusMinus(float64(q.X), float64(q.SD)), f.ends(name), q.Formula)
	}
	if len(d.Limits) > 0 {
		b.WriteString("one-sided limits of 95 %:\n")
		for _, name := range sortedNames(d.Limits) {
			fmt.Fprintf(&b, "  %-10s %s\n", name, limitText(float64(d.Limits[name][0]), float64(d.Limits[name][1])))
		}
	}
	if s := d.Bootstrap; s != nil {
		fmt.Fprintf(&b, "bootstrap of %d resampled %s:\n", s.Draws-s.Failed, s.Resampled)
		for _, name := range sortedNames(s.SD) {
			fmt.Fprintf(&b, "  %-10s sd %.3g, 95 %%: %.5g to %.5g\n", name, float64(s.SD[name]), float64(s.Interval[name][0]), float64(s.Interval[name][1]))
		}
	}
	b.WriteString(minimaText(f.Result.Names, d.Minima))
	if u.correlations {
		b.WriteString(correlationText(f.Result))
	}
	if u.conventions {
		b.WriteString(conventionText(f))
	}
	return b.String()
}

// ends are the intervals of a parameter or a quantity, in words.
func (f *fitted) ends(name string) string {
	text := ""
	for _, i := range []struct {
		name string
		ends []frame.Number
	}{{"68", f.doc.Interval68[name]}, {"95", f.doc.Interval[name]}} {
		if len(i.ends) == 2 {
			text += fmt.Sprintf("   %s %%: %s", i.name, rangeText(float64(i.ends[0]), float64(i.ends[1])))
		}
	}
	return text
}

// rangeText is an interval in words. An infinite end is one that the data do not set.
func rangeText(lower, upper float64) string {
	switch below, above := math.IsInf(lower, -1), math.IsInf(upper, 1); {
	case below && above:
		return "open on both sides"
	case below:
		return fmt.Sprintf("below %.5g, open on the other side", upper)
	case above:
		return fmt.Sprintf("above %.5g, open on the other side", lower)
	}
	digits := 5 // as many as the width has two of
	if most := max(math.Abs(lower), math.Abs(upper)); upper > lower && most > 0 {
		digits = min(max(digits, int(math.Ceil(math.Log10(most/(upper-lower))))+2), 17)
	}
	return fmt.Sprintf("%.*g to %.*g", digits, lower, digits, upper)
}

// limitText are one-sided limits in words.
func limitText(lower, upper float64) string {
	var all []string
	if !math.IsInf(lower, -1) {
		all = append(all, fmt.Sprintf("above %.5g", lower))
	}
	if !math.IsInf(upper, 1) {
		all = append(all, fmt.Sprintf("below %.5g", upper))
	}
	if len(all) == 0 {
		return "no limit"
	}
	return strings.Join(all, ", ")
}

func sortedNames[V any](m map[string]V) []string {
	var all []string
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// correlationText is a triangle of correlations.
func correlationText(r *optim.Result) string {
	c, n := r.Correlation(), len(r.Names)
	if c == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("correlations:\n")
	w := foreign.Table(&b, 0)
	for i := range n {
		fmt.Fprintf(w, "  %s", r.Names[i])
		for k := range i + 1 {
			fmt.Fprintf(w, "\t%.3f", c[i*n+k])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "  \t%s\n", strings.Join(r.Names, "\t"))
	_ = w.Flush()
	return b.String()
}

// conventionText are the standard errors under the conventions of other programs. They differ in whether errors of the data are taken as they are.
func conventionText(f *fitted) string {
	r, weighted := f.Result, f.Problem.Sigma != ""
	own, other := r.SD(), r.SD()
	reduced := r.ReducedChiSquared()
	for i := range other {
		if r.Absolute {
			other[i] *= math.Sqrt(reduced)
		} else {
			other[i] /= math.Sqrt(reduced)
		}
	}
	absolute, scaled := own, other
	if !r.Absolute {
		absolute, scaled = other, own
	}
	var b strings.Builder
	b.WriteString("standard errors as other programs print them:\n")
	w := foreign.Table(&b, 0)
	first := map[bool]string{true: "as the errors of y are", false: "with errors of y of 1"}[weighted]
	fmt.Fprintf(w, "  \t%s\tscaled to chi2/dof 1\n  \tSciPy absolute_sigma=True\tSciPy (default)\n  \tlmfit scale_covar=False\tlmfit (default)\n  \tROOT, iminuit\tROOT without errors of y\n", first)
	for i, name := range r.Names {
		fmt.Fprintf(w, "  %s\t%.6g\t%.6g\n", name, f.unit(name)*absolute[i], f.unit(name)*scaled[i])
	}
	_ = w.Flush()
	return b.String()
}

// curveTable is the fitted curve at the rows of the data, with the confidence band of 95 % and the band of new data; nil without degrees of freedom.
func curveTable(f *fitted) (*table.Table, error) {
	p := f.Problem
	axes, err := p.Axes()
	if err != nil {
		return nil, err
	}
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	b, err := f.Bands(nil)
	if b == nil || err != nil {
		return nil, err
	}
	t := &table.Table{Name: "curve"}
	for _, axis := range axes {
		if c := p.Data[axis.Name]; c.Labels != nil {
			t.Add(axis.Name, "", c.Labels)
		} else {
			t.Add(axis.Name, "", f.times(axis.Name, c.Values))
		}
	}
	t.Add(p.Observation(), "", f.times(p.Y, y))
	t.Add("fit", "", f.times(p.Y, b.Mean))
	t.Add("fit_sd", "", f.times(p.Y, b.SD))
	t.Add("low95", "", f.times(p.Y, b.Low))
	t.Add("high95", "", f.times(p.Y, b.High))
	t.Add("new_low95", "", f.times(p.Y, b.NewLow))
	t.Add("new_high95", "", f.times(p.Y, b.NewHigh))
	return t, nil
}

// maxBootstrap is the largest number of fits of --bootstrap, whose parameters are held in memory: 240 MB for three.
const maxBootstrap = 10_000_000

// maxStarts is the largest number of fits of --starts, whose points are held in memory. For 40 rows and three parameters they take 4 s of processor time and 380 MB.
const maxStarts = 100_000
