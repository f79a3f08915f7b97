// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// guess is what data say of nuisances before a fit.
type guess struct {
	*Data
	numbering []float64 // energies in eV by the numbers of parameters
	foot      *[2]float64
}

// binned returns the rates of the bins of some frames.
func (g *guess) binned(of func(f *Frame) bool) (rate []float64) {
	for k := range g.Frames {
		f := &g.Frames[k]
		for i, c := range f.Counts {
			if gain := at(f.Gains, i, f.Exposure); of(f) && !math.IsNaN(c) && gain > 0 && f.Bins != nil && f.Bins.Less == nil {
				rate = append(rate, c/gain/one(f.Flux)/one(f.Transmission))
			}
		}
	}
	return rate
}

// dark is the rate in counts/s that the darkest hundredth of the pixels have at an energy, or over all energies if its index is -1, once
// dark counts are taken off. All frames together have counts enough in pixels that are empty in some.
func (g *guess) dark(energy int) float64 {
	energies := g.numbering
	of := func(f *Frame) bool { return energy < 0 || math.Abs(f.Energy-energies[energy]) < sameEnergy }
	var rate []float64
	if len(g.Frames) > 0 && g.Frames[0].Bins != nil {
		rate = g.binned(of)
	}
	for i := range g.pixels() {
		if rate != nil && g.Frames[0].Bins != nil || g.Keep != nil && !g.Keep[i] {
			continue
		}
		counts, exposure := 0.0, 0.0
		for k := range g.Frames {
			f := &g.Frames[k]
			if f.Bins != nil || !of(f) || math.IsNaN(f.Counts[i]) {
				continue
			}
			gain := at(f.Gains, i, f.Exposure)
			counts, exposure = counts+f.Counts[i]-f.Dark*gain, exposure+gain*one(f.Flux)*one(f.Transmission)
		}
		if exposure > 0 {
			rate = append(rate, counts/exposure)
		}
	}
	if len(rate) == 0 {
		return 1e-3
	}
	slices.Sort(rate)
	sum, n := 0.0, max(1, len(rate)/100)
	for _, x := range rate[:min(n, len(rate))] {
		sum += x
	}
	return max(sum/float64(n), 1e-3)
}

// one stands in for a factor that is not known.
func one(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

// energies lists the photon energies in eV in the order in which the model numbers them.
func (d *Data) energies() (out []float64) {
	for _, f := range d.Frames {
		if !slices.ContainsFunc(out, func(e float64) bool { return math.Abs(e-f.Energy) < sameEnergy }) {
			out = append(out, f.Energy)
		}
	}
	return out
}

// shares are those of the light of the darkest pixels at which backgrounds are tried to start: where a sample scatters into all pixels, most of
// that light is its own.
var shares = []float64{1, 0.1, 0.01}

// lighten starts the scales that are guessed where the model has as many counts as the data, and the backgrounds that are guessed at the share
// of the darkest pixels that leaves the least sum of squares: a fit from a background that is far too high may end in a minimum of its own,
// with sizes at their bounds.
func (t *Task) lighten() error {
	var backgrounds []int
	for i, p := range t.Params {
		name := t.bare(p.Name)
		if !p.given && (strings.HasPrefix(name, "background") && name != "background_exponent" || strings.HasPrefix(name, "fluorescence")) {
			backgrounds = append(backgrounds, i)
		}
	}
	own, tried := t.starts(), shares
	if len(backgrounds) == 0 {
		tried = shares[:1]
	}
	var best []float64
	least := math.Inf(1)
	for _, share := range tried {
		t.StartAt(own)
		for _, i := range backgrounds {
			t.Params[i].Start *= share
		}
		if err := t.regressAll(); err != nil {
			return err
		}
		cost := 0.0
		if len(tried) > 1 {
			var err error
			if cost, err = t.startCost(); err != nil {
				return err
			}
		}
		if best == nil || cost < least {
			best, least = t.starts(), cost
		}
	}
	t.StartAt(best)
	return t.prepare()
}

// startCost is the sum of squares of the residuals at the starts.
func (t *Task) startCost() (float64, error) {
	if err := t.prepare(); err != nil {
		return 0, err
	}
	scales := t.scales()
	values, err := t.evaluate(t.starts(), t.withPriors(t.residuals(t.joined.parts, func(name string) *ad.Node { return ad.Scalar(scales[name]) })))
	if err != nil {
		return 0, err
	}
	return linalg.Dot(values[0], values[0]), nil
}

// regressAll sets the starts of the scales that are guessed.
func (t *Task) regressAll() error {
	for i, q := range t.Params {
		if t.bare(q.Name) != "log_scale" || q.given {
			continue
		}
		model := max(0, slices.IndexFunc(t.models(), func(m *Model) bool { return m.Suffix != "" && strings.HasSuffix(q.Name, m.Suffix) }))
		if err := t.regress(i, model); err != nil {
			return err
		}
	}
	return nil
}

// noScattering is the logarithm of a scale that leaves nothing of the scattering.
const noScattering = -60

// regress sets the start of a scale, parameter i of the fit, so that a model has as many counts in all as its data, with everything else
// at its start.
func (t *Task) regress(i, model int) error {
	trial := &Task{Model: t.Model, More: t.More, Params: slices.Clone(t.Params), Fixed: t.Fixed, Backend: t.Backend}
	if err := trial.prepare(); err != nil {
		return err
	}
	x := make([]float64, len(t.Params))
	for k, p := range t.Params {
		x[k] = p.Start
	}
	total := func(scale float64) (sum, numbers float64, err error) {
		x[i] = scale
		means, err := trial.meansAt(x)
		if err != nil {
			return 0, 0, err
		}
		k := 0
		for _, p := range trial.single.parts {
			for n, v := range p.values {
				if p.from[n].model == model {
					sum, numbers = sum+means[k+n], numbers+v
				}
			}
			k += len(p.values)
		}
		return sum, numbers, nil
	}
	rest, numbers, err := total(noScattering)
	if err != nil {
		return err
	}
	unit, _, err := total(0)
	if err != nil {
		return err
	}
	scattered := numbers - rest
	if scattered < numbers/10 { // the backgrounds are guessed too high
		scattered = numbers / 10
	}
	if unit -= rest; unit > 0 && scattered > 0 {
		t.Params[i].Start = math.Log(scattered / unit)
	}
	return nil
}
