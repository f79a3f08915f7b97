// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package elimination orders the rows of symmetric matrices with few entries so that their Cholesky factors have few entries, too.
package elimination

import (
	"cmp"
	"slices"
)

// Order eliminates the one with the fewest neighbours first, whose neighbours then become neighbours of each other. It returns the order, and for each column of the factor
// those below the diagonal, in the order in which they are eliminated. Both are nil where the factor has more than so many entries, or more than so many pairs of entries below the
// diagonal stand in columns together. Of two with equally many neighbours the first goes first, so that the order depends on nothing else.
func Order(neighbours [][]int, mostEntries, mostPairs int) (order []int, columns [][]int) {
	d := len(neighbours)
	left := make([]map[int]bool, d)
	for i, list := range neighbours {
		left[i] = map[int]bool{}
		for _, j := range list {
			left[i][j] = true
		}
	}
	gone, place := make([]bool, d), make([]int, d)
	columns = make([][]int, d)
	entries, pairs := 0, 0
	for k := range d {
		next := -1
		for i := range d {
			if !gone[i] && (next < 0 || len(left[i]) < len(left[next])) {
				next = i
			}
		}
		n := len(left[next])
		entries, pairs = entries+n+1, pairs+n*(n+1)/2
		if entries > mostEntries || pairs > mostPairs {
			return nil, nil
		}
		gone[next], place[next], order = true, k, append(order, next)
		for j := range left[next] {
			delete(left[j], next)
			for other := range left[next] {
				if other != j {
					left[j][other] = true
				}
			}
			columns[k] = append(columns[k], j)
		}
	}
	for _, c := range columns {
		slices.SortFunc(c, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
	}
	return order, columns
}
