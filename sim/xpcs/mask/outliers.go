// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/sim/xpcs/partition"
	"github.com/euryale-dev/euryale/tensor/stat"
)

// The methods of Outliers say what is usual in a region.
const (
	Percentile = "percentile" // the mean and standard deviation of the values between two percentiles; the default
	MAD        = "mad"        // the median, and the median of the absolute deviations from it
)

// degenerate is the scale below which the usual values of a region count as equal. The scale is then that of counting statistics.
const degenerate = 1e-16

// Outliers masks pixels far from what is usual in their ring or tile. Give either Rings or Tile.
type Outliers struct {
	Method      string     `json:"method"`               // method that says what is usual: Percentile or MAD. Default Percentile
	Cutoff      float64    `json:"cutoff"`               // distance from the reference, in scales, from which on a pixel is bad. Default 3
	Percentiles [2]float64 `json:"percentiles,omitzero"` // range of values that Percentile uses, in percent; {0, 0} stands for {5, 95}
	Rings       int        `json:"rings,omitempty"`      // number of rings of equal width in the map "q"
	Tile        int        `json:"tile,omitempty"`       // edge of square tiles in pixels; tiles cut by the edge of the detector are left alone
}

// Region is what is usual in one ring or tile, for a plot.
type Region struct {
	At        float64 // q of the middle of the ring, or the tile's rank from the brightest on, counted from 0
	Reference float64 // mean or median, in the unit of the image
	Limit     float64 // value from which on pixels are bad, Reference + Cutoff scales
	Max       float64 // largest value in the region
	Mean      float64 // mean of all values in the region
	Counting  bool    // true where the usual values are equal, so that the scale is that of counting statistics
}

func (o Outliers) complete() (Outliers, error) {
	o.Method = cmp.Or(o.Method, Percentile)
	if o.Cutoff == 0 {
		o.Cutoff = 3
	}
	if o.Percentiles == [2]float64{} {
		o.Percentiles = [2]float64{5, 95}
	}
	p := o.Percentiles
	switch {
	case o.Method != Percentile && o.Method != MAD:
		return o, fmt.Errorf("mask: the method of outliers is %q: want %q or %q%s", o.Method, Percentile, MAD, meant(o.Method, []string{Percentile, MAD}))
	case !(o.Cutoff > 0):
		return o, fmt.Errorf("mask: the cutoff is %g scales: want a positive number", o.Cutoff)
	case !(0 <= p[0] && p[0] < p[1] && p[1] <= 100):
		return o, fmt.Errorf("mask: the percentiles are %g and %g: want two ascending numbers from 0 to 100", p[0], p[1])
	case (o.Rings > 0) == (o.Tile > 0) || o.Rings < 0 || o.Tile < 0:
		return o, fmt.Errorf("mask: outliers are sought in %d rings and in tiles of %d pixels: want a positive number of one of them and 0 of the other", o.Rings, o.Tile)
	}
	return o, nil
}

// mask returns the pixels of now without outliers, and the regions.
func (o Outliers) mask(s Source, now *Mask) (*Mask, []Region, error) {
	o, err := o.complete()
	if err != nil {
		return nil, nil, err
	}
	if !s.hasImage() {
		return nil, nil, fmt.Errorf("mask: outliers are sought in an image, and there is none: give one")
	}
	var members [][]int
	at := []float64(nil)
	if o.Rings > 0 {
		members, at, err = rings(s, now, o.Rings)
	} else {
		members = tiles(s, now, o.Tile)
	}
	if err != nil {
		return nil, nil, err
	}
	m := New(s.Height, s.Width)
	var regions []Region
	for k, list := range members {
		if len(list) == 0 {
			continue
		}
		r := o.judge(s, list, m)
		if r.At = float64(k); at != nil {
			r.At = at[k]
		}
		if r.Reference > 0 || r.Counting {
			regions = append(regions, r)
		}
	}
	return m, regions, nil
}

// rings returns the kept pixels of each ring of q, and the q of its middle.
func rings(s Source, now *Mask, n int) ([][]int, []float64, error) {
	q, ok := s.Maps["q"]
	if !ok {
		return nil, nil, fmt.Errorf("mask: outliers in rings need a map of q: give a geometry, or use tiles")
	}
	b, err := partition.Divide(partition.Axis{Name: "q", Values: q}, now.Keep, n)
	if err != nil {
		return nil, nil, err
	}
	members := make([][]int, n)
	for i, k := range b.Of {
		if k > 0 && !math.IsNaN(s.at(i)) {
			members[k-1] = append(members[k-1], i)
		}
	}
	return members, b.Centers, nil
}

// tiles returns the kept pixels of positive intensity of each complete tile, the brightest tile first.
func tiles(s Source, now *Mask, edge int) [][]int {
	type tile struct {
		pixels []int
		mean   float64
	}
	var all []tile
	for r0 := 0; r0+edge <= s.Height; r0 += edge {
		for c0 := 0; c0+edge <= s.Width; c0 += edge {
			t := tile{}
			for r := r0; r < r0+edge; r++ {
				for c := c0; c < c0+edge; c++ {
					if i := r*s.Width + c; now.Keep[i] && s.at(i) > 0 {
						t.pixels = append(t.pixels, i)
						t.mean += s.at(i)
					}
				}
			}
			if len(t.pixels) > 0 {
				t.mean /= float64(len(t.pixels))
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b tile) int { return cmp.Compare(b.mean, a.mean) })
	members := make([][]int, len(all))
	for k, t := range all {
		members[k] = t.pixels
	}
	return members
}

// judge masks the outliers among the pixels of one region.
func (o Outliers) judge(s Source, list []int, m *Mask) Region {
	values := make([]float64, len(list))
	sum := 0.0
	for k, i := range list {
		values[k] = s.at(i)
		sum += values[k]
	}
	r := Region{Max: slices.Max(values), Mean: sum / float64(len(list))}
	scale := 0.0
	if o.Method == MAD {
		r.Reference = stat.Median(values)
		distances := make([]float64, len(values))
		for k, v := range values {
			distances[k] = math.Abs(v - r.Reference)
		}
		scale = stat.Median(distances)
	} else {
		r.Reference, scale = clipped(values, o.Percentiles)
	}
	if scale < degenerate {
		if scale = counting(values); math.IsInf(scale, 1) {
			r.Limit = r.Reference
			return r
		}
		r.Counting = true
	}
	r.Limit = r.Reference + o.Cutoff*scale
	for k, v := range values {
		if math.Abs(v-r.Reference) >= o.Cutoff*scale {
			m.Keep[list[k]] = false
		}
	}
	return r
}

// counting returns the standard deviation of counts with the mean of the usual values, at least that of one count. One count is 1 where all values
// are whole numbers, and the smallest positive value or difference of two values where they are not, as in the mean of many frames. It is infinite for
// values that are all equal.
func counting(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	unit, whole := math.Inf(1), true
	for k, v := range sorted {
		if v > 0 {
			unit = min(unit, v)
		}
		if k > 0 && v-sorted[k-1] > degenerate {
			unit = min(unit, v-sorted[k-1])
		}
		whole = whole && v == math.Trunc(v)
	}
	if sorted[0] == sorted[len(sorted)-1] {
		return math.Inf(1)
	}
	if whole {
		unit = 1
	}
	p := stat.Percentile(values, []float64{5, 95}, stat.LinearMethod)
	mean := p[0]
	if p[1] > p[0] {
		mean, _ = clipped(values, [2]float64{5, 95})
	}
	return unit * math.Sqrt(max(mean/unit, 1))
}

// clipped returns mean and standard deviation of the values between two percentiles, ends included.
func clipped(values []float64, percent [2]float64) (mean, sd float64) {
	p := stat.Percentile(values, percent[:], stat.LinearMethod)
	inside := make([]float64, 0, len(values))
	for _, v := range values {
		if v >= p[0] && v <= p[1] || p[0] >= p[1] {
			inside = append(inside, v)
		}
	}
	if len(inside) == 0 {
		return 0, 0
	}
	for _, v := range inside {
		mean += v
	}
	mean /= float64(len(inside))
	for _, v := range inside {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(inside)))
}
