// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"fmt"
	"math"
	"runtime"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// planes transforms complex planes of voxels to the grid of q by fast Fourier transforms of a length n, which cost less than matrices
// where planes are large: n steps of the grid are 2 pi/voxel.
type planes struct {
	rows, columns int // of voxels
	n, points     int
	first         int // index of the first point of the grid, negative
}

// smooth returns the least length from n on whose only prime factors are 2, 3 and 5, for which transforms are fast.
func smooth(n int) int {
	for ; ; n++ {
		rest := n
		for _, p := range []int{2, 3, 5} {
			for rest%p == 0 {
				rest /= p
			}
		}
		if rest == 1 {
			return n
		}
	}
}

// fast reports whether transforms cost less than products with matrices for planes of some size. A product with matrices multiplies at
// about three times the rate of a transform.
func fast(rows, columns, n, points int) bool {
	y, x, p := float64(rows), float64(columns), float64(points)
	matrices := 8 * (y*x*p + p*y*p)
	transforms := 5 * math.Log2(float64(n)) * float64(n) * (y + p)
	return matrices > 3*transforms
}

// forward returns sum over voxels of exp(i (q_y y + q_x x)) f for complex planes f, [2, plane, y, x], as [2, plane, q_y, q_x]: the real
// parts come first.
//
// Gradient: of any order.
func (p *planes) forward(f *ad.Node) *ad.Node {
	return p.call("planes of voxels at q", f, [2]int{p.rows, p.columns}, [2]int{p.points, p.points}, p.toPoints, p.back)
}

// back is the adjoint of forward: [2, plane, q_y, q_x] becomes [2, plane, y, x].
func (p *planes) back(g *ad.Node) *ad.Node {
	return p.call("planes of voxels from q", g, [2]int{p.points, p.points}, [2]int{p.rows, p.columns}, p.toVoxels, p.forward)
}

// call makes the Node of a transform of all planes from one size to another.
func (p *planes) call(name string, x *ad.Node, from, to [2]int, one func(w *planeWork, outRe, outIm, re, im []float64), adjoint func(*ad.Node) *ad.Node) *ad.Node {
	return ad.Call(&ad.Custom{Name: name,
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if s := in[0]; len(s) != 4 || s[0] != 2 || s[2] != from[0] || s[3] != from[1] {
				return nil, fmt.Errorf("the planes have the shape %v: want [2, plane, %d, %d]", s, from[0], from[1])
			}
			return tensor.Shape{2, in[0][1], to[0], to[1]}, nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			small, large := from[0]*from[1], to[0]*to[1]
			count := len(out) / large / 2
			p.each(count, func(w *planeWork, i int) {
				j := count + i
				one(w, out[i*large:(i+1)*large], out[j*large:(j+1)*large], in[0][i*small:(i+1)*small], in[0][j*small:(j+1)*small])
			})
			return nil
		},
		VJP: func(g, _ *ad.Node, _ []*ad.Node) []*ad.Node { return []*ad.Node{adjoint(g)} },
	}, x)
}

// planeWork is the memory of a goroutine: rows of voxels or columns of points of the length n.
type planeWork struct {
	rows, columns  []complex128
	ws             kernels.FFTWorkspace
	phaseY, phaseX []complex128
	alongX, alongY *kernels.FFT
}

// each calls f for every plane, several at a time.
func (p *planes) each(count int, f func(w *planeWork, i int)) {
	workers := min(runtime.GOMAXPROCS(0), count)
	works := make([]*planeWork, workers)
	parallel.Do(workers, count, func(worker, i int) {
		if works[worker] == nil {
			works[worker] = &planeWork{rows: make([]complex128, p.rows*p.n), columns: make([]complex128, p.points*p.n), phaseY: p.phases(p.rows), phaseX: p.phases(p.columns),
				alongX: kernels.NewFFTBatch(kernels.Best(), p.rows, p.n), alongY: kernels.NewFFTBatch(kernels.Best(), p.points, p.n)}
		}
		f(works[worker], i)
	})
}

// phases move the origin from the first voxel to the middle.
func (p *planes) phases(voxels int) []complex128 {
	out := make([]complex128, p.points)
	for i := range out {
		s, c := math.Sincos(-math.Pi * float64((p.first+i)*(voxels-1)) / float64(p.n))
		out[i] = complex(c, s)
	}
	return out
}

// at is where point i of the grid stands in a transform.
func (p *planes) at(i int) int { return ((p.first+i)%p.n + p.n) % p.n }

func (p *planes) toPoints(w *planeWork, outRe, outIm, re, im []float64) {
	clear(w.rows)
	for y := range p.rows {
		to := w.rows[y*p.n:]
		for x := range p.columns {
			to[x] = complex(re[y*p.columns+x], im[y*p.columns+x])
		}
	}
	w.alongX.Complex128(w.rows, w.rows, true, &w.ws)
	clear(w.columns)
	for i := range p.points {
		to, at := w.columns[i*p.n:], p.at(i)
		for y := range p.rows {
			to[y] = w.rows[y*p.n+at]
		}
	}
	w.alongY.Complex128(w.columns, w.columns, true, &w.ws)
	for j := range p.points {
		at, phase := p.at(j), w.phaseY[j]
		for i := range p.points {
			v := w.columns[i*p.n+at] * phase * w.phaseX[i]
			outRe[j*p.points+i], outIm[j*p.points+i] = real(v), imag(v)
		}
	}
}

// toVoxels is the adjoint of toPoints.
func (p *planes) toVoxels(w *planeWork, outRe, outIm, re, im []float64) {
	clear(w.columns)
	for j := range p.points {
		at, phase := p.at(j), w.phaseY[j]
		for i := range p.points {
			f := phase * w.phaseX[i]
			w.columns[i*p.n+at] += complex(re[j*p.points+i], im[j*p.points+i]) * complex(real(f), -imag(f))
		}
	}
	w.alongY.Complex128(w.columns, w.columns, false, &w.ws)
	clear(w.rows)
	for i := range p.points {
		from, at := w.columns[i*p.n:], p.at(i)
		for y := range p.rows {
			w.rows[y*p.n+at] += from[y]
		}
	}
	w.alongX.Complex128(w.rows, w.rows, false, &w.ws)
	for y := range p.rows {
		from := w.rows[y*p.n:]
		for x := range p.columns {
			outRe[y*p.columns+x], outIm[y*p.columns+x] = real(from[x]), imag(from[x])
		}
	}
}
