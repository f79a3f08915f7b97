// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"math/bits"
	"slices"
)

// photons compares the counts of pixels in neighbouring frames. If both frames of a pixel have k and l counts of Poisson's distribution, k
// given the sum s = k + l is binomial with p, the share of the first frame in the counts M of all pixels of both, which makes
//
//	z^2 = (k - s p)^2 / (s p (1 - p) (M - s)/(M - 1))
//
// 1 on average for every s. Speckles that move raise it, the more the brighter they are; a detector that misses counts lowers it, the more the
// brighter they are.
type photons struct {
	frames  int // of the movie
	average float64
	code    []int32 // (bin-1) * photonGroups + group of each pixel, -1 for none
	place   []int32 // of each pixel in sums: its code, or a place of its own behind them if it is bright and may be stuck
	bins    int
	pixels  []int // of each bin
	each    *pixelCounts
	strays  *strays
	numbers *readings

	next      int         // frame that is to come next
	spent     int         // pixels that were looked at, see photonBudget
	last      [2][]photon // counts of the last frames that were kept, the latest at kept%2
	totals    [2]float64  // of those of pixels that are not bright
	kept      int         // number of frames in a row that were kept
	scratch   []float64
	sums      [][]photonSum // by code and class of counts
	counts    []float64     // by bin
	looked    int           // frames
	fractions bool          // some value is no whole number of counts: nothing is said
}

// photon is the count of a pixel.
type photon struct {
	pixel int32
	count float64
}

// photonSum adds up pairs of frames with like sums of counts.
type photonSum struct{ pairs, counts, squares float64 }

const (
	photonGroups = 16      // of pixels of a bin, whose scatter gives the errors
	photonRun    = 8       // frames that are kept or left out in a row
	photonBudget = 1 << 24 // pixels that are looked at in a movie
	eventCost    = 4       // pixels in the time of an event, whose place in memory is anywhere
)

// watch returns the movie with readers that show frames to the result, in their order. Frames that are read again are not looked at again.
func (m Movie) watch(maps *Maps, s Settings) (Movie, *photons) {
	bins, _ := maps.counts()
	v := &photons{frames: m.Frames, average: float64(max(s.Average, 1)), bins: bins, code: make([]int32, len(maps.Dynamic)), pixels: make([]int, bins), scratch: make([]float64, len(maps.Dynamic)), sums: make([][]photonSum, bins*photonGroups), counts: make([]float64, bins), each: newPixelCounts(len(maps.Dynamic), bins), numbers: newReadings(len(maps.Dynamic)), strays: newStrays(maps, s)}
	for _, b := range maps.Dynamic {
		if b > 0 {
			v.pixels[b-1]++
		}
	}
	place := make([]int, bins)
	for i, b := range maps.Dynamic {
		if v.code[i] = -1; b > 0 {
			v.code[i] = (b-1)*photonGroups + int32(place[b-1]*photonGroups/v.pixels[b-1])
			place[b-1]++
		}
	}
	v.place = slices.Clone(v.code)
	out, size := m, m.Height*m.Width
	look := func(first int, frames []float32) {
		v.strays.dense(first, frames)
		for f := range len(frames) / size {
			frame := frames[f*size:][:size]
			v.frame(first+f, func(add func(int, float32)) int {
				for p, x := range frame {
					add(p, x)
				}
				return size
			})
		}
	}
	if m.Dense != nil {
		out.Dense = func(first int, dst []float32) error {
			err := m.Dense(first, dst)
			if err == nil {
				look(first, dst)
			}
			return err
		}
	}
	if m.Sparse != nil {
		out.Sparse = func(first, n int, dst *Events) error {
			err := m.Sparse(first, n, dst)
			if err == nil {
				err = checkEvents(dst, n, size, first)
			}
			if err == nil {
				v.strays.sparse(first, n, dst)
			}
			for f := 0; err == nil && f < n; f++ {
				pixels, counts := dst.Pixel[dst.Start[f]:dst.Start[f+1]], dst.Count[dst.Start[f]:dst.Start[f+1]]
				v.frame(first+f, func(add func(int, float32)) int {
					for i, p := range pixels {
						add(int(p), counts[i])
					}
					return eventCost * len(pixels)
				})
			}
			return err
		}
	}
	if raw := m.Raw; raw != nil {
		room := make([]float32, size)
		out.Raw = &Raw{raw.Type, raw.Marks, func(first int, dst []byte) error {
			err := raw.Read(first, dst)
			bytes := size * raw.size()
			for f := 0; err == nil && f < len(dst)/bytes; f++ {
				raw.into(room, dst[f*bytes:][:bytes])
				look(first+f, room)
			}
			return err
		}}
	}
	return out, v
}

// frame takes a frame, if it is the next one and if there is time for it: what is looked at is spread over the movie. values calls add for all
// pixels that are not 0, and returns how many pixels take as long.
func (v *photons) frame(number int, values func(add func(pixel int, value float32)) int) {
	if number != v.next || v.fractions {
		return
	}
	v.next++
	if number%photonRun == 0 && float64(v.spent)*float64(v.frames) > photonBudget*float64(number) {
		v.kept = 0
	} else if number%photonRun == 0 || v.kept > 0 {
		v.kept++
	}
	if v.kept == 0 {
		return
	}
	at := v.kept % 2
	list, total := v.last[at][:0], 0.0
	v.each.begin()
	v.spent += values(func(p int, x float32) {
		if x == 0 || v.code[p] < 0 {
			return
		}
		count := math.Round(float64(x) * v.average)
		if x > 0 {
			v.strays.unit = min(v.strays.unit, float64(x)*v.average)
		}
		if !(math.Abs(float64(x)*v.average-count) < 1e-3) || count < 0 {
			v.fractions = true
		}
		list = append(list, photon{int32(p), count})
		usual := v.place[p] == v.code[p]
		if usual {
			total += count
		}
		if count > 0 {
			v.numbers.add(p, count, usual)
		}
		v.counts[v.code[p]/photonGroups] += count
		v.each.add(v.code[p]/photonGroups, int32(p), count)
	})
	v.each.end()
	v.last[at], v.totals[at] = list, total
	if v.looked++; v.looked == 1 {
		v.totals[at] -= v.apart(list)
	}
	if v.kept > 1 && !v.fractions {
		v.pair(1-at, at)
	}
}

// apart gives pixels of the first frame that are far brighter than the others of their bin sums of their own, and returns their counts.
func (v *photons) apart(list []photon) (counts float64) {
	for _, n := range list {
		if b := v.code[n.pixel] / photonGroups; n.count > 3+5*v.counts[b]/float64(v.pixels[b]) {
			v.place[n.pixel] = int32(len(v.sums))
			v.sums = append(v.sums, nil)
			counts += n.count
		}
	}
	return counts
}

// together adds the sums of bright pixels to those of the others, unless they are stuck.
func (v *photons) together(stuck [][]int) {
	out := setOf(stuck)
	for p, place := range v.place {
		if code := v.code[p]; place != code && !out[p] {
			for class, s := range v.sums[place] {
				v.classOf(code, class).add(s)
			}
		}
	}
}

// fewestShared is the number of pixels with counts above which frames that are equal are taken for one that was stored twice.
const fewestShared = 30

// pair adds two of the last frames.
func (v *photons) pair(i, j int) {
	all := v.totals[i] + v.totals[j]
	p := v.totals[i] / all
	if !(p > 0.1 && p < 0.9) {
		return
	}
	if len(v.last[i]) >= fewestShared && slices.Equal(v.last[i], v.last[j]) {
		return
	}
	v.each.pair()
	for _, a := range v.last[i] {
		v.scratch[a.pixel] = a.count
	}
	for _, b := range v.last[j] {
		v.each.products[b.pixel] += v.scratch[b.pixel] * b.count
		v.add(b.pixel, v.scratch[b.pixel], b.count, p, all)
		v.scratch[b.pixel] = 0
	}
	for _, a := range v.last[i] {
		if v.scratch[a.pixel] > 0 {
			v.add(a.pixel, a.count, 0, p, all)
			v.scratch[a.pixel] = 0
		}
	}
}

// add adds the counts of a pixel in two frames.
func (v *photons) add(pixel int32, first, second, p, all float64) {
	s := first + second
	if v.place[pixel] != v.code[pixel] { // which is not in the totals
		p, all = (p*all+first)/(all+s), all+s
	}
	if s < 2 || s >= all {
		return
	}
	d := first - s*p
	v.classOf(v.place[pixel], photonClass(s)).add(photonSum{1, s / 2, d * d * (all - 1) / (s * p * (1 - p) * (all - s))})
}

// classOf returns the sum of a class at a place.
func (v *photons) classOf(place int32, class int) *photonSum {
	for len(v.sums[place]) <= class {
		v.sums[place] = append(v.sums[place], photonSum{})
	}
	return &v.sums[place][class]
}

func (s *photonSum) add(o photonSum) {
	s.pairs, s.counts, s.squares = s.pairs+o.pairs, s.counts+o.counts, s.squares+o.squares
}

// photonClass is the class of a sum of counts of 2 or more: one for each up to 7, then two for each doubling.
func photonClass(s float64) int {
	n := uint64(min(s, 1<<24))
	if n < 8 {
		return int(n) - 2
	}
	octave := bits.Len64(n) - 1
	return 6 + 2*(octave-3) + int(n>>(octave-1))&1
}
