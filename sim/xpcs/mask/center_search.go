// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"cmp"
	"math"
	"slices"
)

// coarse returns the point around which the ranks of the values vary least along rings: on a grid over the
// search, then on finer and finer ones.
func coarse(all []sample, guess Point, search float64) Point {
	all = ranked(all)
	width := spacing(all)
	best, least := guess, math.Inf(1)
	consider := func(p Point) {
		if math.Hypot(p[0]-guess[0], p[1]-guess[1]) > search {
			return
		}
		if v := unevenness(all, p, width); v < least {
			best, least = p, v
		}
	}
	const n = 8
	consider(guess)
	for i := -n; i <= n; i++ {
		for k := -n; k <= n; k++ {
			consider(Point{guess[0] + search*float64(i)/n, guess[1] + search*float64(k)/n})
		}
	}
	for step := search / n / 2; step > width/4; step /= 2 {
		around := best
		for i := -2; i <= 2; i++ {
			for k := -2; k <= 2; k++ {
				consider(Point{around[0] + step*float64(i), around[1] + step*float64(k)})
			}
		}
	}
	return best
}

// ranked replaces the values by their ranks from 0 to 1, in which no hot pixel stands out.
func ranked(all []sample) []sample {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].value, all[b].value) })
	out := slices.Clone(all)
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]].value == all[order[i]].value {
			j++
		}
		for k := i; k < j; k++ { // equal values share their mean rank
			out[order[k]].value = float64(i+j-1) / 2 / float64(len(order))
		}
		i = j
	}
	return out
}

// spacing returns the distance of neighbouring samples.
func spacing(all []sample) float64 {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, s := range all {
		low, high = Point{min(low[0], s.row), min(low[1], s.col)}, Point{max(high[0], s.row), max(high[1], s.col)}
	}
	return max(math.Sqrt((high[0]-low[0]+1)*(high[1]-low[1]+1)/float64(len(all))), 1)
}

// unevenness is the variance of the values within rings about a point.
func unevenness(all []sample, p Point, width float64) float64 {
	var count, sum, square []float64
	for _, s := range all {
		k := int(math.Hypot(s.row-p[0], s.col-p[1]) / width)
		for len(count) <= k {
			count, sum, square = append(count, 0), append(sum, 0), append(square, 0)
		}
		count[k]++
		sum[k] += s.value
		square[k] += s.value * s.value
	}
	within, free := 0.0, 0.0
	for k, n := range count {
		if n > 1 {
			within += square[k] - sum[k]*sum[k]/n
			free += n - 1
		}
	}
	if free < float64(len(all))/2 {
		return math.Inf(1)
	}
	return within / free
}
