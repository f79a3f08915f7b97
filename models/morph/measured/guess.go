// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
)

// guess is what data say of nuisances before a fit.
type guess struct {
	*Data
	logScale float64
}

// dark is the rate in counts/s that the darkest hundredth of the pixels have at an energy, or over all energies if its index is -1, once
// dark counts are taken off. All frames together have counts enough in pixels that are empty in some.
func (g *guess) dark(energy int) float64 {
	energies := g.Data.energies()
	pixels := g.Detector.Rows * g.Detector.Columns
	rate := make([]float64, 0, pixels)
	for i := range pixels {
		if g.Keep != nil && !g.Keep[i] {
			continue
		}
		counts, exposure := 0.0, 0.0
		for _, f := range g.Frames {
			if c := f.Counts[i]; (energy < 0 || math.Abs(f.Energy-energies[energy]) < sameEnergy) && !math.IsNaN(c) {
				counts, exposure = counts+c-f.Dark*f.Exposure, exposure+f.Exposure*one(f.Flux)*one(f.Transmission)
			}
		}
		if exposure > 0 {
			rate = append(rate, counts/exposure)
		}
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

// regress sets the start of log_scale so that the model has as many counts in all as the data, with everything else at its start.
func (t *Task) regress() error {
	at := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == "log_scale" })
	total := func(scale float64) (sum float64, err error) {
		trial := &Task{Model: t.Model, Params: slices.Clone(t.Params), Fixed: t.Fixed, Backend: t.Backend}
		trial.Params[at].Start = scale
		mean, err := trial.Means()
		for _, m := range mean {
			sum += m
		}
		return sum, err
	}
	const none = -60 // a scale that leaves nothing of the scattering
	rest, err := total(none)
	if err != nil {
		return err
	}
	unit, err := total(0)
	if err != nil {
		return err
	}
	counts := 0.0
	for _, c := range t.Model.Data.selected().counts {
		counts += c
	}
	scattered := counts - rest
	if scattered < counts/10 { // the backgrounds are guessed too high
		scattered = counts / 10
	}
	if unit -= rest; !(unit > 0) {
		return nil
	}
	t.Params[at].Start = math.Log(scattered / unit)
	return nil
}
