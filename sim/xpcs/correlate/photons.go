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
	bins    int
	pixels  []int // of each bin

	next      int         // frame that is to come next
	spent     int         // pixels that were looked at, see photonBudget
	last      [2][]photon // counts of the last frames that were kept, the latest at kept%2
	totals    [2]float64
	kept      int // number of frames in a row that were kept
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
	v := &photons{frames: m.Frames, average: float64(max(s.Average, 1)), bins: bins, code: make([]int32, len(maps.Dynamic)), pixels: make([]int, bins), scratch: make([]float64, len(maps.Dynamic)), sums: make([][]photonSum, bins*photonGroups), counts: make([]float64, bins)}
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
	out, size := m, m.Height*m.Width
	if m.Dense != nil {
		out.Dense = func(first int, dst []float32) error {
			err := m.Dense(first, dst)
			for f := 0; err == nil && f < len(dst)/size; f++ {
				frame := dst[f*size:][:size]
				v.frame(first+f, func(add func(int, float32)) int {
					for p, x := range frame {
						add(p, x)
					}
					return size
				})
			}
			return err
		}
	}
	if m.Sparse != nil {
		out.Sparse = func(first, n int, dst *Events) error {
			err := m.Sparse(first, n, dst)
			if err == nil {
				err = dst.check(n, size, first)
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
		out.Raw = &Raw{raw.Type, raw.Marks, func(first int, dst []byte) error {
			err := raw.Read(first, dst)
			bytes := size * raw.size()
			for f := 0; err == nil && f < len(dst)/bytes; f++ {
				frame := dst[f*bytes:][:bytes]
				v.frame(first+f, func(add func(int, float32)) int {
					for p := range size {
						add(p, raw.value(frame, p))
					}
					return size
				})
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
	v.spent += values(func(p int, x float32) {
		if x == 0 || v.code[p] < 0 {
			return
		}
		count := math.Round(float64(x) * v.average)
		if !(math.Abs(float64(x)*v.average-count) < 1e-3) || count < 0 {
			v.fractions = true
		}
		list, total = append(list, photon{int32(p), count}), total+count
		v.counts[v.code[p]/photonGroups] += count
	})
	v.last[at], v.totals[at] = list, total
	v.looked++
	if v.kept > 1 && !v.fractions {
		v.pair(1-at, at)
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
	for _, a := range v.last[i] {
		v.scratch[a.pixel] = a.count
	}
	for _, b := range v.last[j] {
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
	if s < 2 || s >= all {
		return
	}
	class, code := photonClass(s), v.code[pixel]
	for len(v.sums[code]) <= class {
		v.sums[code] = append(v.sums[code], photonSum{})
	}
	d := first - s*p
	to := &v.sums[code][class]
	to.pairs++
	to.counts += s / 2
	to.squares += d * d * (all - 1) / (s * p * (1 - p) * (all - s))
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
