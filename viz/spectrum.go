// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// SpectrumArm is a spectrum of one arm of a spectrograph as it was measured. Flux, Err, Masked and Model have one element for each
// wavelength; Err, Masked and Model may be nil.
type SpectrumArm struct {
	Name   string
	Wave   []float64 // wavelengths in Angstrom, ascending
	Flux   []float64
	Err    []float64 // standard deviations of Flux; not finite where they are unknown
	Masked []bool    // pixels that do not count
	Model  []float64 // flux of a model; NaN where there is none
}

// armColors tell arms apart from the blue to the red.
var armColors = []color.NRGBA{chainColor(0), chainColor(2), chainColor(1), chainColor(3), chainColor(4), chainColor(5)}

// Shares of the pixels that count beyond which the flux does not widen the axis, and by how much of their range it is widened, so that
// some wild pixels do not hide the others.
const (
	wildShare  = 0.002
	wildMargin = 0.25
)

// Spectrum draws the arms of a spectrum over each other: each in its colour with the band of its errors, pixels that are masked in grey,
// and the model of a fit if there is one, with the residuals below in standard deviations.
func Spectrum(title string, arms []SpectrumArm) (*Figure, error) {
	main := &panel{x: axis{label: "vacuum wavelength (Å)", pad: 0.02}, y: axis{label: "flux", pad: 0.06}}
	rest := &panel{x: axis{label: main.x.label, pad: 0.02}, y: axis{label: "residual (sd)", pad: 0.06}}
	var counted, residuals []float64
	var keys []key
	masked, modelled := false, false
	for i, a := range arms {
		if err := a.check(); err != nil {
			return nil, err
		}
		s := a.split()
		main.x.include(a.Wave...)
		rest.x.include(a.Wave...)
		counted, residuals = append(counted, finites(s.good)...), append(residuals, finites(s.residual)...)
		col := armColors[i%len(armColors)]
		main.add(line(a.Wave, s.masked, fade(soft, 0.55), 0.5), band(a.Wave, s.low, s.high, fade(col, 0.25)), line(a.Wave, s.good, col, 0.6))
		keys = append(keys, key{a.Name, col, stroke})
		rest.add(line(a.Wave, s.residual, col, 0.6))
		masked, modelled = masked || len(finites(s.masked)) > 0, modelled || a.Model != nil
	}
	if len(counted) == 0 {
		return nil, fmt.Errorf("viz: spectrum %q: no pixel of its %s has a finite flux and is not masked: there is nothing to draw", title, count(len(arms), "arm", "arms"))
	}
	for _, a := range arms { // over the data of all arms
		if a.Model != nil {
			main.add(line(a.Wave, a.Model, ink, 0.9))
		}
	}
	if modelled {
		keys = append(keys, key{"model", ink, stroke})
	}
	if masked {
		keys = append(keys, key{"masked", soft, stroke})
	}
	f := &Figure{Title: title, Width: pageWidth, Height: 3.4, grid: &grid{rows: [][]*panel{{main}}, gapY: 5}, keys: keys}
	f.Note = main.tamed(counted)
	if !modelled || len(residuals) == 0 {
		return f, nil
	}
	main.x.bare = true
	rest.tamed(append(residuals, -3, 3))
	rest.marks = slices.Insert(rest.marks, 0, rectangle(rest.x.lo, rest.x.hi, -1, 1, faint))
	rest.add(horizontalLine(0, ink, 0.8))
	f.grid.rows, f.grid.high, f.Height = append(f.grid.rows, []*panel{rest}), []float64{1, 0.4}, 4.6
	return f, nil
}

// tamed sets the range of y to that of values without some wild ones, and says how many lie outside of it.
func (p *panel) tamed(values []float64) string {
	slices.Sort(values)
	n := len(values)
	k := int(wildShare * float64(n))
	low, high := values[k], values[n-1-k]
	room := wildMargin * (high - low)
	low, high = max(values[0], low-room), min(values[n-1], high+room)
	p.y.include(low, high)
	out := 0
	for _, v := range values {
		if v < low || v > high {
			out++
		}
	}
	if out == 0 {
		return ""
	}
	return fmt.Sprintf("%s beyond the picture.", count(out, "pixel lies", "pixels lie"))
}

// splitArm is an arm taken apart into what is drawn in different ways. Pixels that do not belong to a part are NaN in it.
type splitArm struct{ good, masked, low, high, residual []float64 }

func (a *SpectrumArm) split() (s splitArm) {
	nan := slices.Repeat([]float64{math.NaN()}, len(a.Wave))
	s = splitArm{slices.Clone(nan), slices.Clone(nan), slices.Clone(nan), slices.Clone(nan), slices.Clone(nan)}
	for k, v := range a.Flux {
		if a.bad(k) {
			for _, at := range []int{k - 1, k, k + 1} { // with its neighbours, so that single pixels are seen
				if at >= 0 && at < len(a.Flux) {
					s.masked[at] = a.Flux[at]
				}
			}
			continue
		}
		s.good[k] = v
		if a.Err == nil || !linalg.Finite(a.Err[k]) {
			continue
		}
		s.low[k], s.high[k] = v-a.Err[k], v+a.Err[k]
		if a.Model != nil && a.Err[k] > 0 {
			s.residual[k] = (v - a.Model[k]) / a.Err[k]
		}
	}
	return s
}

func (a *SpectrumArm) bad(k int) bool { return a.Masked != nil && a.Masked[k] }

func (a *SpectrumArm) check() error {
	n := len(a.Wave)
	for _, f := range []struct {
		name string
		have int
		none bool
	}{{"Flux", len(a.Flux), false}, {"Err", len(a.Err), a.Err == nil}, {"Masked", len(a.Masked), a.Masked == nil}, {"Model", len(a.Model), a.Model == nil}} {
		if f.have != n && !f.none {
			return fmt.Errorf("viz: arm %s of a spectrum: %s has %s, but there are %d wavelengths: give one for each", a.Name, f.name, count(f.have, "value", "values"), n)
		}
	}
	return nil
}
