package main

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// correlationsFile holds the correlations of a run.
const correlationsFile = "data.npz"

// measuredDoc is where and when correlations were measured, in config.json.
type measuredDoc struct {
	Q     float64   `json:"q"`
	Phi   []float64 `json:"phi"`
	First int       `json:"first_frame"`
	Last  int       `json:"last_frame"`
	Step  float64   `json:"frame_time_s"`
	Times []float64 `json:"times_s"`
}

// twotimeProblem is correlations with their model.
type twotimeProblem struct {
	file   string
	config *homodyne.Config
	c2     *homodyne.Correlation
	data   twotime.Data
	notes  []string
}

// openTwotime reads the correlations of a file, or of the one that the configuration names.
func (a *app) openTwotime(file string, f *twotimeFlags) (*twotimeProblem, error) {
	file, err := f.settle(file)
	if err != nil {
		return nil, err
	}
	config, err := f.configuration()
	if err != nil {
		return nil, err
	}
	if file == "" {
		if file, err = config.Path(config.Data); err != nil {
			return nil, input(err)
		}
	}
	h, err := homodyne.Open(file)
	if err != nil {
		return nil, input(err)
	}
	defer h.Close()
	c2, err := h.Read(config.Selection())
	if err != nil {
		return nil, input(err)
	}
	p := &twotimeProblem{file: file, config: config, notes: slices.Concat(config.Notices, c2.Notes)}
	if text := config.IgnoredText(); text != "" {
		p.notes = append(p.notes, "without a meaning here and ignored: "+text)
	}
	if l := config.NLSQ.Loss; l != "" && l != "linear" {
		p.notes = append(p.notes, fmt.Sprintf("the loss %s of the configuration is not used: fits are of least squares", l))
	}
	if config.NLSQ.Evolution {
		p.notes = append(p.notes, "CMA-ES of the configuration is not used: --starts says from how many points a fit starts")
	}
	if config.Model == homodyne.StaticIsotropic && len(c2.Phi) > 1 {
		p.notes = append(p.notes, fmt.Sprintf("%d angles are averaged", len(c2.Phi)))
		c2 = c2.Mean()
	}
	if err := p.take(c2, config.Clock.Times(c2.First, c2.Last, c2.Step), f); err != nil {
		return nil, err
	}
	for _, n := range p.notes {
		a.note("%s", n)
	}
	return p, nil
}

// take makes the data of a model.
func (p *twotimeProblem) take(c2 *homodyne.Correlation, times []float64, f *twotimeFlags) error {
	p.c2 = c2
	p.data = twotime.Data{Setup: p.setup(c2.Q, c2.Phi, times, c2.Step), C2: c2.C2, Band: p.config.Band}
	switch {
	case f.Speckles < 0 || f.MeanCount < 0 || f.MeanCount > 0 && f.Speckles == 0:
		return usage("--speckles %g and --mean-count %g: want positive numbers, and no count without speckles", f.Speckles, f.MeanCount)
	case f.Speckles > 0:
		noise := twotime.Noise{Speckles: f.Speckles}
		if f.MeanCount > 0 {
			noise.InverseCount = 1 / f.MeanCount
		}
		for range c2.Phi {
			p.data.Noise = append(p.data.Noise, noise)
		}
	}
	if err := p.data.Setup.Check(); err != nil {
		return as(exitData, err)
	}
	p.holdMiddle()
	return nil
}

// holdMiddle holds f2 fixed, of which f0 exp(-f1 f2) is all that is seen.
func (p *twotimeProblem) holdMiddle() {
	f2 := p.config.Parameter("f2")
	if f2 == nil || f2.Fixed {
		return
	}
	if t := p.data.Setup.Times; !f2.Started {
		f2.Start = (t[0] + t[len(t)-1]) / 2
	}
	f2.Fixed = true
	p.notes = append(p.notes, fmt.Sprintf("f2 is held fixed at %g s, because f0 exp(-f1 f2) is all that is seen of it", f2.Start))
}

// setup is the measurement at these angles and times.
func (p *twotimeProblem) setup(q float64, phi, times []float64, step float64) transport.Setup {
	return transport.Setup{Model: motionOf(p.config.Model), Times: times, Q: q, Gap: p.config.Gap, Angles: phi, Customary: p.config.Customary, Step: step}
}

func motionOf(m homodyne.Model) transport.Model {
	switch m {
	case homodyne.LaminarFlow:
		return transport.Laminar
	case homodyne.TwoComponent:
		return transport.TwoComponent
	}
	return transport.Static
}

// measured is what config.json holds beside the matrices.
func (p *twotimeProblem) measured() measuredDoc {
	return measuredDoc{Q: p.c2.Q, Phi: p.c2.Phi, First: p.c2.First, Last: p.c2.Last, Step: p.c2.Step, Times: p.data.Setup.Times}
}

// keep writes the correlations to a run folder.
func (p *twotimeProblem) keep(dir runs.Folder) error {
	c := *p.c2
	c.Bins, c.File = nil, "" // all at one q
	return as(exitCannotWrite, homodyne.Write(dir.Path(correlationsFile), homodyne.NPZ, &c))
}

// reopenTwotime makes the problem of a run folder again.
func reopenTwotime(dir runs.Folder, file string, f *twotimeFlags, m measuredDoc) (*twotimeProblem, error) {
	config, err := f.configuration()
	if err != nil {
		return nil, as(exitConfig, err)
	}
	h, err := homodyne.Open(dir.Path(correlationsFile))
	if err != nil {
		return nil, input(err)
	}
	defer h.Close()
	c2, err := h.Read(homodyne.Selection{Step: m.Step})
	if err != nil {
		return nil, input(err)
	}
	if c2.Frames() != len(m.Times) || len(c2.Phi) != len(m.Phi) {
		return nil, as(exitData, fmt.Errorf("%s has %d frames and %d angles, %s says %d and %d: they are not of one run", dir.Path(correlationsFile), c2.Frames(), len(c2.Phi), runs.ConfigFile, len(m.Times), len(m.Phi)))
	}
	c2.Q, c2.Phi, c2.First, c2.Last, c2.Step, c2.File = m.Q, m.Phi, m.First, m.Last, m.Step, file
	p := &twotimeProblem{file: file, config: config}
	return p, p.take(c2, m.Times, f)
}

// theta returns the starts of the parameters of the motion, and which stay there.
func (p *twotimeProblem) theta() (start []float64, fixed, free []string) {
	for _, par := range p.config.Parameters {
		start = append(start, par.Start)
		if par.Fixed {
			fixed = append(fixed, par.Name)
		} else {
			free = append(free, par.Name)
		}
	}
	return start, fixed, free
}

// bounds are those that were given, beside wide ones; nil if none were given.
func (p *twotimeProblem) bounds() (bounds [][2]float64) {
	given := false
	for _, par := range p.config.Parameters {
		b := [2]float64{math.Inf(-1), math.Inf(1)}
		if fast := p.fastest(par.Name); fast > 0 {
			b = [2]float64{0, 1e3 * fast}
		}
		if par.Bounded {
			b, given = [2]float64{par.Low, par.High}, true
		}
		bounds = append(bounds, b)
	}
	if !given {
		return nil
	}
	return bounds
}

// fastest is the rate that decorrelates neighbouring frames, 0 for parameters that are no rates.
func (p *twotimeProblem) fastest(name string) float64 {
	switch q, step := p.c2.Q, p.c2.Step; {
	case strings.HasPrefix(name, "D0"):
		return 1 / (q * q * step)
	case name == "gamma_dot_t0":
		return 2 / (q * p.config.Gap * step)
	case name == "v0":
		return 1 / (q * step)
	}
	return 0
}

// maps are the data and the model at a point.
func (p *twotimeProblem) maps(at twotime.Point) (*report.TwotimeMaps, error) {
	shape, err := shapes(p.data.Setup, at.Theta)
	if err != nil {
		return nil, err
	}
	m := &report.TwotimeMaps{Phi: p.c2.Phi, Times: p.data.Setup.Times, Data: p.c2.C2, Shape: shape}
	for k, g := range shape {
		curve := make([]float64, len(g))
		for i, v := range g {
			curve[i] = at.Offset[k] + at.Contrast[k]*v
		}
		m.Model = append(m.Model, curve)
	}
	return m, nil
}

// shapes returns g of each angle at parameters of the motion.
func shapes(s transport.Setup, theta []float64) ([][]float64, error) {
	var all [][]float64
	for _, phi := range s.Angles {
		one := s
		one.Angles = []float64{phi}
		in, err := one.Inputs()
		if err != nil {
			return nil, err
		}
		program, err := ad.Compile([]*ad.Node{one.Pairs(in, transport.Square(len(s.Times)))[0]}, ad.Settings{Inputs: in})
		if err != nil {
			return nil, err
		}
		st := program.NewState()
		for i, v := range theta {
			st.Input(i)[0] = v
		}
		if err := st.Run(); err != nil {
			return nil, err
		}
		all = append(all, slices.Clone(st.Output(0)))
	}
	return all, nil
}

// most is the number of threads to use.
func (a *app) most() int { return cmp.Or(a.threads, runtime.GOMAXPROCS(0)) }
