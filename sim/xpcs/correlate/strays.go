// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// Stray is the largest reading of a pixel if no statistics of photons make it, as of a cosmic ray or of a pixel that is hot for some frames. The
// chance of n counts is at most (m/(1+m))^n, that of intensities with an exponential distribution, in which m is the largest of the means of its pixel
// in the other frames, of its static bin and of its dynamic bin, times how much brighter its frame is. A stray reading has a chance below 1e-6 after
// the number of all readings, and is twice as large as the largest readings of most pixels of its bin. Frames in which the pixel is that bright are left
// out of its mean where they are a twentieth of the movie at most.
//
// Reference: J. W. Goodman 2007, Speckle Phenomena in Optics, chapter 4 (counts of exponential intensities have a geometric distribution).
type Stray struct {
	Bin, Frame, Pixel int     // dynamic bin from 1, frame of the selection from 0, and place as row * width + column
	Counts            float64 // counts that were read
	Frames            int     // frames in which the pixel stands out, this one among them, a rough number; many show a pixel that is hot for a while
	Mean              float64 // mean counts of the pixel in the other frames

	// Shift is what the pixels with stray readings change in g2 of the bin where that is largest, compared with its standard error without them; Delay
	// is the place of that delay in Result.Delay, and Errors is Shift in such standard errors. Shift and Errors are NaN, and Delay is 0, where g2 is not known.
	Shift  float64
	Delay  int
	Errors float64

	// Entries is about how many standard errors the reading changes the entries of its frame in the two-time correlation of the bin, if counts scatter
	// as photons do: the reading over the square root of the counts of the bin in a frame, and at most that square root over the number of its static bins.
	Entries float64
}

const (
	usualReading = 4       // readings up to this many counts are not looked at
	strayFactor  = 2       // times the largest reading of most pixels of a bin, or of those around a pixel
	strayChance  = 13.82   // -log(1e-6)
	strayShare   = 0.05    // share of the frames up to which bright ones are left out of the mean of their pixel
	strayPiece   = 1 << 14 // pixels that one goroutine looks at
	strayGroup   = 64      // pixels around a pixel, with it
)

// strays keeps the largest reading of each pixel. Readings below that of half of the pixels around are left out, as of them no stray reading is made:
// so few are left that looking takes a small part of the time of a correlation.
type strays struct {
	threads int
	average float64
	valid   []bool // of each pixel: whether it is in a static bin
	largest []float32
	frame   []int32
	times   []int32   // of each pixel: frames with readings over strayFactor times least
	sum     []float32 // of these readings
	least   []float32 // of each group of pixels: readings up to this are left out
	seen    int       // frames that were looked at
	unit    float64   // smallest reading above 0 that photons have seen, in counts
}

func newStrays(maps *Maps, s Settings) *strays {
	n := len(maps.Dynamic)
	v := &strays{threads: s.threads(), average: float64(max(s.Average, 1)), valid: make([]bool, n), largest: make([]float32, n), frame: make([]int32, n), times: make([]int32, n), sum: make([]float32, n), least: make([]float32, (n+strayGroup-1)/strayGroup), unit: math.Inf(1)}
	for p, b := range maps.Static {
		v.valid[p] = b > 0
	}
	for g := range v.least {
		v.raise(g)
	}
	return v
}

// raise takes the median of the largest readings of the pixels of a group in bins for what is left out of it.
func (v *strays) raise(g int) {
	var all [strayGroup]float32
	of := all[:0]
	for p := g * strayGroup; p < min((g+1)*strayGroup, len(v.valid)); p++ {
		if v.valid[p] {
			of = append(of, v.largest[p])
		}
	}
	if len(of) == 0 {
		v.least[g] = math.MaxFloat32
		return
	}
	slices.Sort(of)
	v.least[g] = max(of[len(of)/2], v.usual())
	for p := g * strayGroup; p < min((g+1)*strayGroup, len(v.valid)); p++ {
		if v.largest[p] <= strayFactor*v.least[g] {
			v.times[p], v.sum[p] = 0, 0
		}
	}
}

// usual returns the reading above which pixels are looked at, in the units of the movie.
func (v *strays) usual() float32 { return float32(usualReading / v.average) }

// fresh returns how many of n frames from first on have been looked at; n if earlier ones are still to come.
func (v *strays) fresh(first, n int) int {
	if first > v.seen {
		return n
	}
	old := min(v.seen-first, n)
	v.seen = max(v.seen, first+n)
	return old
}

// dense looks at frames that follow each other.
func (v *strays) dense(first int, frames []float32) {
	size := len(v.largest)
	n := len(frames) / size
	old := v.fresh(first, n)
	parallel.Do(v.threads, (size+strayPiece-1)/strayPiece, func(_, i int) {
		for f := old; f < n; f++ {
			frame := frames[f*size:][:size]
			for from := i * strayPiece; from < min((i+1)*strayPiece, size); from += strayGroup {
				if group := frame[from:min(from+strayGroup, size)]; over(group, v.least[from/strayGroup]) {
					v.look(first+f, from, group)
				}
			}
			if t := first + f + 1; t&(t-1) == 0 {
				for g := i * strayPiece / strayGroup; g < min((i+1)*strayPiece/strayGroup, len(v.least)); g++ {
					v.raise(g)
				}
			}
		}
	})
}

// over reports whether a reading is above a positive number, or is not a number. Bits of positive numbers are in their order, and those of
// negative ones are negative integers.
func over(readings []float32, least float32) bool {
	bits := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(readings))), len(readings))
	var a, b, c, d int32
	for ; len(bits) >= 4; bits = bits[4:] {
		a, b, c, d = max(a, bits[0]), max(b, bits[1]), max(c, bits[2]), max(d, bits[3])
	}
	for _, x := range bits {
		a = max(a, x)
	}
	return max(a, b, c, d) > int32(math.Float32bits(least))
}

// look takes the readings of some pixels, from one on, in a frame.
func (v *strays) look(frame, from int, readings []float32) {
	least := v.least[from/strayGroup]
	for p, x := range readings {
		if p += from; x > least && v.valid[p] {
			v.take(frame, p, x, least)
		}
	}
}

// take takes a reading of a pixel, given that up to which readings are left out.
func (v *strays) take(frame, pixel int, x, least float32) {
	if x > v.largest[pixel] {
		v.largest[pixel], v.frame[pixel] = x, int32(frame)
	}
	if x > strayFactor*least {
		v.times[pixel]++
		v.sum[pixel] += x
	}
}

// sparse looks at the events of n frames.
func (v *strays) sparse(first, n int, e *Events) {
	usual := v.usual()
	for f := v.fresh(first, n); f < n; f++ {
		for i, x := range e.Count[e.Start[f]:e.Start[f+1]] {
			if x > usual {
				v.take(first+f, int(e.Pixel[e.Start[f]+i]), x, usual)
			}
		}
	}
}

// lit adds up the means of pixels.
type lit struct{ sum, pixels float64 }

func (l lit) with(mean float64) lit { return lit{l.sum + mean, l.pixels + 1} }

// mean returns the mean of the pixels, 0 if there are none.
func (l lit) mean() float64 { return l.sum / max(l.pixels, 1) }

// find returns the stray readings of some pixels, given the mean of each pixel of the detector and of each frame over the pixels of static bins.
func (v *strays) find(maps *Maps, image, trace []float64, pixels []int32) (all []Stray) {
	frames := float64(len(trace))
	unit := v.unit
	if math.IsInf(unit, 1) {
		unit = 1
	}
	bins := map[int32][]float64{} // largest readings
	for _, p := range pixels {
		if b := maps.Dynamic[p]; b > 0 {
			bins[b] = append(bins[b], max(float64(v.largest[p])*v.average, usualReading*unit))
		}
	}
	high := map[int32]float64{}
	for b, of := range bins {
		slices.Sort(of)
		high[b] = strayFactor * of[len(of)/2]
	}
	var odd []int32
	static, dynamic, owner := map[int32]lit{}, map[int32]lit{}, map[int32]int32{}
	for _, p := range pixels {
		b, s := maps.Dynamic[p], maps.Static[p]
		if b == 0 {
			continue
		}
		if float64(v.largest[p])*v.average > high[b] {
			odd = append(odd, p)
			continue
		}
		owner[s] = b
		static[s], dynamic[b] = static[s].with(image[p]*v.average), dynamic[b].with(image[p]*v.average)
	}
	if len(odd) == 0 {
		return nil
	}
	parts := map[int32]float64{} // number of static bins
	for s := range static {
		parts[owner[s]]++
	}
	valid := 0.0
	for _, s := range maps.Static {
		if s > 0 {
			valid++
		}
	}
	others := slices.Clone(trace) // without the readings that stand out
	for _, p := range odd {
		others[v.frame[p]] -= float64(v.largest[p]) / valid
	}
	usual := 0.0
	for _, x := range others {
		usual += x / frames
	}
	readings := math.Log(frames*valid) + strayChance
	for _, p := range odd {
		n, f := float64(v.largest[p])*v.average, int(v.frame[p])
		times, sum := float64(v.times[p]), float64(v.sum[p])*v.average
		if times > strayShare*frames || times <= 1 {
			times, sum = 1, n
		}
		own := max(image[p]*v.average*frames-sum, 0) / max(frames-times, 1)
		d := dynamic[maps.Dynamic[p]]
		mean := max(own, static[maps.Static[p]].mean(), d.mean())
		if brighter := others[f] / usual; brighter > 1 {
			mean *= brighter
		}
		if n > unit*readings/math.Log1p(unit/mean) {
			all = append(all, Stray{Bin: int(maps.Dynamic[p]), Frame: f, Pixel: int(p), Counts: n, Frames: int(max(v.times[p], 1)), Mean: own, Shift: math.NaN(), Errors: math.NaN(), Entries: entries(n, d, parts[maps.Dynamic[p]])})
		}
	}
	slices.SortFunc(all, func(a, b Stray) int {
		return cmp.Or(cmp.Compare(a.Bin, b.Bin), cmp.Compare(b.Counts, a.Counts), cmp.Compare(a.Pixel, b.Pixel))
	})
	return all
}

// entries returns Entries of a reading in a bin with a number of static bins.
func entries(counts float64, bin lit, static float64) float64 {
	usual := math.Sqrt(max(bin.sum, 1))
	return min(counts/usual, usual/max(static, 1))
}

// everywhere returns the pixels of static bins.
func (m *Maps) everywhere() (pixels []int32) {
	for i, b := range m.Static {
		if b > 0 {
			pixels = append(pixels, int32(i))
		}
	}
	return pixels
}

// shifts fills what stray readings of the bins of a part change in g2, given the averages of pixel p of the part at delay k.
func shifts(all []Stray, p part, delays int, moments func(p, k int) (products, earlier, later float64)) {
	for i, b := range p.members() {
		bin := p.bins[i] + 1
		odd := map[int]bool{}
		for _, s := range all {
			if s.Bin == bin {
				odd[s.Pixel] = true
			}
		}
		if len(odd) == 0 {
			continue
		}
		out := make([]bool, len(b.pixels))
		for j, at := range b.pixels {
			out[j] = odd[int(p.pixels[at])]
		}
		shift, delay, errors := b.largestShift(out, delays, moments)
		for j := range all {
			if s := &all[j]; s.Bin == bin {
				s.Shift, s.Delay, s.Errors = shift, delay, errors
			}
		}
	}
}

// largestShift returns by how much pixels that are out change g2 of a bin, where that is most standard errors of g2 without them, and how many.
func (b bin) largestShift(out []bool, delays int, moments func(p, k int) (products, earlier, later float64)) (shift float64, delay int, errors float64) {
	shift, errors = math.NaN(), math.NaN()
	all, rest := make([][4]float64, len(b.count)), make([][4]float64, len(b.count))
	for k := range delays {
		clear(all)
		clear(rest)
		for j, p := range b.pixels {
			x, y, z := moments(p, k)
			add := func(to *[4]float64) { to[0], to[1], to[2], to[3] = to[0]+x, to[1]+y, to[2]+z, to[3]+1 }
			if add(&all[b.static[j]]); !out[j] {
				add(&rest[b.static[j]])
			}
		}
		var with, without, bins float64
		for s := range all {
			if a, r := all[s], rest[s]; r[1]*r[2] > 0 {
				with, without, bins = with+a[0]*a[3]/(a[1]*a[2]), without+r[0]*r[3]/(r[1]*r[2]), bins+1
			}
		}
		variance := 0.0
		for j, p := range b.pixels {
			if r := rest[b.static[j]]; !out[j] && r[0] > 0 && r[1]*r[2] > 0 {
				x, y, z := moments(p, k)
				e := r[0] * r[3] / (r[1] * r[2]) * (x/r[0] - y/r[1] - z/r[2] + 1/r[3]) / bins
				variance += e * e
			}
		}
		if by := (with - without) / bins; variance > 0 && !(math.Abs(by)/math.Sqrt(variance) <= errors) {
			shift, delay, errors = by, k, math.Abs(by)/math.Sqrt(variance)
		}
	}
	return shift, delay, errors
}
