// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
)

// lane is one pixel at all energies of a batch. They share the geometry of the rotations, so it is
// computed once, and memory is read contiguously.
type lane = [energyBatch]float64

// fewLanes is the number of energies from which they are rotated together.
const fewLanes = 3

// lanes are the images of a batch and the sums over the rotated images: part 0 is used as it is,
// part 1 is to be mirrored.
type lanes struct {
	images [][]lane // images by [image][pixel]
	mixed  []lane
	sum    [2][]lane
	full   [2][]float64 // number of times that a pixel was valid at all energies
	count  [2][]lane    // number of times that a pixel was valid otherwise, by energy
}

func (a *average) newLanes(exposures []*exposure) *lanes {
	l := &lanes{mixed: make([]lane, a.ny*a.nx)}
	for k := range 2 {
		if k == 0 || a.rows > a.ny {
			n := a.rows * a.cols
			l.sum[k], l.full[k], l.count[k] = make([]lane, n), make([]float64, n), make([]lane, n)
		}
	}
	for range exposures[0].images {
		l.images = append(l.images, make([]lane, a.ny*a.nx))
	}
	parallel.Do(a.workers, a.ny, func(_, y int) {
		for k, image := range l.images {
			for e, h := range exposures {
				for i := y * a.nx; i < (y+1)*a.nx; i++ {
					image[i][e] = h.images[k][i]
				}
			}
		}
	})
	return l
}

// mixRow computes row y of the images at a rotation, with the weights of h.
func (l *lanes) mixRow(h *exposure, turn, y, nx int) {
	first, w := h.mix(turn)
	dst := l.mixed[y*nx : (y+1)*nx]
	if len(w) == 1 {
		copy(dst, l.images[first][y*nx:])
		return
	}
	w0, w1, w2 := w[0], w[1], w[2]
	p, q, r := l.images[0][y*nx:][:nx], l.images[1][y*nx:][:nx], l.images[2][y*nx:][:nx]
	for i := range dst {
		d, x, y, xy := &dst[i], &p[i], &q[i], &r[i]
		for e := range d {
			d[e] = w0*x[e] + w1*y[e] + w2*xy[e]
		}
	}
}

// addRow adds the samples of a row to the sums, from place at on.
func (l *lanes) addRow(row []sample, at int, t foldedAngle) {
	for k, times := range [2]float64{t.same, t.opposite} {
		if end := at + len(row); times > 0 {
			kernels.AddCorners(l.sum[k][at:end], l.count[k][at:end], l.full[k][at:end], l.mixed, row, times)
		}
	}
}

// lanesTo is to for several energies at once.
func (a *average) lanesTo(dst [][]float64, exposures []*exposure) {
	l := a.newLanes(exposures)
	rooms := make([][]sample, a.workers)
	for i := range rooms {
		rooms[i] = make([]sample, a.cols)
	}
	for i, t := range a.turns {
		parallel.Do(a.workers, a.ny, func(_, y int) { l.mixRow(exposures[0], i, y, a.nx) })
		parallel.Do(a.workers, a.rows, func(w, y int) { l.addRow(t.row(y, rooms[w]), y*a.cols, t) })
	}
	parallel.Do(a.workers, len(exposures), func(_, e int) {
		a.finish(dst[e], l.counted(dst[e], a, e))
		if a.tilt != nil {
			a.tiltTo(dst[e])
		}
	})
}

// counted writes the sums of one energy over all angles and returns their counts.
func (l *lanes) counted(dst []float64, a *average, e int) []float64 {
	count := make([]float64, a.ny*a.nx)
	for y := range a.ny {
		for x := range a.nx {
			i, at := y*a.nx+x, y*a.cols+x
			dst[i], count[i] = l.sum[0][at][e], l.full[0][at]+l.count[0][at][e]
			if l.sum[1] != nil {
				at = (a.ny-y)*a.cols + a.nx - x
				dst[i], count[i] = dst[i]+l.sum[1][at][e], count[i]+l.full[1][at]+l.count[1][at][e]
			}
		}
	}
	return count
}
