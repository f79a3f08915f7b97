// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package reduce

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// Means are means of pixels in bins.
type Means struct {
	X      []float64 // middle of each bin
	Mean   []float64 // mean of each bin; NaN for a bin without pixels, or whose mean is not positive
	Pixels []int
}

// Sector is a wedge of azimuths.
type Sector struct {
	From, To float64   // range of azimuths (degrees), From <= phi < To; across 180 degrees if To is below From
	Edges    []float64 // edges of bins of q, ascending (1/angstrom); a bin includes its lower edge and not its upper one
}

func (s Sector) holds(phi float64) bool {
	if s.To < s.From {
		return phi >= s.From || phi < s.To
	}
	return phi >= s.From && phi < s.To
}

// Wedge averages an image over the pixels of a sector that mask keeps (nil: all), in bins of q. All arrays have the shape of the
// detector.
func Wedge(image, q, phi []float64, mask []bool, s Sector) (*Means, error) {
	if err := same(image, q, phi, mask); err != nil {
		return nil, err
	}
	if len(s.Edges) < 2 {
		return nil, fmt.Errorf("reduce: there are %d edges of bins of q: want at least 2", len(s.Edges))
	}
	for i := 1; i < len(s.Edges); i++ {
		if !(s.Edges[i] > s.Edges[i-1]) {
			return nil, fmt.Errorf("reduce: edge %d of the bins of q is %g after %g: want ascending numbers", i+1, s.Edges[i], s.Edges[i-1])
		}
	}
	b := newBins(s.Edges)
	for i, v := range image {
		if (mask == nil || mask[i]) && s.holds(phi[i]) {
			b.add(q[i], v)
		}
	}
	return b.means(), nil
}

// Annulus is a ring about the beam.
type Annulus struct {
	CenterRow, CenterCol float64 // position of the beam in pixels
	Inner, Outer         float64 // range of radii in pixels, Inner <= r < Outer; swapped if Outer is the smaller one
	Bins                 int     // number of bins of azimuth between the smallest and the largest azimuth of the ring. Default 180
}

// Ring averages an image of some width over the pixels of a ring that mask keeps (nil: all), in bins of
// azimuth (degrees).
func Ring(image, phi []float64, mask []bool, width int, a Annulus) (*Means, error) {
	if err := same(image, phi, phi, mask); err != nil {
		return nil, err
	}
	if width < 1 || len(image)%width != 0 {
		return nil, fmt.Errorf("reduce: %d pixels do not fill rows of %d: want whole rows", len(image), width)
	}
	if a.Bins == 0 {
		a.Bins = 180
	}
	if a.Inner > a.Outer {
		a.Inner, a.Outer = a.Outer, a.Inner
	}
	if a.Bins < 1 || !(a.Outer > 0) {
		return nil, fmt.Errorf("reduce: the ring from %g to %g pixels has %s: want a positive radius and at least one bin", a.Inner, a.Outer, errtext.Count(a.Bins, "bin"))
	}
	var inside []int
	low, high := math.Inf(1), math.Inf(-1)
	for i := range image {
		r := math.Hypot(float64(i/width)-a.CenterRow, float64(i%width)-a.CenterCol)
		if r >= a.Inner && r < a.Outer && (mask == nil || mask[i]) {
			inside = append(inside, i)
			low, high = math.Min(low, phi[i]), math.Max(high, phi[i])
		}
	}
	if !(high > low) {
		return nil, fmt.Errorf("reduce: the ring from %g to %g pixels has %s that the mask keeps: want some at different azimuths", a.Inner, a.Outer, errtext.Count(len(inside), "pixel"))
	}
	edges := make([]float64, a.Bins+1)
	for k := range edges {
		edges[k] = low + float64(k)*(high-low)/float64(a.Bins)
	}
	edges[a.Bins] = high
	b := newBins(edges)
	edges[a.Bins] = math.Nextafter(high, math.Inf(1)) // the largest azimuth is in the last bin
	for _, i := range inside {
		b.add(phi[i], image[i])
	}
	edges[a.Bins] = high
	return b.means(), nil
}

func same(image, a, b []float64, mask []bool) error {
	if len(a) != len(image) || len(b) != len(image) || mask != nil && len(mask) != len(image) {
		return fmt.Errorf("reduce: the image has %s, its maps %d and %d, and the mask %d: use those of one detector", errtext.Count(len(image), "pixel"), len(a), len(b), len(mask))
	}
	return nil
}

// bins are sums over bins between edges.
type bins struct {
	edges []float64
	sum   []float64
	n     []int
}

func newBins(edges []float64) *bins {
	return &bins{edges, make([]float64, len(edges)-1), make([]int, len(edges)-1)}
}

func (b *bins) add(x, v float64) {
	last := len(b.edges) - 1
	if math.IsNaN(v) || !(x >= b.edges[0] && x < b.edges[last]) {
		return
	}
	low, high := 0, last // edges[low] <= x
	for high-low > 1 {
		if mid := (low + high) / 2; x >= b.edges[mid] {
			low = mid
		} else {
			high = mid
		}
	}
	b.sum[low] += v
	b.n[low]++
}

func (b *bins) means() *Means {
	m := &Means{Pixels: b.n}
	for k, s := range b.sum {
		mean := s / float64(b.n[k])
		if !(mean > 0) {
			mean = math.NaN()
		}
		m.X, m.Mean = append(m.X, (b.edges[k]+b.edges[k+1])/2), append(m.Mean, mean)
	}
	return m
}
