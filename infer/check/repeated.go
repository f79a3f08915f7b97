// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
)

// Readings that differ by nature in small steps, such as counts or rounded numbers, repeat by chance. Where they do, other
// readings under the same conditions lie a step or two away. Copies have no such neighbours.

const (
	// nearest is the largest distance of neighbours, in steps of the values.
	nearest = 3
	// beyondChance is how many times more readings have to repeat than have neighbours one step away. By chance half as many do
	// where steps are small, and as many where they are large.
	beyondChance = 3
	// fewestCells is the number of steps within the range of all readings, and fewestEach that for each different row, below
	// which readings are coarse: equal ones say nothing.
	fewestCells, fewestEach = 500, 8
	// mostForBlocks is the largest number of rows that are searched for blocks.
	mostForBlocks = 3000
)

// repeated compares rows; sorted holds y in order.
func repeated(y, sorted []float64, others [][]float64) (Flag, bool) {
	fewest := max(3, len(y)/20)
	if equals(sorted) < fewest { // no more rows repeat than values do
		return Flag{}, false
	}
	others = slices.DeleteFunc(slices.Clone(others), func(o []float64) bool { return len(o) != len(y) })
	groups := map[uint64]map[float64]int{} // how often each value was read where all other columns are equal
	values := map[float64]bool{}
	rows := 0
	for i, v := range y {
		k := hashOf(others, i)
		if groups[k] == nil {
			groups[k] = map[float64]int{}
		}
		if groups[k][v]++; groups[k][v] == 1 {
			rows++
		}
		values[v] = true
	}
	again := len(y) - rows
	if again < fewest {
		return Flag{}, false
	}
	step := digit(sorted)
	coarse := sorted[len(sorted)-1]-sorted[0] < step*float64(max(fewestCells, fewestEach*rows))
	few := len(groups) == 1 && 2*len(y) > 5*rows // copies of a whole list are a block
	byCopies := !few && 10*len(values) >= 9*rows && !coarse && beyond(groups, fewest, step)
	if !byCopies && (len(others) > 0 || !blockAgain(y)) {
		return Flag{}, false
	}
	return Flag{Kind: KindRepeated, Text: fmt.Sprintf("%d of %d rows repeat others exactly: if they are the same readings, all errors are about %.3g times too small", again, len(y), math.Sqrt(float64(len(y))/float64(rows))),
		Remedy: "check whether files were read twice, and keep each reading only once"}, true
}

// hashOf returns a number for row i of the columns.
func hashOf(columns [][]float64, i int) uint64 {
	h, b := fnv.New64a(), make([]byte, 8)
	for _, c := range columns {
		binary.LittleEndian.PutUint64(b, math.Float64bits(c[i]))
		h.Write(b)
	}
	return h.Sum64()
}

// digit returns the power of ten of the last digit of sorted values, 0 if they have more than nine digits.
func digit(sorted []float64) float64 {
	size := max(math.Abs(sorted[0]), math.Abs(sorted[len(sorted)-1]))
	for step := 1.0; step > 1e-9*size; step /= 10 {
		if !slices.ContainsFunc(sorted, func(v float64) bool { return math.Abs(v/step-math.Round(v/step)) > 1e-6 }) {
			return step
		}
	}
	return 0
}

// stepOf returns the step of which the differences of sorted values are multiples; 0 if there is none. digit is the last digit of
// the values, which may have been rounded to it, 0 if they have all digits. Two values are one step apart.
func stepOf(v []float64, digit float64) float64 {
	if digit > 0 {
		return roundedStep(v, digit)
	}
	if len(v) < 2 {
		return 0
	}
	tolerance := 1e-9 * max(math.Abs(v[0]), math.Abs(v[len(v)-1]))
	step := 0.0
	for i := 1; i < len(v); i++ { // Euclid's algorithm
		a, b := v[i]-v[i-1], step
		for b > tolerance {
			a, b = b, math.Abs(a-b*math.Round(a/b))
		}
		step = a
	}
	if step > max(10*tolerance, 1e-5*(v[len(v)-1]-v[0])) {
		return step
	}
	return 0
}

// roundedStep returns the smallest difference of neighbours if that of others is a multiple of it within rounding to digit, and
// digit otherwise.
func roundedStep(v []float64, digit float64) float64 {
	step, kept := math.Inf(1), 0
	for i := 1; i < len(v); i++ {
		step = min(step, v[i]-v[i-1])
	}
	for i := 1; i < len(v); i++ {
		k := math.Round((v[i] - v[i-1]) / step)
		if most := 0.1 * step; (k+1)*digit > most {
			continue // so far apart that rounding hides it
		}
		if math.Abs(v[i]-v[i-1]-k*step) > 1.01*(k+1)*digit {
			return digit
		}
		kept++
	}
	if kept < 4 {
		return digit
	}
	return step
}

// beyond reports whether more readings repeat than have neighbours, as copies do. digit is the last digit of the readings; 0 if
// they have all digits.
func beyond(groups map[uint64]map[float64]int, fewest int, digit float64) bool {
	again := 0
	var near [nearest + 1]int // pairs of different values that are at most so many steps apart
	for _, g := range groups {
		for _, n := range g {
			again += int(truth(n > 1))
		}
		v := slices.Sorted(maps.Keys(g))
		step := stepOf(v, digit)
		for h := 1; h <= nearest && step > 0; h++ {
			for i, from := 1, 0; i < len(v); i++ {
				for v[i]-v[from] > (float64(h)+0.01)*step {
					from++
				}
				near[h] += i - from
			}
		}
	}
	most := 0.0
	for h := 1; h <= nearest; h++ {
		most = max(most, float64(near[h])/float64(h))
	}
	return again >= fewest && float64(again) > beyondChance*most
}

// blockAgain reports whether a series without other columns contains the same block of readings twice, in the same order, which is
// longer than chance makes it. Each different value of a block counts once, so that sorted or constant readings are no block.
func blockAgain(y []float64) bool {
	n := len(y)
	if n > mostForBlocks {
		return false
	}
	rarity := map[float64]float64{}
	for _, v := range y {
		rarity[v]++
	}
	for v, k := range rarity {
		rarity[v] = math.Log(float64(n) / k)
	}
	enough := math.Log(float64(n)*float64(n)/2) + math.Log(1e4)
	seen := map[float64]int{} // the run in which a value was counted last
	for shift, run := 1, 0; shift < n; shift++ {
		score, length := 0.0, 0
		run++
		for i := shift; i < n; i++ {
			if y[i] != y[i-shift] || length == shift {
				score, length = 0, 0
				run++
				if y[i] != y[i-shift] {
					continue
				}
			}
			length++
			if seen[y[i]] != run {
				seen[y[i]] = run
				score += rarity[y[i]]
			}
			if score > enough {
				return true
			}
		}
	}
	return false
}

// equals returns how many of sorted values equal an earlier one.
func equals(v []float64) (n int) {
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1] {
			n++
		}
	}
	return n
}
