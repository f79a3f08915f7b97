// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "github.com/euryale-dev/euryale/kernels"

// stretch is n pixels of a frame from first on. Pixels of bins mostly lie beside each other, so that lists of them are short.
type stretch struct{ first, n int32 }

// extended returns a list with one more pixel, behind those that it has.
func extended(list []stretch, pixel int32) []stretch {
	if k := len(list) - 1; k >= 0 && list[k].first+list[k].n == pixel {
		list[k].n++
		return list
	}
	return append(list, stretch{pixel, 1})
}

// sumAt sums a frame at some pixels.
func sumAt(frame []float32, pixels []stretch) (sum float64) {
	for _, r := range pixels {
		sum += summed(frame[r.first:][:r.n])
	}
	return sum
}

// fewPixels is the number of pixels below which a call of a kernel takes longer than a loop.
const fewPixels = 12

// summed returns the sum of counts, in float64.
func summed(counts []float32) float64 {
	if len(counts) >= fewPixels {
		return kernels.Reduce32(kernels.Best(), "sum")(&counts[0], len(counts))
	}
	sum := 0.0
	for _, v := range counts {
		sum += float64(v)
	}
	return sum
}

// multiplied writes counts times a factor in the precision of T.
func multiplied[T real](to []T, counts []float32, factor T) {
	if narrow, ok := any(to).([]float32); ok && len(to) >= fewPixels {
		if factor == 1 {
			copy(narrow, counts)
			return
		}
		f := float32(factor)
		kernels.Binary32(kernels.Best(), "mul_s")(&narrow[0], &counts[0], &f, len(to))
		return
	}
	for i, v := range counts {
		to[i] = T(v) * factor
	}
}
