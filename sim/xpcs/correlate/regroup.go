// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// Regroup computes g2 of the bins of maps from the correlations of single pixels that PerPixel
// gave, perhaps with other maps: next returns, for one delay after another, images of the products
// and of the means of earlier and later frames. The Result has Bins, Pixels, G2, Err and, with
// Settings.Covariance, Cov and the fields that go with it, if 12 bytes for each pixel and delay fit
// into MaxBytes. Err is the scatter of the pixels of a bin, divided by n and not by n-1, over the
// square root of their number n, as viewers compute it.
func Regroup(maps Maps, delays int, next func(delay int) (products, earlier, later []float64, err error), s Settings) (*Result, error) {
	if err := maps.check(Movie{Height: maps.Height, Width: maps.Width}); err != nil {
		return nil, err
	}
	s = s.defaults()
	part := maps.parts(maps.Height * maps.Width)[0]
	prog, err := compileBinning(part, 1, 0, s.Backend)
	if err != nil {
		return nil, err
	}
	b, r := &binning{prog.NewState()}, &Result{}
	for _, m := range part.members() {
		r.Pixels = append(r.Pixels, len(m.pixels))
	}
	for _, bin := range part.bins {
		r.Bins = append(r.Bins, bin+1)
	}
	n := len(part.pixels)
	var kept []float32 // (delay, three averages, pixel)
	if s.Covariance && 12*int64(delays)*int64(n) <= s.MaxBytes {
		kept = make([]float32, 0, 3*delays*n)
	}
	for d := range delays {
		var images [3][]float64
		if images[0], images[1], images[2], err = next(d); err != nil {
			return nil, err
		}
		for i, image := range images {
			if len(image) != maps.Height*maps.Width {
				return nil, fmt.Errorf("correlate: delay %d has an image of %d pixels, but the maps have %d x %d: use a q map of this detector", d, len(image), maps.Height, maps.Width)
			}
			in := b.state.Input(i)
			for j, p := range part.pixels {
				if in[j] = image[p]; kept != nil {
					kept = append(kept, float32(image[p]))
				}
			}
		}
		g2, sd, err := b.run()
		if err != nil {
			return nil, err
		}
		r.G2, r.Err = append(r.G2, slices.Clone(g2)), append(r.Err, slices.Clone(sd))
	}
	if kept == nil {
		return r, nil
	}
	return r, r.scatter(part, delays, maps.Width, s.threads(), func(p, k int) (float64, float64, float64) {
		at := kept[3*k*n+p:]
		return float64(at[0]), float64(at[n]), float64(at[2*n])
	})
}

// scatter fills the covariances of the bins of a part, given the averages of pixel p at delay k.
func (r *Result) scatter(part part, delays, width, threads int, moments func(p, k int) (products, earlier, later float64)) error {
	prog, err := outer(delays)
	if err != nil {
		return err
	}
	if r.Cov == nil {
		n := len(r.Bins)
		r.Cov, r.Skew, r.Area, r.Samples = make([][]float64, n), make([][]float64, n), make([]float64, n), make([]float64, n)
	}
	column := slices.Index(r.Bins, part.bins[0]+1)
	members := part.members()
	errs := make([]error, len(members))
	parallel.Do(threads, len(members), func(_, i int) {
		places := make([]int32, len(members[i].pixels))
		for j, p := range members[i].pixels {
			places[j] = part.pixels[p]
		}
		var v *scatter
		if v, errs[i] = covariance(members[i], delays, moments, prog, newNeighbours(places, width, delays)); v != nil {
			c := column + i
			r.Cov[c], r.Skew[c], r.Area[c], r.Samples[c] = v.cov, v.skew, v.area, v.samples/v.area
		}
	})
	return first(errs)
}
