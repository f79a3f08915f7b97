// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// intensities sums what the frames of a movie count.
type intensities struct {
	maps    *Maps
	result  *Result
	sum     []float64 // of each pixel over the frames so far
	before  []float64 // sum at the end of the last part
	valid   []stretch // of the pixels in static bins
	count   int       // number of pixels in static bins
	threads int
}

func newIntensities(m Movie, maps *Maps, s Settings) *intensities {
	n := m.Height * m.Width
	v := &intensities{maps: maps, result: &Result{Frames: m.Frames}, sum: make([]float64, n), before: make([]float64, n), threads: s.threads()}
	for i, b := range maps.Static {
		if b > 0 {
			v.valid, v.count = extended(v.valid, int32(i)), v.count+1
		}
	}
	for k := 1; k <= s.Parts; k++ {
		if n := k * (m.Frames / s.Parts); n >= 2 {
			v.result.Parts = append(v.result.Parts, Part{Frames: n})
		}
	}
	return v
}

// add takes some frames, in the order of the movie.
func (v *intensities) add(frames []float32) {
	for size := len(v.sum); len(frames) > 0; {
		r, some := v.result, len(frames)/size
		if k := len(r.SAXSParts); k < len(r.Parts) {
			some = min(some, r.Parts[k].Frames-len(r.Trace))
		}
		v.block(frames[:some*size])
		frames = frames[some*size:]
		v.ended()
	}
}

// next returns the frame at which the part of a frame ends, or the movie.
func (v *intensities) next(frame int) int {
	for _, p := range v.result.Parts {
		if frame < p.Frames {
			return p.Frames
		}
	}
	return v.result.Frames
}

// ended takes the static bins of a part, if one has ended.
func (v *intensities) ended() {
	r := v.result
	k := len(r.SAXSParts)
	if k >= len(r.Parts) || len(r.Trace) != r.Parts[k].Frames {
		return
	}
	start := 0
	if k > 0 {
		start = r.Parts[k-1].Frames
	}
	since := make([]float64, len(v.sum))
	for i, x := range v.sum {
		since[i], v.before[i] = x-v.before[i], x
	}
	r.SAXSParts = append(r.SAXSParts, v.static(since, len(r.Trace)-start))
}

// means takes the means of the next frames.
func (v *intensities) means(means []float64) {
	for _, mean := range means {
		if mean == 0 {
			v.result.Empty++
		}
	}
	v.result.Trace = append(v.result.Trace, means...)
}

// block takes frames that no part ends in.
func (v *intensities) block(frames []float32) {
	size := len(v.sum)
	some := len(frames) / size
	const piece = 1 << 14
	parallel.Do(v.threads, (size+piece-1)/piece, func(_, i int) {
		from, to := i*piece, min((i+1)*piece, size)
		for f := range some {
			for p, x := range frames[f*size+from : f*size+to] {
				v.sum[from+p] += float64(x)
			}
		}
	})
	means := make([]float64, some)
	for f := range means {
		means[f] = sumAt(frames[f*size:][:size], v.valid) / float64(v.count)
	}
	v.means(means)
}

// static returns the mean of each static bin, given sums over a number of frames.
func (v *intensities) static(sum []float64, frames int) []float64 {
	_, bins := v.maps.counts()
	mean, count := make([]float64, bins), make([]float64, bins)
	for p, b := range v.maps.Static {
		if b > 0 {
			mean[b-1], count[b-1] = mean[b-1]+sum[p], count[b-1]+1
		}
	}
	for b, n := range count {
		if n == 0 {
			mean[b] = math.NaN()
			continue
		}
		mean[b] /= n * float64(frames)
	}
	return mean
}

// done returns the intensities of all frames.
func (v *intensities) done() *Result {
	r := v.result
	r.SAXS, r.Image = v.static(v.sum, r.Frames), v.sum
	for i := range r.Image {
		r.Image[i] /= float64(r.Frames)
	}
	return r
}
