// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Result is a multi-tau correlation. Rows of G2 and Err are delays, columns the dynamic bins that
// have pixels.
type Result struct {
	Frames int     // number of frames, after selection
	Delay  []Delay // delays in frames after selection
	Bins   []int   // numbers of the dynamic bins in the columns, from 1, ascending
	Pixels []int   // number of pixels of each of Bins
	G2     [][]float64
	// Err is the standard error of G2 from the scatter of P/(A B) of single pixels. With Settings.Photons, the statistics of counts take its place
	// where photons are so few that the scatter cannot tell it; see Coincidences.
	Err [][]float64
	// Coincidences is the number of pairs of photons in two frames of a pixel that are expected for each of G2 if nothing correlates, if Photons were
	// asked for and a photon is known: g2 has an error of at least one over its square root.
	Coincidences [][]float64
	// Cov is the covariance of the points of each bin, row-major (delay, delay), if it was asked
	// for. Its diagonal is not Err squared: Err also contains the scatter of the normalisation of
	// single pixels.
	Cov [][]float64
	// Skew is the first-order bias that the skewness of pixels gives to a fit weighted by Cov, with
	// its sign changed: (bin, delay). Fits add it to G2; it matters for bins of a few thousand
	// pixels. It is nil for a bin whose covariance is not positive definite.
	Skew [][]float64
	// Area is the factor by which the variances in Cov are larger than if pixels were independent,
	// about the number of pixels of a speckle; 1 where neighbours do not move together beyond
	// chance.
	Area []float64
	// Samples is the number of independent pixels of equal weight that would estimate Cov as well as the pixels of the bin do. Where
	// static bins differ much in size, those of few pixels decide, and it is smaller than Pixels / Area.
	Samples []float64
	Parts   []Part

	Trace []float64 // mean of the pixels in static bins of each frame
	// SAXS is the mean of each static bin over all frames, from bin 1 on; NaN for a bin without pixels.
	SAXS      []float64
	SAXSParts [][]float64 // the same as SAXS for each of Parts alone, from the end of the part before
	Image     []float64   // mean of each pixel, (Height, Width), masked ones included
	Empty     int         // number of frames without any count
	// Photons holds the noise of the counts in each dynamic bin, if it was asked for; nil if the values are not whole
	// numbers of counts.
	Photons []PhotonNoise
	// Strays lists the single readings that no statistics of photons make, if Photons were asked for: the largest of a pixel, ordered by bin and, from
	// the largest on, by counts. What they change in g2 is known where the covariance was asked for.
	Strays []Stray
	// Flat is a frame in which all pixels read the same number, far above those of the other frames, if Photons were asked for; nil if there is none.
	Flat   *Flat
	Passes int // number of times that the movie was read
	Sparse int // number of levels that worked on lists of events
}

// Part is the result for the first Frames frames. Delays that those do not reach are NaN.
type Part struct {
	Frames  int
	G2, Err [][]float64
}

// Multitau computes g2 of every dynamic bin, with symmetric normalisation, at the delays of Delays:
// at level l frames are summed over 2^l,
//
//	P = <I(i) I(i+t)>, A = <I(i)>, B = <I(i+t)> over the pairs of summed frames i
//	g2 = mean over static bins of <P>/(<A> <B>), averages over the pixels of a static bin
//
// It reads the movie once for each group of bins that MaxBytes allows, and returns the context's
// error when the context ends. A frame with pixels in bins that are not finite numbers is reported
// as a *FrameError.
//
// Reference: K. Schätzel, M. Drewel, S. Stimac, doi:10.1080/09500348814550731; D. Lumma et al.,
// doi:10.1063/1.1287637 (errors from pixels).
func Multitau(ctx context.Context, m Movie, maps Maps, s Settings) (*Result, error) {
	s = s.defaults()
	if err := m.check(); err != nil {
		return nil, err
	}
	m, err := m.Select(s.Selection)
	if err != nil {
		return nil, err
	}
	if err := maps.check(m); err != nil {
		return nil, err
	}
	if s.Parts < 0 || s.Parts > m.Frames/2 {
		return nil, tooManyParts(s.Parts, m.Frames)
	}
	if s.Precision != 32 && s.Precision != 64 {
		return nil, fmt.Errorf("correlate: the precision is %d bits: want 32 or 64", s.Precision)
	}
	if !s.Photons {
		return multitauOf(ctx, m, &maps, s)
	}
	m, seen := m.watch(&maps, s)
	s.strays = seen.strays
	r, err := multitauOf(ctx, m, &maps, s)
	if err != nil {
		return nil, err
	}
	r.Flat = seen.strays.flat(r.Trace)
	r.Photons = seen.done(r.Flat)
	if unit := seen.strays.unit / seen.average; !math.IsInf(unit, 1) {
		r.counted(&maps, unit)
	}
	slices.SortStableFunc(r.Strays, func(a, b Stray) int { return a.Bin - b.Bin }) // GPUs share the bins
	if !s.Covariance {
		r.Strays = seen.strays.find(&maps, r.Image, r.Trace, maps.everywhere())
	}
	return r, nil
}

// multitauOf correlates a movie where Settings.Backend says.
func multitauOf(ctx context.Context, m Movie, maps *Maps, s Settings) (*Result, error) {
	if !ad.OnProcessor(s.Backend) {
		if r, err := multitauOnGPUs(ctx, m, maps, s); r != nil || err != nil {
			return r, err
		}
		s.Backend = ad.CPU{Threads: 1}
	}
	if s.Precision == 64 {
		return multitau[float64](ctx, m, maps, s)
	}
	return multitau[float32](ctx, m, maps, s)
}

func tooManyParts(parts, frames int) error {
	return fmt.Errorf("correlate: there are %d parts of %d frames: want at most %d, so that each has 2 frames", parts, frames, frames/2)
}

// multitau begins anew with fewer levels of event lists when a movie turns out to have more events than the frames that were looked
// at: lists of them would need more memory than frames.
func multitau[T real](ctx context.Context, m Movie, maps *Maps, s Settings) (*Result, error) {
	occupied, err := occupancy(m)
	if err != nil {
		return nil, err
	}
	told, progress := 0, s.Progress
	s.Progress = func(done, all int) { // never backwards
		if done > told {
			told = done
			progress(done, all)
		}
	}
	for delays := Delays(m.Frames, s.PerLevel); ; {
		levels, block := layout(m, occupied, s, delays)
		r, err := multitauWith[T](ctx, m, maps, s, levels, block)
		var c *crowded
		if !errors.As(err, &c) {
			return r, err
		}
		occupied, s.levels = float64(c.events)/float64(c.frames*m.Height*m.Width), 0
		fewer, _ := layout(m, occupied, s, delays)
		if s.levels = min(fewer, levels-1); s.levels < 2 {
			s.levels = -1
		}
	}
}

func multitauWith[T real](ctx context.Context, m Movie, maps *Maps, s Settings, levels, block int) (*Result, error) {
	r := &Result{Frames: m.Frames, Delay: Delays(m.Frames, s.PerLevel), Sparse: levels}
	parts := maps.parts(int(min(s.MaxBytes/int64(perPixel(r.Delay, levels, s)), math.MaxInt32)))
	if s.PerPixel != nil && len(parts) > 1 {
		return nil, fmt.Errorf("correlate: the sums of every pixel do not fit into %d bytes: allow more memory, or do not ask for the sums", s.MaxBytes)
	}
	r.Passes = len(parts)
	r.prepare(maps, s)
	for i, p := range parts {
		a, err := newPass[T](m, maps, p, levels, s)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			a.rest = make([]float64, m.Height*m.Width)
		}
		before := i * m.Frames
		progress := func(int) { s.Progress(before+a.done, len(parts)*m.Frames) }
		saxs := make([]float64, len(a.raw))
		for k := range r.Parts {
			if err := a.run(ctx, r.Parts[k].Frames, block, progress); err != nil {
				return nil, err
			}
			if err := takePart(r, a, k, saxs); err != nil {
				return nil, err
			}
		}
		if err := a.run(ctx, m.Frames, block, progress); err != nil {
			return nil, err
		}
		if err := take(r, a); err != nil {
			return nil, err
		}
	}
	if err := r.large(m, s); err != nil {
		return nil, err
	}
	return r, r.finite(s.Precision)
}

// leastReading is the size of readings below which numbers of 32 bits do not hold their products: these are below 1e-32, and numbers of 32 bits lose
// digits from 1e-38 on.
const leastReading = 1e-16

// large returns an error if all readings are so small that numbers in which frames, or products of them, are kept lose their digits. No reading of a pixel
// is above the number of frames times its mean, nor above the number of pixels times the mean of its frame.
func (r *Result) large(m Movie, s Settings) error {
	least := leastReading
	if s.Normalize || s.Precision == 64 {
		least *= least
	}
	pixel, frame := 0.0, slices.Max(r.Trace)
	for _, v := range r.Image {
		if v > pixel { // masked pixels may not be numbers
			pixel = v
		}
	}
	top := min(pixel*float64(r.Frames), frame*float64(m.Height*m.Width))
	if !(top > 0 && top < least) {
		return nil
	}
	remedy := "normalise frames, or scale them"
	if s.Normalize {
		remedy = "scale the frames"
	}
	return fmt.Errorf("correlate: readings are %.3g at most, and sums in %d bits lose the digits of products below %.2g: %s", top, s.Precision, least*least, remedy)
}

// finite returns an error if the sums did not hold the products of the counts.
func (r *Result) finite(precision int) error {
	for k, row := range r.G2 {
		for i, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("correlate: g2 of bin %d is %g at a delay of %d frames, as counts of %.3g per pixel are beyond what sums in %d bits hold: normalise frames, or scale them", r.Bins[i], v, r.Delay[k].Frames, r.Trace[0], precision)
			}
		}
	}
	return nil
}
