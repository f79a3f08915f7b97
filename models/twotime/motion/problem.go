// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Problem holds two-time correlations with their model.
type Problem struct {
	Config *homodyne.Config
	C2     *homodyne.Correlation
	Data   twotime.Data
	Notes  []string // remarks that a person should know
}

// Open reads the correlations from a file, or from the one that the configuration names if the name
// is "".
func Open(config *homodyne.Config, file string) (*Problem, error) {
	if file == "" {
		var err error
		if file, err = config.Path(config.Data); err != nil {
			return nil, err
		}
	}
	h, err := homodyne.Open(file)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	c2, err := h.Read(config.Selection())
	if err != nil {
		return nil, err
	}
	notes := slices.Concat(config.Notices, c2.Notes)
	if text := config.IgnoredText(); text != "" {
		notes = append(notes, "these keys of the configuration have no meaning here and were ignored: "+text)
	}
	if l := config.NLSQ.Loss; l != "" && l != "linear" {
		notes = append(notes, fmt.Sprintf("the loss %s of the configuration was ignored, because fits minimise the sum of squares", l))
	}
	if config.NLSQ.Evolution {
		notes = append(notes, "CMA-ES of the configuration was ignored, because fits start from several points instead")
	}
	if text := gapText(config); text != "" {
		notes = append(notes, text)
	}
	switch note, err := replaced(h, c2); {
	case err != nil:
		return nil, err
	case note != "":
		notes = append(notes, note)
	}
	lost, blind, err := missed(h, c2)
	if err != nil {
		return nil, err
	}
	if config.Model == homodyne.StaticIsotropic && len(c2.Phi) > 1 {
		notes = append(notes, fmt.Sprintf("the correlations at %d angles were averaged", len(c2.Phi)))
		c2 = c2.Mean()
		if lost != nil {
			lost = []float64{stat.Mean(lost, nil)}
		}
	}
	p, err := New(config, c2, config.Clock.Times(c2.First, c2.Last, c2.Step))
	if err != nil {
		return nil, err
	}
	p.Notes, p.Data.Lost, p.Data.Blind = append(notes, p.Notes...), lost, blind
	p.Data.Readings, err = readings(h, c2)
	return p, err
}

// leastGap is about the smallest gap of a shear cell in um.
const leastGap = 5

// gapText says which gap between the plates is used, and what gives it; "" for models without shear.
func gapText(config *homodyne.Config) string {
	switch um := config.Gap / 1e4; {
	case config.Parameter("gamma_dot_t0") == nil:
		return ""
	case config.GapFrom == "":
		return fmt.Sprintf("the gap between the plates is taken as %.6g um, the default, because nothing gives it: rates of shear go as 1/gap, so make sure that it is right", um)
	default:
		text := fmt.Sprintf("the gap between the plates is %.6g um, from %s", um, config.GapFrom)
		if um < leastGap {
			text += fmt.Sprintf(": cells have gaps from about %d um on; if it is in mm, write %.6gmm", leastGap, um)
		}
		return text
	}
}

// readings returns what the readings of the frames in the bins of the correlations say against the data: a step or drift of their mean, single ones that are no photons and move C2,
// and a counter that is full.
func readings(h *homodyne.File, c2 *homodyne.Correlation) (all []check.Flag, err error) {
	if h.Layout != homodyne.APSU {
		return nil, nil
	}
	strays, err := nexus.OpenStrays(h.Name)
	if err != nil {
		return nil, err
	}
	noise, err := nexus.OpenPhotons(h.Name)
	if err != nil {
		return nil, err
	}
	var own []nexus.Stray
	var full nexus.PhotonNoise
	for _, b := range c2.Bins {
		for _, s := range nexus.StraysOf(strays, b.Number) {
			s.Errors, s.Shift = math.NaN(), math.NaN() // those of g2
			own = append(own, s)
		}
		for _, n := range noise {
			if n.Bin == b.Number && n.AtLimit > full.AtLimit {
				full = n
			}
		}
	}
	trace, err := nexus.OpenTrace(h.Name)
	if err != nil {
		return nil, err
	}
	if c, ok := trace.Change(); ok {
		text, remedy := nexus.DescribeIntensity(trace)
		all = append(all, check.Flag{Kind: twotime.KindIntensity, Note: !c.Large(), Text: text, Remedy: remedy})
	}
	if text, remedy := nexus.DescribeStrays(own); text != "" {
		all = append(all, check.Flag{Kind: "stray readings", Text: text, Remedy: remedy})
	}
	if text, remedy := full.Full(); text != "" {
		all = append(all, check.Flag{Kind: "saturation", Text: text, Remedy: remedy})
	}
	return all, nil
}

// missed returns the share of the photons that the detector misses at each angle by the counts of the frames, and by which share counts lower those
// of the next frame; nil if the file does not say it.
func missed(h *homodyne.File, c2 *homodyne.Correlation) (lost, blind []float64, err error) {
	if h.Layout != homodyne.APSU {
		return nil, nil, nil
	}
	all, err := nexus.OpenPhotons(h.Name)
	if all == nil {
		return nil, nil, err
	}
	for _, b := range c2.Bins {
		share, less := 0., 0.
		for i := range all {
			if all[i].Bin == b.Number {
				share, less = all[i].Lost(), all[i].Blind()
			}
		}
		lost, blind = append(lost, share), append(blind, less)
	}
	return lost, blind, err
}

// New makes a problem from correlations whose frames have these times in s.
func New(config *homodyne.Config, c2 *homodyne.Correlation, times []float64) (*Problem, error) {
	p := &Problem{Config: config, C2: c2, Data: twotime.Data{Setup: Setup(config, c2.Q, c2.Phi, times, c2.Step), C2: c2.C2, Band: config.Band}}
	if err := p.Data.Setup.Check(); err != nil {
		return nil, err
	}
	if dark := darkFrames(c2.C2, len(times)); len(dark) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("frames %v were left out, because all their correlations with other frames are 0, as those of frames without light are", dark))
	}
	if v := middle(c2.C2); v == 0 {
		return nil, errors.New("motion: at least half of all C2 is 0, but correlations divided by mean intensities are near 1: check the mask, the bin and the frames, as a correlation of pixels or frames without counts looks like this")
	} else if v < 0.5 {
		return nil, fmt.Errorf("motion: half of all C2 is below %.2g, but correlations divided by mean intensities are near 1: add 1 if this is C2 - 1", v)
	}
	if f2 := config.Parameter("f2"); f2 != nil && !f2.Fixed {
		if !f2.Started {
			f2.Start = (times[0] + times[len(times)-1]) / 2
		}
		f2.Fixed = true
		p.Notes = append(p.Notes, fmt.Sprintf("f2 is held fixed at %g s, because the data determine only the product f0 exp(-f1 f2)", f2.Start))
	}
	return p, nil
}

// middle returns the median of some 10000 finite entries of each matrix, 1 if there are none.
func middle(c2 [][]float64) float64 {
	var some []float64
	for _, m := range c2 {
		for i := 0; i < len(m); i += 1 + len(m)/10000 {
			if v := m[i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				some = append(some, v)
			}
		}
	}
	if len(some) == 0 {
		return 1
	}
	return median.InPlace(some)
}

// Setup returns the measurement that a configuration describes, at q in 1/angstrom, azimuths in
// degrees and times in s.
func Setup(config *homodyne.Config, q float64, phi, times []float64, step float64) transport.Setup {
	s := transport.Setup{Model: transport.Static, Times: times, Q: q, Gap: config.Gap, Angles: phi, Customary: config.Customary, Step: step}
	switch config.Model {
	case homodyne.LaminarFlow:
		s.Model = transport.Laminar
	case homodyne.TwoComponent:
		s.Model = transport.TwoComponent
	}
	return s
}

// Start returns the starts of the parameters of the motion, and says which of them are held fixed.
func (p *Problem) Start() (theta []float64, fixed, free []string) {
	for _, par := range p.Config.Parameters {
		theta = append(theta, par.Start)
		if par.Fixed {
			fixed = append(fixed, par.Name)
		} else {
			free = append(free, par.Name)
		}
	}
	return theta, fixed, free
}

// darkFrames makes the correlations of frames that are 0 with all others unknown. It returns these frames, counted from 1.
func darkFrames(matrices [][]float64, n int) (dark []int) {
	for i := range n {
		found := false
		for _, c2 := range matrices {
			zeros := 0
			for j := range n {
				if j != i && c2[min(i, j)*n+max(i, j)] == 0 {
					zeros++
				}
			}
			if zeros < n-1 {
				continue
			}
			found = true
			blank([][]float64{c2}, n, i)
		}
		if found {
			dark = append(dark, i+1)
		}
	}
	return dark
}

// bounds are those that were given, beside wide ones: exponents of rates are within 2 of 0.
func (p *Problem) bounds() (bounds [][2]float64) {
	for _, par := range p.Config.Parameters {
		b := [2]float64{math.Inf(-1), math.Inf(1)}
		if fast := p.fastest(par.Name); fast > 0 {
			b = [2]float64{0, max(1e3*fast, 1e3*par.Start)}
		}
		if strings.HasPrefix(par.Name, "alpha") || par.Name == "beta" || par.Name == "v_beta" {
			b = [2]float64{-2, 2}
		}
		if par.Bounded {
			b = [2]float64{par.Low, par.High}
		}
		bounds = append(bounds, b)
	}
	return bounds
}

// fastest is the rate that decorrelates neighbouring frames, 0 for parameters that are no rates.
func (p *Problem) fastest(name string) float64 {
	switch q, step := p.C2.Q, p.C2.Step; {
	case strings.HasPrefix(name, "D0"):
		return 1 / (q * q * step)
	case name == "gamma_dot_t0":
		return 2 / (q * p.Config.Gap * step)
	case name == "v0":
		return 1 / (q * step)
	}
	return 0
}

// Shapes returns g of each angle (frames, frames), row-major, at parameters of the motion.
func (p *Problem) Shapes(theta []float64) ([][]float64, error) {
	var all [][]float64
	for _, phi := range p.C2.Phi {
		one := p.Data.Setup
		one.Angles = []float64{phi}
		in, err := one.Inputs()
		if err != nil {
			return nil, err
		}
		program, err := ad.Compile([]*ad.Node{one.Pairs(in, transport.Square(len(one.Times)))[0]}, ad.Settings{Inputs: in})
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

// Maps holds the data and a model: matrices (frames, frames) of each angle, row-major.
type Maps struct {
	Phi, Times []float64   // azimuths in degrees, and times in s
	Data       [][]float64 // c2 as it was measured
	Shape      [][]float64 // g of the model, from 0 to 1
	Model      [][]float64 // modelled correlations, offset + contrast g
}

// Maps returns the data and the model at a point.
func (p *Problem) Maps(at twotime.Point) (*Maps, error) {
	shape, err := p.Shapes(at.Theta)
	if err != nil {
		return nil, err
	}
	m := &Maps{Phi: p.C2.Phi, Times: p.Data.Setup.Times, Data: p.C2.C2, Shape: shape}
	for k, g := range shape {
		curve := make([]float64, len(g))
		for i, v := range g {
			curve[i] = at.Offset[k] + at.Contrast[k]*v
		}
		m.Model = append(m.Model, curve)
	}
	return m, nil
}

// Priors returns the priors of the configuration, and weak ones for parameters that it does not
// mention.
func (p *Problem) Priors() (twotime.Priors, error) {
	out := twotime.DefaultPriors(p.Data.Setup)
	for _, par := range p.Config.Parameters {
		switch {
		case par.Fixed:
			delete(out.Motion, par.Name)
			delete(out.Motion, "log_"+par.Name)
			if out.Fixed == nil {
				out.Fixed = map[string]float64{}
			}
			out.Fixed[par.Name] = par.Start
		case par.Prior.Given:
			d, err := distribution(par.Prior)
			if err != nil {
				return out, fmt.Errorf("%s: %s: %w", p.Config.File, par.Name, err)
			}
			Declare(&out, par.Name, d)
		}
	}
	for _, of := range []struct {
		par homodyne.Parameter
		to  *twotime.Normal
	}{{p.Config.Contrast, &out.Contrast}, {p.Config.Offset, &out.Offset}} {
		if k := of.par.Prior.Kind; of.par.Prior.Given && (k == homodyne.Normal || k == homodyne.TruncatedNormal) {
			*of.to = twotime.Normal{Mean: of.par.Prior.Mean, SD: of.par.Prior.SD}
		}
	}
	return out, nil
}

// Declare gives a parameter of the motion, or its logarithm under the name log_NAME, a prior that
// replaces everything else that is said about it.
func Declare(p *twotime.Priors, name string, d dist.Dist) {
	plain := strings.TrimPrefix(name, "log_")
	delete(p.Motion, plain)
	delete(p.Motion, "log_"+plain)
	delete(p.Fixed, plain)
	p.Motion[name] = d
}

// distribution returns the distribution of a configuration.
func distribution(of homodyne.Prior) (d dist.Dist, err error) {
	switch of.Kind {
	case homodyne.Normal:
		d = dist.Normal(of.Mean, of.SD)
	case homodyne.TruncatedNormal:
		d = dist.TruncatedNormal(of.Mean, of.SD, of.Low, of.High)
	case homodyne.LogNormal:
		d = dist.LogNormal(of.Mean, of.SD)
	case homodyne.HalfNormal:
		d = dist.HalfNormal(of.SD)
	case homodyne.Uniform:
		d = dist.Uniform(of.Low, of.High)
	case homodyne.LogUniform:
		d = dist.LogUniform(of.Low, of.High)
	default:
		return d, fmt.Errorf("the prior is of the unknown kind %q: use one that homodyne has", of.Kind)
	}
	return d, d.Err()
}
