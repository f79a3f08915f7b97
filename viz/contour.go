// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

type place [2]float64

// contour returns the lines along which z crosses a level, by marching squares.
func contour(z [][]float64, level float64) (lines [][]place) {
	next := map[place][]place{}
	for j := range len(z) - 1 {
		for i := range len(z[j]) - 1 {
			at := crossings([4]float64{z[j][i], z[j][i+1], z[j+1][i+1], z[j+1][i]}, float64(i), float64(j), level)
			for k := 0; k+1 < len(at); k += 2 {
				next[at[k]] = append(next[at[k]], at[k+1])
				next[at[k+1]] = append(next[at[k+1]], at[k])
			}
		}
	}
	// Open lines start at places with one neighbour; what is left then is closed.
	for _, ends := range []int{1, 2} {
		for j := range z {
			for i := range z[j] {
				for _, p := range startsIn(next, z, i, j, level) {
					if len(next[p]) == ends || ends == 2 && len(next[p]) > 0 {
						lines = append(lines, follow(next, p))
					}
				}
			}
		}
	}
	return lines
}

// startsIn returns the crossings on the two edges that leave a grid point, so
// that lines are found in the same order every time.
func startsIn(next map[place][]place, z [][]float64, i, j int, level float64) (out []place) {
	if i+1 < len(z[j]) && (z[j][i] > level) != (z[j][i+1] > level) {
		out = append(out, place{float64(i) + part(z[j][i], z[j][i+1], level), float64(j)})
	}
	if j+1 < len(z) && (z[j][i] > level) != (z[j+1][i] > level) {
		out = append(out, place{float64(i), float64(j) + part(z[j][i], z[j+1][i], level)})
	}
	return out
}

// follow returns the line through p and removes it.
func follow(next map[place][]place, p place) []place {
	line := []place{p}
	for len(next[p]) > 0 {
		q := next[p][0]
		next[p] = next[p][1:]
		for k, back := range next[q] {
			if back == p {
				next[q] = append(next[q][:k:k], next[q][k+1:]...)
				break
			}
		}
		line = append(line, q)
		p = q
	}
	return line
}

// part returns the fraction of the way from a to b at which the level lies.
func part(a, b, level float64) float64 { return (level - a) / (b - a) }

// crossings returns where the edges of a cell cross the level: bottom, right,
// top, left. Neighbours compute the same numbers for the edge they share.
func crossings(v [4]float64, x, y, level float64) (at []place) {
	in := func(k int) bool { return v[k] > level }
	if in(0) != in(1) {
		at = append(at, place{x + part(v[0], v[1], level), y})
	}
	if in(1) != in(2) {
		at = append(at, place{x + 1, y + part(v[1], v[2], level)})
	}
	if in(3) != in(2) {
		at = append(at, place{x + part(v[3], v[2], level), y + 1})
	}
	if in(0) != in(3) {
		at = append(at, place{x, y + part(v[0], v[3], level)})
	}
	return at
}
