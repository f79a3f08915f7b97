// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// sampled is a sampled function.
type sampled struct{ x, y []float64 }

// kde estimates the density of v on n points between lo and hi, with a Gaussian kernel of
// Silverman's width, reflected at the ends of the data so that a bound shows as an edge. Constant
// data have no density.
func kde(v diag.Ascending, lo, hi float64, n int) sampled {
	h := bandwidth(v)
	step := (hi/2 - lo/2) / float64(n-1) * 2
	if !(h > 0) || !(step > 0) || math.IsInf(step, 0) || len(v) < 3 {
		return sampled{}
	}
	weight := make([]float64, n)
	for _, x := range v {
		at := (x/2 - lo/2) / (step / 2)
		i := int(math.Floor(at))
		if i < 0 || i >= n {
			continue
		}
		part := at - float64(i)
		weight[i] += 1 - part
		weight[min(i+1, n-1)] += part
	}
	y := smooth(weight, max(h/step, 0.6))
	out := sampled{make([]float64, n), y}
	for i := range y {
		out.x[i] = lo + float64(i)*step
		y[i] /= float64(len(v)) * step
	}
	return out
}

// bandwidth returns Silverman's rule, 0.9 min(sd, iqr/1.34) n^(-1/5). It works in units of the span,
// so that nothing overflows.
func bandwidth(v diag.Ascending) float64 {
	n := len(v)
	if n < 3 || v[0] == v[n-1] {
		return 0
	}
	half := v[n-1]/2 - v[0]/2
	u := diag.Ascending(unit(v))
	width := diag.SD(u)
	if iqr := (u.Quantile(0.75) - u.Quantile(0.25)) / 1.34; iqr > 0 {
		width = min(width, iqr)
	}
	return min(half*2*0.9*width*math.Pow(float64(n), -0.2), math.MaxFloat64)
}

// smooth convolves v with a Gaussian whose width is given in cells, with reflection at the ends.
func smooth(v []float64, width float64) []float64 {
	n := len(v)
	width = min(width, float64(n))
	reach := min(int(math.Ceil(4*width)), n-1)
	kernel := make([]float64, reach+1)
	total := 0.0
	for k := range kernel {
		kernel[k] = math.Exp(-0.5 * float64(k) * float64(k) / (width * width))
		total += kernel[k]
		if k > 0 {
			total += kernel[k]
		}
	}
	out := make([]float64, n)
	for i := range v {
		if v[i] == 0 {
			continue
		}
		for k := -reach; k <= reach; k++ {
			j := i + k
			if j < 0 {
				j = -j - 1
			}
			if j >= n {
				j = 2*n - 1 - j
			}
			out[j] += v[i] * kernel[max(k, -k)] / total
		}
	}
	return out
}

// window returns the range of v to show: all of it, or its central 99 % if the tails would squeeze
// the rest into a line.
func window(v diag.Ascending) (lo, hi float64, cut bool) {
	lo, hi = v[0], v[len(v)-1]
	a, b := v.Quantile(0.005), v.Quantile(0.995)
	if b > a && hi/2-lo/2 > 6*(b/2-a/2) {
		return a, b, true
	}
	return lo, hi, false
}

// thinned keeps what a line of many points shows on a few columns: the lowest and the highest value
// of every run of draws.
func thinned(y []float64, columns int) (x, out []float64) {
	if len(y) <= 3*columns {
		for i := range y {
			x = append(x, float64(i+1))
		}
		return x, y
	}
	for c := range columns {
		from, to := c*len(y)/columns, (c+1)*len(y)/columns
		lo, hi := -1, -1
		for i := from; i < to; i++ {
			if linalg.Finite(y[i]) {
				if lo < 0 || y[i] < y[lo] {
					lo = i
				}
				if hi < 0 || y[i] > y[hi] {
					hi = i
				}
			}
		}
		if lo < 0 {
			x, out = append(x, float64(from+1)), append(out, math.NaN())
			continue
		}
		for _, i := range []int{min(lo, hi), max(lo, hi)} {
			x, out = append(x, float64(i+1)), append(out, y[i])
		}
	}
	return x, out
}
