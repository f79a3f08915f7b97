// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/viz"
)

// measuredStar is the spectra of a star as they are in their files, with what is to be said of them.
type measuredStar struct {
	title string
	arms  []viz.SpectrumArm
	notes []string
}

func (m *measuredStar) say(format string, v ...any) {
	m.notes = append(m.notes, fmt.Sprintf(format, v...))
}

// plotMeasured draws the spectra of a star as they were measured, with the fit of an earlier command if it is kept.
func plotMeasured(a *frame.App, out string, names []string, f *plotFlags) error {
	kind, err := fitfile.KindOf(names[0])
	if err != nil {
		return exit.Input(err)
	}
	m := &measuredStar{}
	if kind == fitfile.DESI {
		err = f.measureDESI(m, names)
	} else {
		err = f.measure(m, names)
	}
	if err != nil {
		return err
	}
	fig, err := viz.Spectrum(m.title, m.arms)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	fig.Note = strings.Join(append(m.notes, fig.Note), " ")
	return a.SavePicture("spectrum", out, fig)
}

// measureDESI reads a fiber of a file of DESI and its fit.
func (f *plotFlags) measureDESI(m *measuredStar, names []string) error {
	if err := f.aloneAsDESI(names); err != nil {
		return err
	}
	d, err := survey.OpenDESI(names[0])
	if err != nil {
		return exit.Input(err)
	}
	defer d.Close()
	row, err := f.fiber(d)
	if err != nil {
		return exit.Input(err)
	}
	m.title = fmt.Sprintf("Target %d, row %d of %s", d.TargetID[row], row+1, filepath.Base(names[0]))
	for _, arm := range d.Arms {
		r, err := d.Raw(row, arm, false)
		if err != nil {
			return exit.Input(err)
		}
		m.arms = append(m.arms, armOf(r, arm))
	}
	return f.keptOfDESI(m, d, row)
}

// measure reads a star of other files and its fit.
func (f *plotFlags) measure(m *measuredStar, names []string) error {
	units, err := f.units()
	if err != nil {
		return err
	}
	var called []string
	for i, name := range names {
		s, err := fitfile.Open(name, f.MaskBits, units)
		if err != nil {
			return exit.Input(err)
		}
		defer s.Close()
		row, err := f.of(s)
		if err != nil {
			return err
		}
		r, err := s.Raw(row)
		if err != nil {
			return exit.Input(err)
		}
		t, err := f.taking(i, len(names))
		if err != nil {
			return err
		}
		base := filepath.Base(name)
		arm, ok := within(armOf(r, base), t)
		if !ok {
			return exit.With(exit.Data, fmt.Errorf("%s has no pixels in --range %s: it has those from %.6g to %.6g Angstrom", name, f.Range, r.Wave[0], r.Wave[len(r.Wave)-1]))
		}
		m.arms = append(m.arms, arm)
		if s.N > 1 {
			base = fmt.Sprintf("%s:%d", base, row+1)
		}
		if called = append(called, base); s.Told != "" {
			m.say("%s: %s.", base, s.Told)
		}
	}
	m.title = strings.Join(called, " + ")
	return f.keptOfOthers(m, names, called)
}

// armOf makes the arm of a picture of a spectrum. A pixel without a positive inverse variance counts as masked.
func armOf(r *survey.Raw, name string) viz.SpectrumArm {
	a := viz.SpectrumArm{Name: name, Wave: r.Wave, Flux: r.Flux, Err: make([]float64, len(r.Wave)), Masked: make([]bool, len(r.Wave))}
	for k, v := range r.IVar {
		a.Err[k] = math.NaN()
		if a.Masked[k] = r.Mask != nil && r.Mask[k] || !(v > 0) || math.IsInf(v, 0); v > 0 {
			a.Err[k] = 1 / math.Sqrt(v)
		}
	}
	return a
}

// within cuts an arm to the wavelengths that are asked for, and masks those that are to be left out; false if none are left.
func within(a viz.SpectrumArm, t fitfile.Taking) (viz.SpectrumArm, bool) {
	var out viz.SpectrumArm
	out.Name = a.Name
	for k, w := range a.Wave {
		if w < t.Within.From || t.Within.To > 0 && w > t.Within.To {
			continue
		}
		masked := a.Masked[k]
		for _, r := range t.Without {
			masked = masked || w >= r.From && w <= r.To
		}
		out.Wave, out.Flux, out.Err, out.Masked = append(out.Wave, w), append(out.Flux, a.Flux[k]), append(out.Err, a.Err[k]), append(out.Masked, masked)
	}
	return out, len(out.Wave) > 0
}
