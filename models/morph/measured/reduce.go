// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/tensor"
)

// Reduction says how images are reduced to curves.
type Reduction struct {
	// Wedge is the width in degrees of the wedges of I_para and I_perp, along and across the electric field. Default 90.
	Wedge float64
	// Directions makes I of bins of chi, 2 degrees wide, in place of the mean over all directions.
	Directions bool
}

// chiBins is the number of bins of chi of a reduction by directions.
const chiBins = 180

// Reduce reduces the images of a problem's files, with their masks, geometries and other settings, to curves over q: a dataset for each
// detector, with what was understood of the files. The arrays have the axes energy in eV, polarization in degrees and exposure in s, or
// system where not all combinations were measured, and q in 1/nm (and chi in degrees before it): I, the mean over all directions; I_para and
// I_perp, the means over wedges along and across the electric field; A = (I_para - I_perp)/(I_para + I_perp); each with its standard
// deviation, name_error. I is in counts per second and pixel at normal incidence, less dark counts, by the flux and by the transmission where
// the files say them; bins without pixels are NaN. Errors are those of counting, of at least one count in a bin, or of the errors in the file,
// and else the scatter of the pixels in a bin. Relative paths start from a folder.
func Reduce(p *morph.Problem, folder string, r Reduction) (list []*tensor.Dataset, read []string, err error) {
	var detectors [][]*scatter.Set
	var solidAngles []bool
	for i, f := range p.Data {
		s, err := scatter.Open(below(folder, f.File), p.Settings(folder, i))
		if err != nil {
			return nil, nil, fmt.Errorf("measured: %w", errtext.Without("measured: ", err))
		}
		if s.Kind != scatter.Images {
			return nil, nil, fmt.Errorf("measured: %s holds %s, which is reduced already: give the images that it was made from", s.Name, s.Kind)
		}
		read = append(read, s.Summary())
		for _, n := range s.Notes {
			read = append(read, "  "+n)
		}
		at := slices.IndexFunc(detectors, func(d []*scatter.Set) bool { return oneDetector(d[0], s) == nil })
		if at < 0 {
			of := p.Of(i).SolidAngle
			at, detectors, solidAngles = len(detectors), append(detectors, nil), append(solidAngles, of == nil || *of)
		}
		detectors[at] = append(detectors[at], s)
	}
	for i, sets := range detectors {
		d, err := r.of(sets, solidAngles[i])
		if err != nil {
			return nil, nil, err
		}
		list = append(list, d)
	}
	return list, read, nil
}

// of reduces the images of one detector, whose pixels may hold their solid angles.
func (r Reduction) of(sets []*scatter.Set, solidAngles bool) (*tensor.Dataset, error) {
	d := &Data{}
	d.Detector, d.Geometry = detectorOf(sets[0])
	var from []*scatter.Set
	for _, s := range sets {
		d.unite(s.Keep)
		for i := range s.Frames {
			f := &s.Frames[i]
			d.Frames = append(d.Frames, Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: f.Exposure})
			from = append(from, s)
		}
	}
	l, err := d.layOut(solidAngles)
	if err != nil {
		return nil, err
	}
	most := 0.0
	for _, e := range d.energies() {
		l.at(e)
		most = max(most, slices.Max(l.q))
	}
	w := &record{Task: &Task{}, model: &Model{Data: d}, images: make([]Image, len(d.Frames)), out: tensor.NewDataset("reduced")}
	w.lay()
	n, chis := d.ringsOf(), 1
	dims, shape := slices.Clone(w.axes), slices.Clone(w.shape)
	if r.Directions {
		chis = chiBins
		w.coordinate("chi", "deg", middles(-180, 180, chis), "chi")
		dims, shape = append(dims, "chi"), append(shape, chis)
	}
	w.coordinate("q", "1/nm", middles(0, most, n), "q")
	dims, shape = append(dims, "q"), append(shape, n)
	out := map[string][]float64{}
	names := reducedNames
	if r.Directions {
		names = names[:1]
	}
	for _, name := range names {
		out[name], out[name+"_error"] = filled(len(d.Frames)*chis*n, math.NaN()), filled(len(d.Frames)*chis*n, math.NaN())
	}
	k := 0
	for _, s := range sets {
		for i := range s.Frames {
			l.at(s.Frames[i].Energy)
			r.frame(l, s, &s.Frames[i], most, n, chis, func(name string, bin int, mean, sd float64) {
				at := w.at[k]*chis*n + bin
				out[name][at], out[name+"_error"][at] = mean, sd
			})
			k++
		}
	}
	for _, name := range names {
		unit := "counts/s"
		if name == "A" {
			unit = "1"
		}
		w.variable(name, unit, reducedWords[name], out[name], shape, dims...)
		w.variable(name+"_error", unit, "standard deviation of "+name, out[name+"_error"], shape, dims...)
	}
	return w.out, w.err
}

var reducedWords = map[string]string{
	"I": "intensity", "I_para": "intensity in wedges along the electric field", "I_perp": "intensity in wedges across the electric field",
	"A": "(I_para - I_perp)/(I_para + I_perp)",
}

// middles returns the middles of n equal parts of a range.
func middles(from, to float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + (to-from)*(float64(i)+0.5)/float64(n)
	}
	return out
}

// pool adds up what the pixels of a bin have: rates with their squares and variances, and weights.
type pool struct{ rate, square, variance, weight, pixels float64 }

// mean returns the mean of a bin and its standard deviation, NaN without pixels.
func (p pool) mean(scattered bool) (mean, sd float64) {
	if p.weight == 0 {
		return math.NaN(), math.NaN()
	}
	if mean = p.rate / p.weight; !scattered {
		return mean, math.Sqrt(p.variance) / p.weight
	}
	if p.pixels < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(max(0, p.square-p.rate*p.rate/p.pixels)*p.pixels/(p.pixels-1)) / p.weight
}

// frame reduces an image: put is called with the number of each bin, chi first.
func (r Reduction) frame(l *layout, s *scatter.Set, f *scatter.Frame, most float64, n, chis int, put func(name string, bin int, mean, sd float64)) {
	counted := s.CheckCounts() == nil && !s.DarksOff && f.Exposure > 0
	gain := one(f.Transmission)
	if !s.Rates {
		gain *= one(f.Exposure) * one(f.Flux)
	}
	all, sides := make([]pool, chis*n), [2][]pool{make([]pool, n), make([]pool, n)}
	half := cmp.Or(r.Wedge, 90) / 2
	for i, c := range f.Counts {
		if math.IsNaN(c) || l.data.Keep != nil && !l.data.Keep[i] {
			continue
		}
		rate, variance := c/gain, 0.0
		if !s.Rates {
			rate -= f.Dark / (one(f.Transmission) * one(f.Flux))
		}
		switch {
		case f.Errors != nil:
			variance = f.Errors[i] * f.Errors[i] / (gain * gain)
		case counted:
			variance = (c + f.Readout) / (gain * gain)
		}
		b := min(int(l.q[i]/most*float64(n)), n-1)
		add := func(p *pool) {
			*p = pool{p.rate + rate, p.square + rate*rate, p.variance + variance, p.weight + l.weight[i], p.pixels + 1}
		}
		chi := min(int((l.chi[i]+180)/360*float64(chis)), chis-1)
		add(&all[chi*n+b])
		switch angle := math.Abs(turn(l.chi[i], f.Polarization)); {
		case min(angle, 180-angle) <= half:
			add(&sides[0][b])
		case min(angle, 180-angle) >= 90-half:
			add(&sides[1][b])
		}
	}
	known := f.Errors != nil || counted
	meanOf := func(p pool) (mean, sd float64) {
		if counted && f.Errors == nil {
			p.variance = max(p.variance, 1/(gain*gain))
		}
		return p.mean(!known)
	}
	for b, p := range all {
		mean, sd := meanOf(p)
		put("I", b, mean, sd)
	}
	if r.Directions {
		return
	}
	for b := range n {
		along, sdAlong := meanOf(sides[0][b])
		across, sdAcross := meanOf(sides[1][b])
		put("I_para", b, along, sdAlong)
		put("I_perp", b, across, sdAcross)
		sum := along + across
		put("A", b, (along-across)/sum, 2*math.Hypot(across*sdAlong, along*sdAcross)/(sum*sum))
	}
}
