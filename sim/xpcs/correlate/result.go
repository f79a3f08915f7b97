// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// perPixel returns the bytes of sums that a pixel takes.
func perPixel(delays []Delay, levels int, s Settings) int {
	n := 40
	if levels > 0 {
		n += newSparse(0, levels, s.PerLevel).bytes()
	}
	for l := levels; l <= delays[len(delays)-1].Level; l++ {
		n += (2*s.PerLevel+1+fewRows)*s.Precision/8 + 16*len(lagsAt(l, s.PerLevel))
	}
	return n
}

// prepare makes the arrays of a Result.
func (r *Result) prepare(maps *Maps, s Settings) {
	bins, static := maps.counts()
	size := make([]int, bins+1)
	for _, d := range maps.Dynamic {
		size[d]++
	}
	for b := 1; b <= bins; b++ {
		if size[b] > 0 {
			r.Bins, r.Pixels = append(r.Bins, b), append(r.Pixels, size[b])
		}
	}
	r.G2, r.Err = empty(len(r.Delay), len(r.Bins)), empty(len(r.Delay), len(r.Bins))
	r.SAXS = empty(1, static)[0]
	for k := 1; k <= s.Parts; k++ {
		if n := k * (r.Frames / s.Parts); n >= 2 {
			r.Parts = append(r.Parts, Part{n, empty(len(r.Delay), len(r.Bins)), empty(len(r.Delay), len(r.Bins))})
			r.SAXSParts = append(r.SAXSParts, empty(1, static)[0])
		}
	}
	r.Image = make([]float64, maps.Height*maps.Width)
}

func empty(rows, cols int) [][]float64 {
	all := make([][]float64, rows)
	for i := range all {
		all[i] = slices.Repeat([]float64{math.NaN()}, cols)
	}
	return all
}

// correlated fills the columns of the bins of a pass with its g2 so far. each, unless nil, is called for one delay
// after another.
func correlated[T real](r *Result, a *pass[T], g2, err [][]float64, each func(k int, b *binning) error) error {
	prog, fail := compileBinning(a.part, zeroDenominator, 1, a.s.Backend)
	if fail != nil {
		return fail
	}
	column := slices.Index(r.Bins, a.part.bins[0]+1)
	threads := min(a.s.threads(), len(r.Delay))
	if each != nil {
		threads = 1
	}
	states, errs := make([]*binning, threads), make([]error, threads)
	parallel.Do(threads, len(r.Delay), func(who, k int) {
		if a.done>>r.Delay[k].Level-r.Delay[k].Lag < 1 || errs[who] != nil {
			return
		}
		if states[who] == nil {
			states[who] = &binning{prog.NewState()}
		}
		b := states[who]
		a.averages(r.Delay[k], b)
		var g, e []float64
		if g, e, errs[who] = b.run(); errs[who] != nil {
			return
		}
		copy(g2[k][column:], g)
		copy(err[k][column:], e)
		if each != nil {
			errs[who] = each(k, b)
		}
	})
	return first(errs)
}

// averages fills the inputs of b with the means of frames, and not of their sums, over all pairs at delay d.
func (a *pass[T]) averages(d Delay, b *binning) {
	products, earlier, later := b.inputs()
	of := a.moments(d)
	for p := range a.part.pixels {
		products[p], earlier[p], later[p] = of(p)
	}
}

// moments returns a function that gives the averages of one pixel at delay d. Goroutines may share it.
func (a *pass[T]) moments(d Delay) func(p int) (products, earlier, later float64) {
	k := slices.Index(lagsAt(d.Level, a.s.PerLevel), d.Lag)
	n, span := float64(a.done>>d.Level-d.Lag), float64(int(1)<<d.Level)
	return func(p int) (x, y, z float64) {
		if a.sparse != nil && d.Level < a.sparse.levels {
			x, y, z = a.sparse.moments(p, d.Level, k, d.Lag, a.total[p])
		} else {
			total := a.total[p]
			if a.sparse != nil {
				total -= a.sparse.rest(p)
			}
			x, y, z = a.dense.moments(d.Level-a.dense.base, p, k, total)
		}
		return x / (n * span * span), y / (n * span), z / (n * span)
	}
}

// static returns the mean of each static bin of a pass, given sums over frames.
func (a *pass[T]) static(dst, sums []float64, frames int) {
	count := make([]float64, len(dst))
	for i, s := range a.part.static {
		if count[s] == 0 {
			dst[s] = 0
		}
		count[s]++
		dst[s] += sums[i]
	}
	for s, n := range count {
		if n > 0 {
			dst[s] /= n * float64(frames)
		}
	}
}

// takePart fills part k of a Result. saxs holds the sums of the pixels at the end of the part before.
func takePart[T real](r *Result, a *pass[T], k int, saxs []float64) error {
	partStatic(r, a, k, saxs)
	return correlated(r, a, r.Parts[k].G2, r.Parts[k].Err, nil)
}

// partStatic fills the static bins of a part.
func partStatic[T real](r *Result, a *pass[T], k int, saxs []float64) {
	before := 0
	if k > 0 {
		before = r.Parts[k-1].Frames
	}
	diff := make([]float64, len(saxs))
	for i, v := range a.raw {
		diff[i], saxs[i] = v-saxs[i], v
	}
	a.static(r.SAXSParts[k], diff, a.done-before)
}

// take fills a Result with a pass that has read all frames.
func take[T real](r *Result, a *pass[T]) error {
	takeIntensities(r, a)
	if err := takePixels(r, a); err != nil || !a.s.Covariance {
		return err
	}
	return a.covariances(r)
}

// takeIntensities fills what is no correlation.
func takeIntensities[T real](r *Result, a *pass[T]) {
	a.static(r.SAXS, a.raw, a.done)
	for i, p := range a.part.pixels {
		r.Image[p] = a.raw[i] / float64(a.done)
	}
	for i, v := range a.rest {
		if a.maps.Static[i] == 0 {
			r.Image[i] = v / float64(a.done)
		}
	}
	if r.Trace == nil {
		r.Trace = a.trace
		for _, v := range a.trace {
			if v == 0 {
				r.Empty++
			}
		}
	}
}

// takePixels fills g2 from the sums of pixels, and gives them to PerPixel.
func takePixels[T real](r *Result, a *pass[T]) error {
	var each func(k int, b *binning) error
	if a.s.PerPixel != nil {
		images := [3][]float64{}
		for i := range images {
			images[i] = make([]float64, len(r.Image))
		}
		each = func(k int, b *binning) error {
			for i := range images {
				for j, p := range a.part.pixels {
					images[i][p] = b.state.Input(i)[j]
				}
			}
			return a.s.PerPixel(k, images[0], images[1], images[2])
		}
	}
	return correlated(r, a, r.G2, r.Err, each)
}

// covariances fills the covariances of the bins of a pass.
func (a *pass[T]) covariances(r *Result) error {
	of := make([]func(int) (float64, float64, float64), len(r.Delay))
	for k, d := range r.Delay {
		of[k] = a.moments(d)
	}
	moments := func(p, k int) (float64, float64, float64) { return of[k](p) }
	if a.s.strays != nil {
		odd := a.s.strays.find(a.maps, r.Image, r.Trace, a.part.pixels)
		shifts(odd, a.part, len(of), moments)
		r.Strays = append(r.Strays, odd...)
	}
	return r.scatter(a.part, len(of), a.maps.Width, a.s.threads(), moments)
}
