// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package spelling finds the name that a mistyped one was meant to be.
package spelling

import "slices"

// longest is the number of bytes of a name that are compared, so that no file can make a comparison
// slow.
const longest = 64

// Distance returns how many bytes to insert, delete or replace, where two neighbours that are exchanged count as one.
func Distance(a, b string) int {
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// Sorted returns names by their distance from name, the nearest first.
func Sorted(name string, names []string) []string {
	out := slices.Clone(names)
	slices.SortStableFunc(out, func(a, b string) int { return Distance(name, a) - Distance(name, b) })
	return out
}

// Meant returns the name that was probably meant, or "" if none is near.
func Meant(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	best := Sorted(name, names)[0]
	if Distance(name, best) > 1+len(name)/3 {
		return ""
	}
	return best
}
