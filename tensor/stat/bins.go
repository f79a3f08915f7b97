// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Digitize returns, for each x, the number of its bin. For ascending edges this is the number of
// edges that are at most x, or less than x if right is true. For descending edges it is the number
// of edges that are greater than x, or at least x if right is true. A NaN lies above all edges.
func Digitize(x, edges []float64, right bool) []int {
	n := len(edges)
	descending := n > 1 && edges[0] > edges[n-1]
	for i, v := range edges {
		if math.IsNaN(v) || i > 0 && (descending && v > edges[i-1] || !descending && v < edges[i-1]) {
			panic(fmt.Sprintf("stat: edge %d is %g: want edges in ascending or descending order", i, v))
		}
	}
	out := make([]int, len(x))
	for k, v := range x {
		nan := math.IsNaN(v)
		switch {
		case descending && right:
			out[k] = sort.Search(n, func(i int) bool { return nan || edges[i] < v })
		case descending:
			out[k] = sort.Search(n, func(i int) bool { return nan || edges[i] <= v })
		case right:
			out[k] = sort.Search(n, func(i int) bool { return !nan && edges[i] >= v })
		default:
			out[k] = sort.Search(n, func(i int) bool { return !nan && edges[i] > v })
		}
	}
	return out
}

// Bincount returns how often each of the integers 0, 1, ... occurs in x. The result is long enough
// for the largest of them and has at least min elements. It panics if an integer is negative.
func Bincount(x []int, min int) []int {
	out := make([]int, max(min, most(x)+1))
	for _, v := range x {
		out[v]++
	}
	return out
}

// BincountWeighted returns the sum of the weights of each of the integers 0, 1, ... in x, added in
// the order of x. The result is long enough for the largest integer and has at least min elements.
// It panics if an integer is negative.
func BincountWeighted(x []int, weights []float64, min int) []float64 {
	if len(weights) != len(x) {
		panic(fmt.Sprintf("stat: there are %d weights for %d integers: give one for each", len(weights), len(x)))
	}
	out := make([]float64, max(min, most(x)+1))
	for i, v := range x {
		out[v] += weights[i]
	}
	return out
}

// most returns the largest of integers of at least 0, or -1 of none.
func most(x []int) int {
	out := -1
	for i, v := range x {
		if v < 0 {
			panic(fmt.Sprintf("stat: integer %d, at position %d, is negative: want at least 0", v, i))
		}
		out = max(out, v)
	}
	return out
}

// Unique returns the distinct numbers of x in ascending order, the index of each element of x among
// them, and how often each occurs. All NaN count as one number, the last.
func Unique(x []float64) (values []float64, inverse, counts []int) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(x[a], x[b]) })
	inverse = make([]int, len(x))
	for k, i := range order {
		if k == 0 || compare(x[order[k-1]], x[i]) != 0 {
			values, counts = append(values, x[i]), append(counts, 0)
		}
		inverse[i] = len(values) - 1
		counts[len(counts)-1]++
	}
	return values, inverse, counts
}

// UniqueInts is Unique for integers.
func UniqueInts(x []int) (values, inverse, counts []int) {
	values = slices.Clone(x)
	slices.Sort(values)
	values = slices.Compact(values)
	inverse, counts = make([]int, len(x)), make([]int, len(values))
	for i, v := range x {
		k, _ := slices.BinarySearch(values, v)
		inverse[i] = k
		counts[k]++
	}
	return values, inverse, counts
}

// compare orders numbers; NaN are equal and the largest.
func compare(a, b float64) int {
	switch {
	case a < b || !math.IsNaN(a) && math.IsNaN(b):
		return -1
	case a > b || math.IsNaN(a) && !math.IsNaN(b):
		return 1
	}
	return 0
}
