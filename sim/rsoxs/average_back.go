// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// outlines tells which pixels the detector sees: bit e of each is set for those of exposure e, whose first image is an outline.
func outlines(exposures []*exposure) []uint8 {
	seen := make([]uint8, len(exposures[0].images[0]))
	for e, h := range exposures {
		for i, v := range h.images[0] {
			if v == v {
				seen[i] |= 1 << e
			}
		}
	}
	return seen
}

// seenAt returns the exposures for which all elements of a sample are seen.
func seenAt(seen []uint8, s *sample) uint8 {
	if s.At[0] < 0 {
		return 0
	}
	return seen[s.At[0]] & seen[s.At[1]] & seen[s.At[2]] & seen[s.At[3]]
}

// counts returns the number of angles that reach each pixel of the mean, for each of n exposures.
func (a *average) counts(seen []uint8, n int) [][]int32 {
	var parts [2][][]int32
	for k := range parts {
		for range n {
			parts[k] = append(parts[k], make([]int32, a.rows*a.cols))
		}
	}
	rooms := make([][]sample, a.workers)
	for i := range rooms {
		rooms[i] = make([]sample, a.cols)
	}
	parallel.Do(a.workers, a.rows, func(who, y int) {
		for _, t := range a.turns {
			if a.plain {
				break
			}
			same, opposite := int32(t.same), int32(t.opposite)
			for x, row := 0, t.row(y, rooms[who]); x < len(row); x++ {
				for m := seenAt(seen, &row[x]); m != 0; m &= m - 1 {
					e, at := bits.TrailingZeros8(m), y*a.cols+x
					parts[0][e][at] += same
					parts[1][e][at] += opposite
				}
			}
		}
	})
	all := make([][]int32, n)
	for e := range all {
		all[e] = make([]int32, a.ny*a.nx)
		for i := range all[e] {
			y, x := i/a.nx, i%a.nx
			all[e][i] = parts[0][e][y*a.cols+x]
			if a.plain {
				all[e][i] = int32(seen[i] >> e & 1)
			} else if a.rows > a.ny {
				all[e][i] += parts[1][e][(a.ny-y)*a.cols+a.nx-x]
			}
		}
	}
	return all
}

// back replaces the images of the exposures, by whose outlines pixels are seen, by the gradients with respect to them. g holds the
// gradients of the means, which counts angles reach, and is overwritten.
func (a *average) back(g [][]float64, counts [][]int32, seen []uint8, exposures []*exposure) {
	for e := range exposures {
		a.finishBack(g[e], counts[e])
	}
	switch {
	case a.plain: // one angle has one image
		for e, h := range exposures {
			copy(h.images[0], g[e])
		}
	case len(exposures) >= fewLanes:
		a.lanesBack(g, seen, exposures)
	default:
		for e, h := range exposures {
			groups := min(angleGroups, len(a.turns))
			parts := make([][][]float64, groups)
			parallel.Do(a.workers, groups, func(_, i int) { parts[i] = a.groupBack(g[e], seen, e, h, i, groups) })
			for j := range h.images {
				clear(h.images[j])
				for _, p := range parts {
					for i, v := range p[j] {
						h.images[j][i] += v
					}
				}
			}
		}
	}
}

// finishBack is the transpose of tiltTo and finish, for pixels that so many angles reach; invalid pixels get no gradient.
func (a *average) finishBack(g []float64, reached []int32) {
	count := make([]float64, len(reached))
	for i, c := range reached {
		count[i] = float64(c)
	}
	if a.tilt != nil {
		a.tiltBack(g, count)
	}
	n := float64(a.angles)
	for i, c := range count {
		if c == 0 || !a.masked && c < n || g[i] != g[i] {
			g[i] = 0
			continue
		}
		g[i] /= c
	}
}

// tiltBack is the transpose of tiltTo.
func (a *average) tiltBack(g, count []float64) {
	from, room := slices.Clone(g), make([]sample, a.nx)
	clear(g)
	mean := make([]float64, len(count))
	a.finish(mean, count)
	for y := range a.ny {
		row := a.tilt.row(y, room)
		for x := range row {
			if v := read(mean, &row[x]); v == v {
				scatter(g, &row[x], from[y*a.nx+x])
			}
		}
	}
}

// groupBack is the transpose of the sums over the angles of a group, for exposure e.
func (a *average) groupBack(g []float64, seen []uint8, e int, h *exposure, group, groups int) [][]float64 {
	out := make([][]float64, len(h.images))
	for j := range out {
		out[j] = make([]float64, a.ny*a.nx)
	}
	mixed, room := make([]float64, a.ny*a.nx), make([]sample, a.cols)
	for i := group; i < len(a.turns); i += groups {
		t := a.turns[i]
		clear(mixed)
		for y := range a.rows {
			for x, row := 0, t.row(y, room); x < len(row); x++ {
				if seenAt(seen, &row[x])>>e&1 != 0 {
					if d := a.gathered(g, t, y, x); d != 0 {
						scatter(mixed, &row[x], d)
					}
				}
			}
		}
		first, w := h.mix(i)
		for j, f := range w {
			addScaled(out[first+j], mixed, f)
		}
	}
	return out
}

// gathered returns the gradient with respect to element (y, x) of a rotated image.
func (a *average) gathered(g []float64, t foldedAngle, y, x int) (d float64) {
	if y < a.ny && x < a.nx {
		d = t.same * g[y*a.nx+x]
	}
	if t.opposite > 0 && y > 0 && x > 0 {
		d += t.opposite * g[(a.ny-y)*a.nx+a.nx-x]
	}
	return d
}

// bandRows is the number of rows of a rotated image whose gradients one goroutine adds to the image. Rows that are three apart read
// different elements, so that every other band may be added at the same time.
const bandRows = 16

// lanesBack is the transpose of lanesTo, without finish, for up to energyBatch exposures.
func (a *average) lanesBack(g [][]float64, seen []uint8, exposures []*exposure) {
	size := a.ny * a.nx
	mixed, means, images := make([]lane, size), make([]lane, size), make([][]lane, len(exposures[0].images))
	for j := range images {
		images[j] = make([]lane, size)
	}
	for e, v := range g {
		for i, x := range v {
			means[i][e] = x
		}
	}
	rooms := make([][]sample, a.workers)
	for i := range rooms {
		rooms[i] = make([]sample, a.cols)
	}
	bands := (a.rows + bandRows - 1) / bandRows
	for i, t := range a.turns {
		for odd := range 2 {
			parallel.Do(a.workers, (bands+1-odd)/2, func(who, k int) {
				for y := (2*k + odd) * bandRows; y < min((2*k+odd+1)*bandRows, a.rows); y++ {
					a.bandBack(mixed, means, seen, t, y, t.row(y, rooms[who]))
				}
			})
		}
		first, w := exposures[0].mix(i)
		parallel.Do(a.workers, a.ny, func(_, y int) {
			row := numbers(mixed[y*a.nx : (y+1)*a.nx])
			for j, f := range w {
				addScaled(numbers(images[first+j][y*a.nx:(y+1)*a.nx]), row, f)
			}
			clear(row)
		})
	}
	for e, h := range exposures {
		for j, image := range images {
			for i := range image {
				h.images[j][i] = image[i][e]
			}
		}
	}
}

// numbers returns the numbers of lanes.
func numbers(v []lane) []float64 { return unsafe.Slice(&v[0][0], len(v)*energyBatch) }

// bandBack adds the gradients of row y of the rotated images, whose samples are row, to the images.
func (a *average) bandBack(mixed, means []lane, seen []uint8, t foldedAngle, y int, row []sample) {
	for x := range row {
		s := &row[x]
		m := seenAt(seen, s)
		if m == 0 {
			continue
		}
		var d lane
		if y < a.ny && x < a.nx {
			for e, v := range &means[y*a.nx+x] {
				d[e] = t.same * v
			}
		}
		if t.opposite > 0 && y > 0 && x > 0 {
			for e, v := range &means[(a.ny-y)*a.nx+a.nx-x] {
				d[e] += t.opposite * v
			}
		}
		for e := range d {
			if m>>e&1 == 0 {
				d[e] = 0
			}
		}
		for k, at := range s.At {
			to, w := &mixed[at], s.Weight[k]
			for e, v := range &d {
				to[e] += w * v
			}
		}
	}
}
