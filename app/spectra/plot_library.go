// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/viz"
)

// templateFlags are the flags of plot library.
type templateFlags struct {
	Coverage bool
	Arms     []string
	usual    map[string]*float64 // parameters that have flags of their own; NaN where none is given
	Others   []string
}

// usualParams are the parameters that most libraries have, with the range of their sliders.
var usualParams = []struct {
	name, about string
	low, high   float64
}{
	{"teff", "effective temperature of the star, K", 2500, 12000}, {"logg", "surface gravity of the star, log10 of cm/s2", 0, 5},
	{"feh", "metallicity [Fe/H] of the star", -4, 0.5}, {"alpha", "enhancement [alpha/Fe] of the star", -0.5, 1},
}

func plotLibrary(a *frame.App) *cobra.Command {
	f := templateFlags{usual: map[string]*float64{}}
	c := &cobra.Command{
		Use:   "library LIBRARY [OUT.svg|png|pdf]",
		Short: "Draw a spectrum of a template library, or its coverage",
		Long: `Draw the spectrum that a library of templates has for a star, in all of its arms
or those of --arm. Parameters that are not given are those of the template
nearest to the middle of the library. --coverage draws the parameters of the
templates instead, each against the first. LIBRARY is a file or a folder of
rvspecfit. The picture is written to OUT if it is given, or else to library.svg.

  euryale plot library library.h5
  euryale plot library library.h5 cool.png --teff 4200 --feh -1.5
  euryale plot library templates coverage.svg --coverage
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runPlotLibrary(a, args, &f) },
	}
	s := c.Flags()
	s.BoolVar(&f.Coverage, "coverage", false, "draw the parameters of the templates instead of a spectrum")
	s.StringSliceVar(&f.Arms, "arm", nil, "arms to draw (default all)")
	for _, p := range usualParams {
		v := math.NaN()
		f.usual[p.name] = &v
		s.Float64Var(&v, p.name, v, p.about+" (default the middle of the library)")
		s.Lookup(p.name).DefValue = ""
		frame.Slider(c, p.name, p.low, p.high)
	}
	s.StringSliceVar(&f.Others, "at", nil, "further parameters of the star, as name=value")
	return c
}

func runPlotLibrary(a *frame.App, args []string, f *templateFlags) error {
	out, names, err := a.PictureOfOne("library", args)
	if err != nil {
		return err
	}
	arms, err := f.read(names[0])
	if err != nil {
		return err
	}
	points := templatePoints(arms[0])
	var fig *viz.Figure
	if f.Coverage {
		fig, err = coverage(filepath.Base(names[0]), arms[0].ParNames, points)
	} else {
		var star []float64
		if star, err = f.star(names[0], arms[0].ParNames, points); err == nil {
			fig, err = templateSpectrum(filepath.Base(names[0]), arms, star)
		}
	}
	if err != nil {
		return exit.With(exit.Data, err)
	}
	return a.SavePicture("library", out, fig)
}

// read reads the arms of a library that are asked for; of several, the coverage is that of the first.
func (f *templateFlags) read(name string) ([]*rvspecfit.Library, error) {
	c, err := rvspecfit.OpenLibrary(name)
	if err != nil {
		return nil, exit.Input(err)
	}
	all, err := c.Arms()
	if err != nil {
		return nil, exit.Input(err)
	}
	if len(all) == 0 {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no arms: name a library of templates, as a file or a folder of rvspecfit", name))
	}
	for _, arm := range f.Arms {
		if !slices.Contains(all, arm) {
			return nil, exit.Usage("--arm %s", setting.Unknown(arm, all))
		}
	}
	if f.Arms != nil {
		all = f.Arms
	}
	if f.Coverage {
		all = all[:1]
	}
	arms, err := c.Read(all)
	return arms, exit.Input(err)
}

// templatePoints are the parameters of the templates of an arm, a row for each; of a network, those of the corners of what it covers.
func templatePoints(l *rvspecfit.Library) [][]float64 {
	dim := len(l.ParNames)
	var rows [][]float64
	switch {
	case l.Points != nil:
		flat := l.Points.Compact().Float64s()
		n := len(flat) / dim
		for i := range n {
			row := make([]float64, dim)
			for k := range row {
				row[k] = flat[k*n+i]
			}
			rows = append(rows, row)
		}
	case l.Network != nil && l.Network.Hull != nil:
		flat := l.Network.Hull.Compact().Float64s()
		for i := 0; i+dim <= len(flat); i += dim {
			rows = append(rows, slices.Clone(flat[i:i+dim]))
		}
	}
	if l.Triangulation == nil && l.Grid == nil && l.Network == nil {
		return rows // physical parameters
	}
	for _, row := range rows {
		for k := range row {
			if l.Mapper.Std != nil {
				row[k] = row[k]*l.Mapper.Std[k] + l.Mapper.Mean[k]
			}
			if slices.Contains(l.Mapper.Log, k) {
				row[k] = math.Pow(10, row[k])
			}
		}
	}
	return rows
}

// star returns the parameters that are drawn: those of the template nearest to the middle, and those that flags give in their place.
func (f *templateFlags) star(name string, params []string, points [][]float64) ([]float64, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("%s does not say which parameters its templates have: fetch or make it again", name)
	}
	star := slices.Clone(points[nearestToMiddle(points)])
	set := func(flag, param string, v float64) error {
		k := slices.Index(params, param)
		if k < 0 {
			return exit.Usage("--%s: %s has no parameter %s", flag, name, setting.Unknown(param, params))
		}
		star[k] = v
		return nil
	}
	for _, p := range usualParams {
		if v := *f.usual[p.name]; !math.IsNaN(v) {
			if err := set(p.name, p.name, v); err != nil {
				return nil, err
			}
		}
	}
	for _, text := range f.Others {
		param, value, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, exit.Usage("--at %q: want name=value, such as feh=-1", text)
		}
		if err := set("at", strings.TrimSpace(param), v); err != nil {
			return nil, err
		}
	}
	return star, nil
}

// nearestToMiddle is the template whose ranks of parameters are nearest to the middle.
func nearestToMiddle(points [][]float64) (best int) {
	far := make([]float64, len(points))
	for k := range points[0] {
		sorted := make([]float64, len(points))
		for i := range points {
			sorted[i] = points[i][k]
		}
		slices.Sort(sorted)
		middle, span := sorted[len(sorted)/2], sorted[len(sorted)-1]-sorted[0]
		for i := range points {
			if span > 0 {
				far[i] += math.Pow((points[i][k]-middle)/span, 2)
			}
		}
	}
	for i := range far {
		if far[i] < far[best] {
			best = i
		}
	}
	return best
}

// mostPoints is the number of templates up to which all are drawn; of more, some are.
const mostPoints = 5000

// coverage draws each parameter of the templates against the first.
func coverage(title string, params []string, points [][]float64) (*viz.Figure, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("%s does not say which parameters its templates have: fetch or make it again", title)
	}
	every := (len(points) + mostPoints - 1) / mostPoints
	of := func(k int) (v []float64) {
		for i := 0; i < len(points); i += every {
			v = append(v, points[i][k])
		}
		return v
	}
	var curves []viz.Curve
	for k := range params {
		if k > 0 || len(params) == 1 {
			curves = append(curves, viz.Curve{Title: params[k], XLabel: labelled(params[0]), YLabel: labelled(params[k]), X: of(0), Y: of(k)})
		}
	}
	fig, err := viz.Multiples(title, curves...)
	if err == nil {
		fig.Note = fmt.Sprintf("Parameters of %s.", errtext.Count(len(points), "template"))
		if every > 1 {
			fig.Note += fmt.Sprintf(" One of %d is drawn.", every)
		}
	}
	return fig, err
}

// labelled is the name of a parameter with its unit.
func labelled(param string) string {
	if unit := spectra.Unit(param); unit != "" {
		return param + " (" + unit + ")"
	}
	return param
}

// templateSpectrum draws the spectrum of a star in some arms.
func templateSpectrum(title string, arms []*rvspecfit.Library, star []float64) (*viz.Figure, error) {
	lib, err := spectra.From(arms, spectra.LoadSettings{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", title, err)
	}
	var list []viz.SpectrumArm
	beyond := 0.0
	for _, t := range lib.Arms {
		logs, outside := t.LogFlux(ad.Input("parameters", 1, len(star)))
		p, err := ad.Compile([]*ad.Node{logs, outside}, ad.Settings{})
		if err != nil {
			return nil, fmt.Errorf("%s: arm %s: %w", title, t.Name, err)
		}
		state := p.NewState()
		copy(state.Input(0), star)
		if err := state.Run(); err != nil {
			return nil, fmt.Errorf("%s: arm %s: %w", title, t.Name, err)
		}
		a := viz.SpectrumArm{Name: t.Name, Wave: t.Lam, Flux: slices.Clone(state.Output(0))}
		for i, v := range a.Flux {
			a.Flux[i] = math.Exp(v)
		}
		list, beyond = append(list, a), max(beyond, state.Output(1)[0])
	}
	fig, err := viz.Spectrum(title, list)
	if err != nil {
		return nil, err
	}
	var said []string
	for k, name := range lib.Params {
		said = append(said, strings.TrimSpace(fmt.Sprintf("%s %.5g %s", name, star[k], spectra.Unit(name))))
	}
	text := "Spectrum at rest of a star with " + strings.Join(said, ", ") + "."
	if beyond > 0 {
		text += " These parameters lie outside the library: the spectrum is what its nearest part gives, and no fit may end there."
	}
	fig.Note = strings.TrimSpace(text + " " + fig.Note)
	return fig, nil
}
