// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Spike is a run of pixels far above the model that is narrower than a line of the star could be, as a cosmic ray leaves
// it. The fit does not use these pixels.
type Spike struct {
	Spectrum   int // place in Star.Spectra
	Arm        string
	From, To   int     // pixels From to To-1
	Wavelength float64 // wavelength of the highest pixel, in Angstrom
	Height     float64 // height of the highest pixel above the model, in its standard deviations
	// Line is the line whose place the spike has, in the frame of the star or of the observer, so that it may be emission;
	// empty for other places.
	Line string
}

// What makes a spike.
const (
	// spikeHeight is the height of a spike, and spikeFoot that of the pixels beside its top that belong to it, in standard
	// deviations or, if that is more, in the typical size of the residuals: of 1e4 pixels of noise, none is as high in 1e5 spectra.
	spikeHeight, spikeFoot = 6, 3
	// spikeWidth is the largest number of pixels that reach half of the height, and spikeLength that of the whole run.
	spikeWidth, spikeLength = 4, 12
	// spikeDip is how deep the pixels beside a spike may lie below the model, as part of its height. A line of the model that
	// is in the wrong place leaves residuals of both signs.
	spikeDip = 0.4
	// mostSpiky is the share of the pixels of a spectrum above which they are no spikes but the signs of a wrong model.
	mostSpiky = 0.1
)

// spikes returns the spikes of a star, given the fit of what is left of it.
func (f *Fitter) spikes(star *Star, fit *Fit) (all []Spike) {
	_, of := f.exposures(star)
	for k := range star.Spectra {
		found := spikesOf(&star.Spectra[k], fit.Spectra[k].Model, f.s.Floor[star.Spectra[k].Arm])
		pixels := 0
		for i := range found {
			found[i].Spectrum = k
			found[i].Line = lineAt(&star.Spectra[k], found[i].Wavelength, fit.X[of[k]])
			pixels += found[i].To - found[i].From
		}
		if float64(pixels) <= mostSpiky*float64(len(star.Spectra[k].Lam)) {
			all = append(all, found...)
		}
	}
	return all
}

// spikesOf returns the spikes of a spectrum above a model, in the order of the pixels.
func spikesOf(x *Spectrum, model []float64, floor float64) (list []Spike) {
	n := len(x.Lam)
	z, sizes := make([]float64, n), make([]float64, 0, n)
	typicalErr := median(x.Err)
	for i := range z {
		if x.Bad != nil && x.Bad[i] || x.Err[i] >= hidden*typicalErr {
			continue
		}
		z[i] = (x.Flux[i] - model[i]) / math.Hypot(x.Err[i], floor)
		sizes = append(sizes, math.Abs(z[i]))
	}
	if len(sizes) < 10 {
		return nil
	}
	typical := max(1, median(sizes)/0.6745)
	order := make([]int, 0, 8)
	for i, v := range z {
		if v > spikeHeight*typical {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(z[b], z[a]), a-b) })
	taken := make([]bool, n)
	reach := func(top int, level float64) (from, to int) {
		for from = top; from > 0 && z[from-1] >= level; from-- {
		}
		for to = top + 1; to < n && z[to] >= level; to++ {
		}
		return from, to
	}
	for _, top := range order {
		if taken[top] {
			continue
		}
		from, to := reach(top, z[top]/2)
		width := to - from
		from, to = reach(top, min(spikeFoot*typical, z[top]/2))
		for i := from; i < to; i++ {
			taken[i] = true
		}
		deepest := 0.0
		for i := max(0, from-3); i < min(n, to+3); i++ {
			deepest = min(deepest, z[i])
		}
		if width > spikeWidth || to-from > spikeLength || deepest < -spikeDip*z[top] {
			continue
		}
		list = append(list, Spike{Arm: x.Arm, From: from, To: to, Wavelength: x.Lam[top], Height: z[top]})
	}
	slices.SortFunc(list, func(a, b Spike) int { return a.From - b.From })
	return list
}

// median returns the upper median of numbers.
func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

// without returns a star whose spikes are masked.
func (star *Star) without(spikes []Spike) Star {
	out := *star
	out.Spectra = slices.Clone(star.Spectra)
	out.spikes = spikes
	for _, s := range spikes {
		x := &out.Spectra[s.Spectrum]
		if own := &star.Spectra[s.Spectrum]; &x.Err[0] == &own.Err[0] {
			x.Err = slices.Clone(x.Err)
			if x.Bad = slices.Clone(x.Bad); x.Bad == nil {
				x.Bad = make([]bool, len(x.Lam))
			}
		}
		large := median(star.Spectra[s.Spectrum].Err)
		for i := s.From; i < s.To; i++ {
			x.Bad[i], x.Err[i] = true, 1e5*(large+math.Abs(x.Flux[i]))
		}
	}
	return out
}

// sameSpikes reports whether two lists have the same pixels.
func sameSpikes(a, b []Spike) bool {
	return slices.EqualFunc(a, b, func(s, t Spike) bool { return s.Spectrum == t.Spectrum && s.From == t.From && s.To == t.To })
}

// KindSpikes is the kind of the note on pixels that were left out as spikes, and KindEmission that of the flag of spikes that
// may be emission lines.
const (
	KindSpikes   = "spikes"
	KindEmission = "emission"
)

// saySpikes says what was left out of a fit.
func saySpikes(spikes []Spike) (out []check.Alteration) {
	var plain, lines []Spike
	for _, s := range spikes {
		if s.Line == "" {
			plain = append(plain, s)
		} else {
			lines = append(lines, s)
		}
	}
	if n, text := listSpikes(plain); n > 0 {
		out = append(out, check.Alteration{Kind: KindSpikes, Count: n, Note: true,
			Text: fmt.Sprintf("%s above the model, in runs as narrow as cosmic rays leave, %s left out: %s", errtext.Count(n, "pixel"), errtext.Agree(n, "was", "were"), text)})
	}
	if n, text := listSpikes(lines); n > 0 {
		out = append(out, check.Alteration{Kind: KindEmission, Count: n,
			Text:   fmt.Sprintf("%s above the model, at places where emission lines may be, %s left out: %s", errtext.Count(n, "pixel"), errtext.Agree(n, "was", "were"), text),
			Remedy: "look at these pixels: if they are emission, the templates lack it, and if they are cosmic rays, mask them in the data"})
	}
	return out
}

// listSpikes returns the number of pixels of spikes, and where the highest of them are.
func listSpikes(spikes []Spike) (pixels int, text string) {
	for _, s := range spikes {
		pixels += s.To - s.From
	}
	highest := slices.Clone(spikes)
	slices.SortStableFunc(highest, func(a, b Spike) int { return cmp.Compare(b.Height, a.Height) })
	var list []string
	for i, s := range highest[:min(8, len(highest))] {
		sd := ""
		if i == 0 {
			sd = " standard deviations"
		}
		of := ""
		if s.Line != "" {
			of = ", " + s.Line
		}
		list = append(list, fmt.Sprintf("%.1f Å (%+.3g%s%s)", s.Wavelength, s.Height, sd, of))
	}
	if more := len(highest) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more places", more))
	}
	return pixels, strings.Join(list, ", ")
}
