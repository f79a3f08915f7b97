// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// average computes the mean over the angles of the electric field of the images, each rotated so
// that the field lies along +x.
//
// An angle and its opposite mix the images in the same way, and rotate them to results that are
// mirror images of each other about the centre, n/2. They are computed once, with one row and one
// column more than the image has, which the mirror image needs.
type average struct {
	turns      []foldedAngle
	angles     int
	tilt       *warp
	ny, nx     int
	rows, cols int  // size of the rotated images
	masked     bool // whether to take the mean over the valid pixels only
	plain      bool // whether no image is rotated: there is only the angle 0, possibly repeated
	workers    int
}

// foldedAngle is the index of an angle, with the number of times that it and its opposite occur in
// the list.
type foldedAngle struct {
	*warp
	angle          int
	same, opposite float64
}

// mostSamples bounds the number of samples that are tabulated; each takes 48 bytes.
const mostSamples = 1 << 20

func newAverage(c *Config, b *beam, k vec, ny, nx int) *average {
	a := &average{ny: ny, nx: nx, rows: ny, cols: nx, angles: len(b.angles), masked: c.RotMask, workers: c.Workers}
	a.turns = folded(b.angles, c.Frame)
	for _, t := range a.turns {
		if t.opposite > 0 {
			a.rows, a.cols = ny+1, nx+1
		}
	}
	for i := range a.turns {
		if a.plain = len(a.turns) == 1 && a.turns[0].opposite == 0 && b.angles[0] == 0; a.plain {
			a.angles = 1 // the mean of equal images is one of them
			break
		}
		w := newRotation(b.angles[a.turns[i].angle], ny, nx)
		w.rows, w.cols = a.rows, a.cols
		if a.rows*a.cols*len(a.turns) <= mostSamples {
			w.tabulate()
		}
		a.turns[i].warp = w
	}
	if c.Case != Transmission {
		a.tilt = newTilt(k, c.Detector, ny, nx)
	}
	return a
}

// folded merges angles, in radians, that are equal or opposite. In the material's frame every angle
// has an image of its own.
func folded(angles []float64, f Frame) (list []foldedAngle) {
	const near = 1e-9
	seen := map[int64]int{} // angle over half a turn, in units of near, to its place in list
	for i, angle := range angles {
		half := math.Floor(angle/math.Pi + near)
		key := int64(math.Round((angle/math.Pi - half) / near))
		at, ok := seen[key]
		if !ok || f == MaterialFrame {
			at, seen[key] = len(list), len(list)
			list = append(list, foldedAngle{angle: i})
		}
		if first := math.Floor(angles[list[at].angle]/math.Pi + near); math.Mod(half-first, 2) == 0 {
			list[at].same++
		} else {
			list[at].opposite++
		}
	}
	return list
}

// sums accumulates rotated images: part 0 is used as it is, part 1 is to be mirrored.
type sums struct{ sum, count [2][]float64 }

func (a *average) newSums() (s sums) {
	for k := range 2 {
		if k == 0 || a.rows > a.ny {
			s.sum[k], s.count[k] = make([]float64, a.rows*a.cols), make([]float64, a.rows*a.cols)
		}
	}
	return s
}

// to writes the mean of the images of each exposure.
func (a *average) to(dst [][]float64, exposures []*exposure) {
	if a.plain {
		a.plainTo(dst, exposures)
		return
	}
	if len(exposures) >= fewLanes {
		a.lanesTo(dst, exposures)
		return
	}
	all := make([]sums, len(exposures))
	mixed := make([][]float64, len(exposures))
	for e := range exposures {
		all[e], mixed[e] = a.newSums(), make([]float64, a.ny*a.nx)
	}
	for i, t := range a.turns {
		parallel.Do(a.workers, a.ny, func(_, y int) {
			for e, h := range exposures {
				h.mixRow(mixed[e][y*a.nx:(y+1)*a.nx], i, y*a.nx)
			}
		})
		parallel.Do(a.workers, a.rows, func(_, y int) { a.addRow(all, mixed, t, y) })
	}
	for e := range exposures {
		a.finish(dst[e], a.counted(dst[e], all[e]))
		if a.tilt != nil {
			a.tiltTo(dst[e])
		}
	}
}

// plainTo is to for the case in which nothing is rotated.
func (a *average) plainTo(dst [][]float64, exposures []*exposure) {
	for e, h := range exposures {
		h.mixRow(dst[e], 0, 0)
		for i, v := range dst[e] {
			if a.masked && v != v {
				dst[e][i] = 0
			}
		}
		if a.tilt != nil {
			a.tiltTo(dst[e])
		}
	}
}

// counted writes the sums over all angles and returns their counts.
func (a *average) counted(dst []float64, s sums) (count []float64) {
	count = make([]float64, a.ny*a.nx)
	for y := range a.ny {
		for x := range a.nx {
			i, at := y*a.nx+x, y*a.cols+x
			dst[i], count[i] = s.sum[0][at], s.count[0][at]
			if s.sum[1] != nil {
				mirror := (a.ny-y)*a.cols + a.nx - x
				dst[i], count[i] = dst[i]+s.sum[1][mirror], count[i]+s.count[1][mirror]
			}
		}
	}
	return count
}

// angleGroups is the number of partial sums over the angles. It does not depend on the number of
// workers, so results do not either.
const angleGroups = 8

// mixRow computes part of the image at rotation t, starting at element from.
func (h *exposure) mixRow(dst []float64, t, from int) {
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

func (a *average) addRow(all []sums, mixed [][]float64, t foldedAngle, y int) {
	row := t.row(y, make([]sample, a.cols))
	from, to := y*a.cols, (y+1)*a.cols
	for e, image := range mixed {
		for k, times := range [2]float64{t.same, t.opposite} {
			if times > 0 {
				addSamples(all[e].sum[k][from:to], all[e].count[k][from:to], row, image, times)
			}
		}
	}
}

// addSamples adds the sampled values to sum and counts those that are valid.
func addSamples(sum, count []float64, row []sample, image []float64, times float64) {
	for x := range row {
		if v := read(image, &row[x]); v == v {
			sum[x] += float64(times * v)
			count[x] += times
		}
	}
}

// finish divides sums by counts.
func (a *average) finish(sum, count []float64) {
	n := float64(a.angles)
	for i, c := range count {
		switch {
		case !a.masked && c < n:
			sum[i] = math.NaN()
		case c > 0:
			sum[i] /= c
		}
	}
}

// tiltTo resamples an image onto the plane of the detector.
func (a *average) tiltTo(image []float64) {
	from, room := slices.Clone(image), make([]sample, a.nx)
	for y := range a.ny {
		row := a.tilt.row(y, room)
		for x := range row {
			v := read(from, &row[x])
			if a.masked && row[x].At[0] < 0 {
				v = 0
			}
			image[y*a.nx+x] = v
		}
	}
}
