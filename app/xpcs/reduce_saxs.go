// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs/reduce"
)

// saxsFlags are the flags of reduce saxs.
type saxsFlags struct {
	Background      string
	Weight, Scale   float64
	Range           string
	Times           float64
	OverFirst, Onto bool
	Every, Bins     int
	Sectors, Rings  []string
	Parts           bool
}

func reduceSAXS(a *frame.App) *cobra.Command {
	var f saxsFlags
	c := &cobra.Command{
		Use:   "saxs RESULT.hdf... [OUT.csv|.xlsx|.parquet]",
		Short: "Reduce intensities in results to I(q) or to profiles along rings",
		Long: `Reduce the intensities in result files to I(q), in counts per pixel and frame
against q in 1/angstrom, with the curves of all files side by side: the mean
over azimuth, then one curve per azimuth if the static bins have several.

A background is another result with the same q map. --weight times the
background is subtracted, for example the ratio of the transmissions times that
of the exposures; negative results become NaN. Then the range of q is cut, the
curves are multiplied by --scale (such as a factor that converts to absolute
cross-sections) and scaled onto the first curve (--onto), multiplied by a power
of q (--times 2 for Kratky, 4 for Porod) or divided by their first point
(--over-first), and every n-th point is kept.

--sector averages the mean image over a range of azimuths in degrees, and --ring
over a range of radii in pixels, as a function of azimuth. Both are repeatable.
They need the image and the geometry, which the results of euryale correlate
contain.

The table is written to the file that is named last, in the format of its
extension, or else to standard output.

  euryale reduce saxs A003_results.hdf iq.csv
  euryale reduce saxs a_results.hdf b_results.hdf --background empty.hdf \
      --weight 0.9
  euryale reduce saxs A003_results.hdf --sector -30:30 --sector 150:-150
  euryale reduce saxs A003_results.hdf --ring 100:120 ring.csv --json
`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.Background == "" {
				if err := frame.Ignored(c, "--background", "weight"); err != nil {
					return err
				}
			}
			if f.Sectors == nil && f.Rings == nil {
				if err := frame.Ignored(c, "--sector or --ring", "bins"); err != nil {
					return err
				}
			}
			return runReduceSAXS(a, args, f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.Background, "background", "", "result file of the background")
	s.Float64Var(&f.Weight, "weight", 1, "factor to multiply the background by")
	s.Float64Var(&f.Scale, "scale", 1, "factor to multiply the intensities by")
	s.StringVar(&f.Range, "q-range", "", "range of q to keep, as lowest:highest in 1/angstrom, such as 0.002:0.05")
	s.Float64Var(&f.Times, "times", 0, "power of q to multiply the intensities by: 0, 2 or 4")
	s.BoolVar(&f.OverFirst, "over-first", false, "divide each curve by its first point")
	s.BoolVar(&f.Onto, "onto", false, "scale all curves onto the first one and report the factors")
	s.IntVar(&f.Every, "every", 1, "keep every n-th point")
	s.StringArrayVar(&f.Sectors, "sector", nil, "range of azimuths to average, as `from:to` in degrees, such as -30:30; repeatable")
	s.StringArrayVar(&f.Rings, "ring", nil, "range of radii to average, as `inner:outer` in pixels; repeatable")
	s.IntVar(&f.Bins, "bins", 0, "number of q bins of a sector (default that of the static bins) or of azimuth bins of a ring (default 180)")
	s.BoolVar(&f.Parts, "parts", false, "also write a curve for each part of the measurement that correlate --parts stored")
	return c
}

// saxsDoc is the JSON document of reduce saxs.
type saxsDoc struct {
	Engine     string         `json:"engine"`
	Axis       string         `json:"axis"` // q or phi
	Unit       string         `json:"axis_unit"`
	Background string         `json:"background,omitempty"`
	Weight     frame.Number   `json:"weight,omitempty"`
	Curves     []saxsCurveDoc `json:"curves"`
}

type saxsCurveDoc struct {
	File   string         `json:"file"`
	Label  string         `json:"label"`
	Factor frame.Number   `json:"factor"` // that has multiplied the curve
	X      []frame.Number `json:"x"`
	I      []frame.Number `json:"intensity"`
}

// pairOf reads two numbers such as 0.01:0.2.
func pairOf(flag, text, want string) (from, to float64, err error) {
	a, b, both := strings.Cut(text, ":")
	from, err1 := strconv.ParseFloat(strings.TrimSpace(a), 64)
	to, err2 := strconv.ParseFloat(strings.TrimSpace(b), 64)
	if !both || err1 != nil || err2 != nil || math.IsNaN(from) || math.IsNaN(to) {
		return 0, 0, exit.Usage("--%s %q: want %s", flag, text, want)
	}
	return from, to, nil
}

func runReduceSAXS(a *frame.App, args []string, f saxsFlags) error {
	out, files, err := a.TableFile("reduce saxs", args)
	if err != nil {
		return err
	}
	p, err := f.plan()
	if err != nil {
		return err
	}
	lost := frame.LostOf("file", len(files))
	doc, err := p.curves(a, files, lost)
	if err != nil {
		return err
	}
	var columns []column
	for _, c := range doc.Curves {
		if f.Onto {
			a.Note("%s: times %.6g", c.Label, float64(c.Factor))
		}
		columns = append(columns, column{c.Label + f.unit(), c.X, c.I})
	}
	return errors.Join(a.Tabled(out, sideBySide(fmt.Sprintf("%s (%s)", doc.Axis, doc.Unit), columns), doc), lost.Err("reduced"))
}

// unit returns the unit of the curves in brackets, as heads of tables have it.
func (f saxsFlags) unit() string {
	switch {
	case f.OverFirst:
		return " (relative)"
	case f.Times > 0:
		return fmt.Sprintf(" (counts per pixel and frame, x (1/angstrom)^%g)", f.Times)
	}
	return " (counts per pixel and frame)"
}

// saxsPlan is what the flags of reduce saxs say, checked.
type saxsPlan struct {
	saxsFlags
	low, high float64 // of q
	regions   []region
}

// plan checks the flags; the error lists all that are wrong.
func (f saxsFlags) plan() (*saxsPlan, error) {
	p := &saxsPlan{saxsFlags: f, low: math.Inf(-1), high: math.Inf(1)}
	var bad []string
	note := func(err error) {
		if err != nil {
			bad = append(bad, err.Error())
		}
	}
	if f.Range != "" {
		var err error
		if p.low, p.high, err = pairOf("q-range", f.Range, "lowest:highest in 1/angstrom, such as 0.002:0.05"); err == nil && !(p.high > p.low) {
			err = exit.Usage("--q-range %s: want the lower value first", f.Range)
		}
		note(err)
	}
	var err error
	p.regions, err = f.regionsOf()
	note(err)
	for _, c := range []struct {
		bad  bool
		what string
	}{
		{f.Times != 0 && f.Times != 2 && f.Times != 4, fmt.Sprintf("--times %g: want 0, 2 or 4", f.Times)},
		{f.Every < 1, fmt.Sprintf("--every %d: want at least 1", f.Every)},
		{f.Bins < 0, fmt.Sprintf("--bins %d: want at least 1, or 0 for the default", f.Bins)},
		{!(f.Scale > 0) || math.IsInf(f.Scale, 0), fmt.Sprintf("--scale %g: want a positive number", f.Scale)},
		{!(f.Weight >= 0) || math.IsInf(f.Weight, 0), fmt.Sprintf("--weight %g: want a number that is not negative", f.Weight)},
		{len(f.Rings) > 0 && (f.Range != "" || f.Times != 0), "--ring is against azimuth: leave out --q-range and --times"},
		{f.Parts && len(p.regions) > 0, "--parts: images are not kept in parts; leave it out, or --sector and --ring"},
	} {
		if c.bad {
			bad = append(bad, c.what)
		}
	}
	if bad != nil {
		return nil, exit.Usage("%s", strings.Join(bad, "; "))
	}
	return p, nil
}

// saxsLines are the curves of one file, at common abscissas.
type saxsLines struct {
	reduce.Profile
	labels []string
}

// curves reduces all files; those that cannot be reduced are lost.
func (p *saxsPlan) curves(a *frame.App, files []string, lost *frame.Lost) (*saxsDoc, error) {
	doc := &saxsDoc{Engine: "xpcs", Axis: "q", Unit: "1/angstrom"}
	if len(p.Rings) > 0 {
		doc.Axis, doc.Unit = "phi", "deg"
	}
	var background []saxsLines
	if p.Background != "" {
		var err error
		if background, err = p.file(p.Background); err != nil {
			return nil, err
		}
		doc.Background, doc.Weight = p.Background, frame.Number(p.Weight)
	}
	for _, name := range files {
		all, err := p.cut(name, background)
		switch {
		case err == nil:
			for _, l := range all {
				doc.add(name, l.labels, l.Profile, p.Scale)
			}
		case !lost.Add(a, name, err):
			return nil, err
		}
	}
	if lost.None() {
		return nil, lost.Err("")
	}
	p.finish(doc)
	return doc, nil
}

// cut returns the curves of one file without the background, in the range of q and scaled.
func (p *saxsPlan) cut(name string, background []saxsLines) ([]saxsLines, error) {
	all, err := p.file(name)
	if err != nil {
		return nil, err
	}
	for i := range all {
		l := &all[i]
		if background != nil {
			if len(background) != len(all) {
				return nil, exit.With(exit.Data, fmt.Errorf("%s has %d sets of curves, but the background has %d: use results of the same q map", name, len(all), len(background)))
			}
			if l.Profile, err = l.Subtract(background[i].Profile, p.Weight); err != nil {
				return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
			}
		}
		cut := l.Between(p.low, p.high, 1)
		if len(cut.Q) == 0 && len(l.Q) > 0 {
			return nil, exit.Usage("--q-range %s: %s has no points there, only from %.4g to %.4g 1/angstrom", p.Range, name, slices.Min(l.Q), slices.Max(l.Q))
		}
		l.Profile = cut.Scale(p.Scale)
	}
	return all, nil
}

func (d *saxsDoc) add(file string, labels []string, p reduce.Profile, factor float64) {
	for i, line := range p.Lines {
		d.Curves = append(d.Curves, saxsCurveDoc{file, labels[i], frame.Number(factor), frame.Numbers(p.Q), frame.Numbers(line)})
	}
}

// finish applies what comes after scaling to each curve.
func (p *saxsPlan) finish(d *saxsDoc) {
	if p.Onto {
		for i := range d.Curves[1:] {
			d.Curves[i+1].onto(d.Curves[0])
		}
	}
	for i := range d.Curves {
		c := &d.Curves[i]
		one := reduce.Profile{Q: floatsOf(c.X), Lines: [][]float64{floatsOf(c.I)}}
		if p.Times != 0 {
			one = one.Times(p.Times)
		}
		if p.OverFirst && len(one.Q) > 0 {
			one = one.OverFirst()
		}
		one = one.Between(math.Inf(-1), math.Inf(1), p.Every)
		c.X, c.I = frame.Numbers(one.Q), frame.Numbers(one.Lines[0])
	}
}

// onto scales a curve onto another one by their common abscissas.
func (c *saxsCurveDoc) onto(first saxsCurveDoc) {
	both := reduce.Profile{Lines: make([][]float64, 2)}
	for i, x := range first.X {
		if j := slices.Index(c.X, x); j >= 0 {
			both.Q = append(both.Q, float64(x))
			both.Lines[0], both.Lines[1] = append(both.Lines[0], float64(first.I[i])), append(both.Lines[1], float64(c.I[j]))
		}
	}
	factor := frame.Number(both.Onto()[1])
	c.Factor *= factor
	for i := range c.I {
		c.I[i] *= factor
	}
}

func floatsOf(v []frame.Number) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = float64(x)
	}
	return out
}

// file returns the curves of one file, or of each region of it.
func (p *saxsPlan) file(name string) ([]saxsLines, error) {
	r, err := nexus.Open(name)
	if err != nil {
		return nil, exit.Input(err)
	}
	defer r.Close()
	if len(p.regions) > 0 {
		all, err := p.regionsIn(r)
		return all, exit.With(exit.Data, err)
	}
	whole := r.Profile()
	if whole == nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no intensities of static bins: want the dataset /xpcs/temporal_mean/scattering_1d", name))
	}
	l := saxsLines{reduce.Profile{Q: whole.Q}, slices.Clone(whole.Labels)}
	for i := range whole.Lines.Rows {
		l.Lines = append(l.Lines, whole.Lines.Row(i))
	}
	if parts := r.SegmentProfiles(); p.Parts && parts != nil && parts.Rows > 1 {
		for i := range parts.Rows {
			l.Lines, l.labels = append(l.Lines, parts.Row(i)), append(l.labels, fmt.Sprintf("%s part %d", r.Label(), i+1))
		}
	} else if p.Parts {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no intensities of parts of the measurement: correlate the frames with --parts", name))
	}
	return []saxsLines{l}, nil
}
