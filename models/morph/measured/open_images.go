// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/scatter"
)

func init() { kinds[scatter.Images] = images }

// images makes data of the pixels of a detector: counts, or rates with errors, from which counts are recovered where the two give them
// back.
func images(set *scatter.Set, r Reading) (*Data, []string, error) {
	d := &Data{Keep: set.Keep, Bin: r.Bin}
	d.Detector, d.Geometry = detectorOf(set)
	counts := set.CheckCounts()
	if counts == nil && (r.Loss == "" || noises[r.Loss].whole) {
		for _, f := range set.Frames {
			if f.Exposure == 0 {
				return nil, nil, fmt.Errorf(`measured: %s does not say the exposure of the pattern at %g eV: give it with "exposure" in s`, set.Name, f.Energy)
			}
			g := Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: f.Exposure, Flux: f.Flux, Transmission: f.Transmission, Dark: f.Dark, Counts: f.Counts, Noise: r.Loss}
			if f.Readout > 0 { // counts with normal noise have about the mean, variance and skewness of counts that are more by its variance
				g.Offsets = filled(len(f.Counts), f.Readout)
			}
			d.Frames = append(d.Frames, g)
		}
		return d, nil, nil
	}
	if r.Loss != "" && noises[r.Loss].whole {
		return nil, nil, fmt.Errorf("measured: the counts cannot be compared: %w", counts)
	}
	if r.Loss == "" && set.DarksOff {
		return estimated(d, set), []string{"errors estimated from the residuals, with a variance in proportion to the mean"}, nil
	}
	var notes []string
	recovered := r.Loss == ""
	for i := range set.Frames {
		f := &set.Frames[i]
		if counts == nil && noises[r.Loss].errors && f.Errors == nil {
			return nil, nil, fmt.Errorf(`measured: the counts of %s have no errors, which "loss": %q needs: leave it out to compare them by their Poisson distribution, or give errors as dI`, set.Name, r.Loss)
		}
		if (counts == nil || set.DarksOff) && f.Exposure > 0 && r.Loss != "" {
			d.Frames = append(d.Frames, countsBy(r.Loss, f))
			continue
		}
		more, ok := rateFrames(f, set, r)
		if more == nil {
			return nil, nil, fmt.Errorf(`measured: the rates of %s have no errors: give them as dI, or choose "loss": "quasi", which finds them from the residuals: %w`, set.Name, counts)
		}
		recovered = recovered && ok
		d.Frames = append(d.Frames, more...)
	}
	switch zeros := zeroErrors(set); {
	case recovered:
		notes = append(notes, "the rates and their errors give back whole counts, which are compared by their Poisson distribution")
	case r.Loss == "" && zeros > 0:
		notes = append(notes, fmt.Sprintf("%d pixels have an error of 0: where the exposure is known their variance is that of the model, and else they are left out", zeros))
	}
	return d, notes, nil
}

// estimated makes data of images from which darks were taken off, whose errors are found from the residuals. Darks scatter too: by as much
// as the numbers below 0 are off.
func estimated(d *Data, set *scatter.Set) *Data {
	for _, f := range set.Frames {
		square, n := 0.0, 0.0
		for i, x := range f.Counts {
			if x < 0 && (set.Keep == nil || set.Keep[i]) {
				square, n = square+x*x, n+1
			}
		}
		bare := Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: cmp.Or(f.Exposure, 1), Transmission: f.Transmission, Flux: f.Flux, Counts: f.Counts, Noise: "quasi"}
		if n > 0 {
			bare.Offsets = filled(len(f.Counts), square/n)
		}
		d.Frames = append(d.Frames, bare)
	}
	return d
}

// countsBy makes a frame of what was counted in the exposure, to be compared by a likelihood that was asked for.
func countsBy(loss string, f *scatter.Frame) Frame {
	return Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: f.Exposure, Flux: f.Flux, Transmission: f.Transmission, Dark: f.Dark, Counts: f.Counts, Errors: f.Errors, Noise: loss}
}

func zeroErrors(set *scatter.Set) (n int) {
	for _, f := range set.Frames {
		for i, e := range f.Errors {
			if e == 0 && !math.IsNaN(f.Counts[i]) {
				n++
			}
		}
	}
	return n
}

// rateFrames returns the frames that a frame of rates is compared as, and whether its counts were recovered; none if it has no errors
// where it needs them.
func rateFrames(f *scatter.Frame, set *scatter.Set, r Reading) ([]Frame, bool) {
	bare := Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: cmp.Or(f.Exposure, 1), Transmission: f.Transmission}
	if f.Errors != nil && f.Exposure > 0 && r.Loss == "" {
		if counts := recoveredCounts(f); counts != nil {
			bare.Counts, bare.Flux, bare.Dark = counts, f.Flux, f.Dark
			return []Frame{bare}, true
		}
	}
	bare.Counts, bare.Noise, bare.Gains = f.Counts, cmp.Or(r.Loss, "gaussian"), ones(len(f.Counts))
	bare.Errors = f.Errors
	if noises[bare.Noise].errors && f.Errors == nil {
		return nil, false
	}
	if r.Loss != "" || f.Exposure == 0 {
		return []Frame{bare}, false
	}
	// Where nothing was counted, the variance is that which the model expects.
	gain := f.Exposure * one(f.Flux)
	empty := Frame{Energy: f.Energy, Angle: f.Polarization, Exposure: f.Exposure, Transmission: f.Transmission, Noise: "scaled", Counts: filled(len(f.Counts), math.NaN()),
		Gains: filled(len(f.Counts), gain), Offsets: filled(len(f.Counts), f.Dark*f.Exposure)}
	any := false
	for i, e := range f.Errors {
		if e == 0 && !math.IsNaN(f.Counts[i]) {
			empty.Counts[i], any = f.Counts[i]*gain, true
		}
	}
	if !any {
		return []Frame{bare}, false
	}
	return []Frame{bare, empty}, false
}

func ones(n int) []float64 { return filled(n, 1) }

// recoveredCounts returns the counts of a frame of rates I with the errors sqrt(counts)/(t u), where u is 1 or the flux, and nil if it is
// no such frame. Dark counts may have been taken off or not.
func recoveredCounts(f *scatter.Frame) []float64 {
	for _, u := range []float64{one(f.Flux), 1} {
		for _, dark := range []float64{f.Dark, 0} {
			w := f.Exposure * u
			out, wrong, n := make([]float64, len(f.Counts)), 0, 0
			for i, x := range f.Counts {
				if math.IsNaN(x) || math.IsNaN(f.Errors[i]) {
					out[i] = math.NaN()
					continue
				}
				c := f.Errors[i] * w
				c *= c
				out[i] = math.Round(c)
				n++
				tolerance := max(1e-3, 1e-6*c)
				if math.Abs(c-out[i]) > tolerance || math.Abs(x*w+dark*f.Exposure-c) > max(tolerance, 1e-5*c) {
					wrong++
				}
			}
			if n > 0 && wrong*1000 < n {
				return out
			}
		}
	}
	return nil
}
