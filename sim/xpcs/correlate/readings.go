// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "math"

// readings counts how often each number was read, to see whether numbers are counts of photons. Of counts n that have a mixture of Poisson's
// distributions, whatever the intensities are, the frequencies h obey
//
//	h(n)^2 <= (n+1)/n h(n-1) h(n+1)
//
// by the inequality of Cauchy and Schwarz. A detector that misses photons violates that smoothly in n, and numbers that were scaled and rounded do so
// at single n, between numbers that are too rare or missing.
type readings struct {
	often   []float64 // readings of each number from 1 on, without bright pixels that have a place of their own
	largest []float32 // of each pixel
	times   []int32   // how often each pixel has it
}

const (
	mostReading = 1 << 20 // numbers above are not counted
	manyTimes   = 50      // readings of a number that show a gap below it
	fewTimes    = 25      // readings of a number whose logarithm is compared
	surely      = 20.72   // -log(1e-9)
	fewestFull  = 3       // pixels that have the limit of a counter
	shareFull   = 1e-3    // the same, as a share of those with counts
	leastFull   = 1e-3    // share of the readings of a bin at the limit above which it is told
)

func newReadings(pixels int) *readings {
	return &readings{often: make([]float64, 16), largest: make([]float32, pixels), times: make([]int32, pixels)}
}

// add takes a reading above 0; usual says that its pixel is like the others.
func (r *readings) add(pixel int, count float64, usual bool) {
	if x := float32(count); x > r.largest[pixel] {
		r.largest[pixel], r.times[pixel] = x, 1
	} else if x == r.largest[pixel] {
		r.times[pixel]++
	}
	if !usual || count > mostReading {
		return
	}
	n := int(count)
	if n >= len(r.often) {
		r.often = append(r.often, make([]float64, n+1)...)
	}
	r.often[n]++
}

// limit returns the largest reading if it is the limit of a counter: many pixels have it, none has more, and by the frequencies of the numbers below some would. It returns 0 where the frequencies fall off before it, as those of a detector that misses photons.
func (r *readings) limit(among func(pixel int) bool) (limit float64) {
	lit, full, top := 0, 0, float32(0)
	for p, x := range r.largest {
		if x > 0 && among(p) {
			lit, top = lit+1, max(top, x)
		}
	}
	for p, x := range r.largest {
		if x == top && among(p) {
			full++
		}
	}
	v := int(min(top, 2*mostReading))
	if v < 2 || v >= len(r.often) || full < fewestFull || float64(full) < shareFull*float64(lit) {
		return 0
	}
	below := func(n int) int {
		for n--; n > 0 && r.often[n] == 0; n-- {
		}
		return n
	}
	one := below(v)
	two := below(one)
	if one < 1 {
		return 0
	}
	ratio, step := r.often[v]/r.often[one], float64(v-one)
	more := r.often[v] * ratio * float64(v) / (float64(v) + step)
	if falls := ratio*float64(v) < r.often[one]/r.often[two]*float64(one); more < surely || falls {
		return 0
	}
	return float64(v)
}

// Gap is a number that counts of photons cannot miss, or have so often.
type Gap struct {
	Reading float64 // number that shows it; 0: readings may be counts of photons
	// Share is how often it was read, over what the numbers beside it allow: 0 for one that is missing.
	Share float64
}

// alone reports of each number whether one pixel alone has it most often, as its largest.
func (r *readings) alone() []bool {
	of := make([]bool, len(r.often))
	for p, x := range r.largest {
		if x < float32(len(of)) && 2*float64(r.times[p]) > r.often[int(x)] {
			of[int(x)] = true
		}
	}
	return of
}

// gap returns the first number whose frequency no counts of photons have, not near those that are stuck.
func (r *readings) gap(stuck func(n float64) bool) Gap {
	h := r.often
	for n := 2; n < len(h); n++ {
		if h[n] >= manyTimes && h[n-1] == 0 && !stuck(float64(n)) {
			return Gap{Reading: float64(n - 1)}
		}
	}
	const spike, dip, errors = 0.3, 0.1, 6
	excess := func(n int) (q, sd float64, ok bool) {
		if n < 1 || n+1 >= len(h) || h[n-1] < fewTimes || h[n] < fewTimes || h[n+1] < fewTimes {
			return 0, 0, false
		}
		x := float64(n)
		return math.Log(h[n] * h[n] / (h[n-1] * h[n+1]) * x / (x + 1)), math.Sqrt(4/h[n] + 1/h[n-1] + 1/h[n+1]), true
	}
	low := func(n int) bool {
		q, sd, ok := excess(n)
		return ok && q < -dip-errors*sd
	}
	for n := 1; n+1 < len(h); n++ {
		q, sd, ok := excess(n)
		if !ok || stuck(float64(n)) {
			continue
		}
		least := spike + errors*sd
		before, beforeSD, _ := excess(n - 1)
		last := h[n+2 : min(n+3, len(h))] // which shows whether the number above is too rare
		if n > 1 && q > least && low(n-1) && low(n+1) || n == 1 && q > 2*least && low(2) || n > 1 && q > 1+errors*sd && before < -3*beforeSD && (len(last) == 0 || last[0] < fewTimes) {
			return Gap{float64(n), math.Exp(q / 2)}
		}
	}
	return Gap{}
}
