// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

const (
	ageGroups = 256 // most groups of pixels
	ageBlocks = 32  // most blocks of time
)

// Ages keeps how C2 of a dynamic bin varies from pixel to pixel, so that g2 at any age has errors. The pixels are dealt to groups, one
// after another, and the pairs of frames to blocks of time by their middle. A group g moves C2(i, j) by
//
//	u_g(i, j) = (sum over its pixels of x_ip x_jp - C2(i, j) (x_ip + x_jp - 1)) / n
//
// with x the divided counts of Twotime, their mean over the n pixels being 1.
type Ages struct {
	Frames int
	Delays []int // delays in frames
	Blocks int
	Groups int
	// Wider is the factor by which variances are larger than those of independent pixels. It comes
	// from the number of pixels of a speckle, and from the means of static bins by which pixels are
	// divided.
	Wider  float64
	Values []float32 // sum of u_g over the pairs of a block, (delay, block, group)
}

// AgeDelays returns the delays in frames at which g2 at ages is taken from a map of some frames.
func AgeDelays(frames int) (all []int) {
	for _, d := range Delays(frames, 4) {
		all = append(all, d.Frames)
	}
	return all
}

// middles returns the smallest middle of the pairs of frames at a delay, and the one after the largest.
func (a *Ages) middles(delay int) (from, to int) { return delay / 2, a.Frames - delay + delay/2 }

// block returns the first middle of a block.
func (a *Ages) block(b int) int { return (b*a.Frames + a.Blocks - 1) / a.Blocks }

// Covariance returns the covariance of Map.Age at some of the delays, given by their places in
// Delays, row-major, and how many samples it was estimated from. A window that is narrower than a
// block gets the errors of independent frames, which are rather too large.
func (a *Ages) Covariance(age, half int, places []int) (cov []float64, samples int) {
	t := len(places)
	u := make([]float64, t*a.Groups)
	for i, k := range places {
		from, to := a.middles(a.Delays[k])
		low, high := max(age-half, from), min(age+half+1, to)
		row := u[i*a.Groups:][:a.Groups]
		for b := range a.Blocks {
			all := min(a.block(b+1), to) - max(a.block(b), from)
			part := min(a.block(b+1), high) - max(a.block(b), low)
			if part <= 0 {
				continue
			}
			weight := math.Sqrt(float64(part)/float64(all)) / float64(high-low)
			for g, v := range a.Values[(k*a.Blocks+b)*a.Groups:][:a.Groups] {
				row[g] += weight * float64(v)
			}
		}
	}
	cov = make([]float64, t*t)
	wider := a.Wider * float64(a.Groups) / float64(a.Groups-1)
	for i := range t {
		for j := range i + 1 {
			sum := 0.0
			for g, v := range u[i*a.Groups:][:a.Groups] {
				sum += v * u[j*a.Groups+g]
			}
			cov[i*t+j] = wider * sum
			cov[j*t+i] = wider * sum
		}
	}
	return cov, a.Groups
}

// ageSums adds up what Ages needs, some pixels of a bin after the other.
type ageSums struct {
	*Ages
	threads int
	level   []float64 // mean of the divided counts of each frame, below 1 where static bins have no counts
	pixels  int
	dof     float64   // pixels / (pixels - static bins)
	product []float64 // sum over pairs of the products of pixels over their levels, (delay, block, group)
	single  []float64 // sum of the divided counts over their level, (frame, group)
	sizes   []float64 // pixels of each group
	buffer  []float32
}

func newAgeSums(frames int, b *bin, level []float64, threads int) *ageSums {
	n := len(b.pixels)
	if n-len(b.count) < 2 {
		return nil // nothing scatters
	}
	a := &ageSums{Ages: &Ages{Frames: frames, Delays: AgeDelays(frames), Blocks: min(ageBlocks, frames), Groups: min(ageGroups, n)}, threads: threads, level: level, pixels: n,
		dof: float64(n) / float64(n-len(b.count))}
	a.product, a.single, a.sizes = make([]float64, len(a.Delays)*a.Blocks*a.Groups), make([]float64, frames*a.Groups), make([]float64, a.Groups)
	for i := range n {
		a.sizes[i%a.Groups]++
	}
	return a
}

// addAges takes the divided counts of width pixels of the bin, from pixel first on: those of a slab, or panels (panel of frames, pixel, frame of the panel).
func addAges[T real](a *ageSums, h *held[T], c *slab, panels []T, first, width int) {
	if a == nil {
		return
	}
	if len(a.buffer) < a.Frames*width {
		a.buffer = make([]float32, a.Frames*width)
	}
	x, groups := a.buffer, a.Groups
	parallel.Do(a.threads, (a.Frames+panel-1)/panel, func(_, k int) {
		from := k * panel
		to, n := x[from*width:], min(panel, a.Frames-from)
		if c != nil {
			h.dividedRows(to, c, from, n)
		} else {
			rowsOf(to, panels[from*width:], width, n)
		}
	})
	parallel.Do(a.threads, a.Frames, func(_, f int) {
		if a.level[f] == 0 {
			return
		}
		to := a.single[f*groups:][:groups]
		for i, v := range x[f*width:][:width] {
			to[(first+i)%groups] += float64(v) / a.level[f]
		}
	})
	fma := kernels.Ternary32(kernels.Best(), "fma")
	scaled := kernels.Ternary32(kernels.Best(), "fma_s")
	parallel.Do(a.threads, len(a.Delays), func(_, k int) {
		d := a.Delays[k]
		pair, sum := make([]float32, groups), make([]float32, groups)
		now := -1
		flush := func() {
			if now < 0 {
				return
			}
			to := a.product[(k*a.Blocks+now)*groups:][:groups]
			for g, v := range sum {
				to[(first+g)%groups] += float64(v)
			}
			clear(sum)
		}
		for i := 0; i+d < a.Frames; i++ {
			if b := (i + d/2) * a.Blocks / a.Frames; b != now {
				flush()
				now = b
			}
			level := a.level[i] * a.level[i+d]
			if level == 0 {
				continue
			}
			clear(pair)
			p, q := x[i*width:][:width], x[(i+d)*width:][:width]
			for at := 0; at < width; at += groups {
				fma(&pair[0], &p[at], &q[at], &pair[0], min(groups, width-at))
			}
			weight := float32(1 / level)
			scaled(&sum[0], &pair[0], &weight, &sum[0], groups)
		}
		flush()
	})
}

// rowsOf writes the divided counts of n frames of a panel as rows of width pixels in float32.
func rowsOf[T real](to []float32, x []T, width, n int) {
	if narrow, ok := any(x).([]float32); ok {
		kernels.Transpose32(kernels.Best(), to, width, narrow, panel, width, n)
		return
	}
	for p := range width {
		for f, v := range x[p*panel:][:n] {
			to[f*width+p] = float32(v)
		}
	}
}

// done returns the result, given the finished map.
func (a *ageSums) done(c2 []float64) *Ages {
	if a == nil {
		return nil
	}
	r, groups := a.Ages, a.Groups
	r.Values = make([]float32, len(a.product))
	parallel.Do(a.threads, len(r.Delays), func(_, k int) {
		d := r.Delays[k]
		for i := 0; i+d < r.Frames; i++ {
			c := c2[i*r.Frames+i+d]
			if c == 0 {
				continue
			}
			to := a.product[(k*r.Blocks+(i+d/2)*r.Blocks/r.Frames)*groups:][:groups]
			p, q := a.single[i*groups:][:groups], a.single[(i+d)*groups:][:groups]
			for g, size := range a.sizes {
				to[g] -= c * (p[g] + q[g] - size)
			}
		}
		for i := k * r.Blocks * groups; i < (k+1)*r.Blocks*groups; i++ {
			r.Values[i] = float32(a.product[i] / float64(a.pixels))
		}
	})
	r.Wider = a.dof * r.area()
	return r
}

// area returns about how many pixels a speckle has. Pixels beside each other are in groups beside each other, so that the
// correlation of groups is that of neighbours in a row; in a column it is taken to be the same.
func (a *Ages) area() float64 {
	together := func(lag int) float64 {
		both, all := 0.0, 0.0
		for at := 0; at < len(a.Values); at += a.Groups {
			row := a.Values[at:][:a.Groups]
			for g := lag; g < len(row); g++ {
				both += float64(row[g]) * float64(row[g-lag])
			}
			for _, v := range row {
				all += float64(v) * float64(v)
			}
		}
		if all == 0 {
			return 0
		}
		return both / all * float64(a.Groups) / float64(a.Groups-lag)
	}
	chance := 3 / math.Sqrt(float64(a.Blocks*a.Groups))
	side := 1.0
	for lag := 1; lag <= min(mostReach, a.Groups/4); lag++ {
		r := together(lag)
		if r < chance {
			break
		}
		side += 2 * r
	}
	return side * side
}

// Places returns the places in Delays of the delays whose pairs reach an age.
func (a *Ages) Places(age, half int) (places []int) {
	for k, d := range a.Delays {
		if from, to := a.middles(d); max(age-half, from) < min(age+half+1, to) {
			places = append(places, k)
		}
	}
	return slices.Clip(places)
}
