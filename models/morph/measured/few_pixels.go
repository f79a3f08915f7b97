// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
)

// Where the noise is found from the residuals, a few hot pixels that nobody masked make it so large that any model agrees.
const (
	// fewest is the share of the numbers that are few, and nearlyAll the share of the squared residuals that they must have: of normal
	// residuals one number in a hundred has 8 %.
	fewest, nearlyAll = 0.01, 0.8
	// farOff is by how many times such a number is more than its expectation, and leastCount how large it must be: single counts
	// where hardly any are expected have all of the squares too.
	farOff, leastCount = 3.0, 10.0
)

// fewPixels finds numbers that have nearly all squared residuals of a likelihood whose scale is found from them.
func (c *inspection) fewPixels() (check.Flag, bool) {
	k := 0
	for _, p := range c.single.parts {
		first := k
		k += len(p.values)
		if p.noise.scale == "" || p.noise.whole || len(p.values) < leastNumbers {
			continue
		}
		type one struct {
			i      int
			square float64
		}
		var all []one
		total := 0.0
		for i, v := range p.values {
			d := v - c.mean[first+i]
			square := d * d / p.noise.variance(p, i, max(c.mean[first+i], leastCounts), 1)
			all, total = append(all, one{i, square}), total+square
		}
		slices.SortFunc(all, func(a, b one) int { return compare(b.square, a.square) })
		sum, n := 0.0, max(1, int(fewest*float64(len(all))))
		hot := 0
		for _, x := range all[:n] {
			if v := p.values[x.i]; v > leastCount && v > farOff*c.mean[first+x.i] {
				sum, hot = sum+x.square, hot+1
			}
		}
		if sum > nearlyAll*total {
			i := all[0].i
			return check.Flag{Kind: kindPixels,
				Text:   fmt.Sprintf("%d of %d numbers, of which the farthest is %.4g where %.4g is expected, have %.0f %% of the squared residuals, so that the noise that is found from these is theirs", hot, len(all), p.values[i], c.mean[first+i], 100*sum/total),
				Remedy: "mask these pixels (masks), as hot or bad"}, true
		}
	}
	return check.Flag{}, false
}
