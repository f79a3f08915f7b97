package rsoxs

import (
	"math"
	"slices"
)

// average is the mean over the angles of the electric field of the images, each
// turned so that the field lies along +x.
type average struct {
	turns   []*warp
	tilt    *warp
	ny, nx  int
	masked  bool // mean over what is valid
	workers int
}

// mostSamples bounds the samples that are tabulated; they take 48 bytes each.
const mostSamples = 1 << 20

func newAverage(c *Config, b *beam, k vec, ny, nx int) *average {
	a := &average{ny: ny, nx: nx, masked: c.RotMask, workers: c.Workers}
	for _, angle := range b.angles {
		turn := newRotation(angle, ny, nx)
		if ny*nx*len(b.angles) <= mostSamples {
			turn.tabulate()
		}
		a.turns = append(a.turns, turn)
	}
	if c.Case != Transmission {
		a.tilt = newTilt(k, c.Detector, ny, nx)
	}
	return a
}

// to writes the mean of the shots' images, one per shot.
func (a *average) to(dst [][]float64, shots []*shot) {
	counts := make([][]float64, len(shots))
	mixed := make([][]float64, len(shots))
	for e := range shots {
		clear(dst[e])
		counts[e], mixed[e] = make([]float64, a.ny*a.nx), make([]float64, a.ny*a.nx)
	}
	for t, turn := range a.turns {
		parallel(a.workers, a.ny, func(_, y int) {
			for e, h := range shots {
				h.mixRow(mixed[e][y*a.nx:(y+1)*a.nx], t, y*a.nx)
			}
		})
		parallel(a.workers, a.ny, func(_, y int) { a.addRow(dst, counts, mixed, turn, y) })
	}
	for e := range shots {
		a.finish(dst[e], counts[e])
		if a.tilt != nil {
			a.tiltTo(dst[e])
		}
	}
}

// mixRow computes a part of the image at angle t from element from on.
func (h *shot) mixRow(dst []float64, t, from int) {
	first, w := h.mix(t)
	if len(w) == 1 {
		copy(dst, h.images[first][from:])
		return
	}
	x, y, xy := h.images[0][from:], h.images[1][from:], h.images[2][from:]
	for i := range dst {
		dst[i] = w[0]*x[i] + w[1]*y[i] + w[2]*xy[i]
	}
}

func (a *average) addRow(dst, counts, mixed [][]float64, turn *warp, y int) {
	row := turn.row(y, make([]sample, a.nx))
	for e, image := range mixed {
		sum, count := dst[e][y*a.nx:(y+1)*a.nx], counts[e][y*a.nx:(y+1)*a.nx]
		for x := range row {
			if v := row[x].read(image); v == v {
				sum[x] += v
				count[x]++
			}
		}
	}
}

// finish divides sums by counts.
func (a *average) finish(sum, count []float64) {
	n := float64(len(a.turns))
	for i, c := range count {
		switch {
		case !a.masked && c < n:
			sum[i] = math.NaN()
		case c > 0:
			sum[i] /= c
		}
	}
}

// tiltTo reads an image in the plane of the detector.
func (a *average) tiltTo(image []float64) {
	from, room := slices.Clone(image), make([]sample, a.nx)
	for y := range a.ny {
		row := a.tilt.row(y, room)
		for x := range row {
			v := row[x].read(from)
			if a.masked && row[x].at[0] < 0 {
				v = 0
			}
			image[y*a.nx+x] = v
		}
	}
}

// angleGroups is the number of parts that sums over angles are made of, whatever
// the number of workers.
const angleGroups = 8

// back replaces the images of the shots, of which the first is an outline, by the
// gradients with respect to them, from those of the means, which it spoils.
func (a *average) back(g [][]float64, shots []*shot) {
	for e, h := range shots {
		valid := h.images[0]
		counts := a.counts(h, valid)
		a.finishBack(g[e], counts)
		groups := min(angleGroups, len(a.turns))
		parts := make([][][]float64, groups)
		parallel(a.workers, groups, func(_, i int) { parts[i] = a.groupBack(g[e], h, i, groups) })
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

// counts returns how many angles reach each pixel of the mean.
func (a *average) counts(h *shot, valid []float64) []float64 {
	counts := make([]float64, a.ny*a.nx)
	parallel(a.workers, a.ny, func(_, y int) {
		room := make([]sample, a.nx)
		for _, turn := range a.turns {
			row := turn.row(y, room)
			for x := range row {
				if v := row[x].read(valid); v == v {
					counts[y*a.nx+x]++
				}
			}
		}
	})
	return counts
}

// finishBack is the transpose of tiltTo and finish; pixels that are not valid get
// no gradient.
func (a *average) finishBack(g, count []float64) {
	if a.tilt != nil {
		a.tiltBack(g, count)
	}
	n := float64(len(a.turns))
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
			if v := row[x].read(mean); v == v {
				row[x].spread(g, from[y*a.nx+x])
			}
		}
	}
}

// groupBack is the transpose of the sums over the angles of a group.
func (a *average) groupBack(g []float64, h *shot, group, groups int) [][]float64 {
	out := make([][]float64, len(h.images))
	for j := range out {
		out[j] = make([]float64, a.ny*a.nx)
	}
	mixed, room := make([]float64, a.ny*a.nx), make([]sample, a.nx)
	valid := h.images[0]
	for t := group; t < len(a.turns); t += groups {
		clear(mixed)
		for y := range a.ny {
			row := a.turns[t].row(y, room)
			for x := range row {
				if d := g[y*a.nx+x]; d != 0 {
					if v := row[x].read(valid); v == v {
						row[x].spread(mixed, d)
					}
				}
			}
		}
		first, w := h.mix(t)
		for j, f := range w {
			for i, v := range mixed {
				out[first+j][i] += f * v
			}
		}
	}
	return out
}
