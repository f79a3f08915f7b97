// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"cmp"
	"fmt"
	"runtime"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/tensor"
)

// lattice is a regular grid of two coordinates on which functions are tabulated.
type lattice struct {
	rows, columns int
	w             *window
}

// interpolated returns the functions x [row, column, channel] at places [2, point] in units of the grid, as [channel, point], or their
// derivatives of some orders with respect to the place.
//
// Gradient: of any order up to three derivatives by each coordinate. The adjoint with respect to x spreads over the grid.
func (l *lattice) interpolated(x, places *ad.Node, order [2]int) *ad.Node {
	return ad.Call(&ad.Custom{Name: "interpolate on a detector",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if err := l.check(in[1]); err != nil {
				return nil, err
			}
			if len(in[0]) != 3 || in[0][0] != l.rows || in[0][1] != l.columns {
				return nil, fmt.Errorf("the functions have the shape %v: want [%d, %d, channel]", in[0], l.rows, l.columns)
			}
			return tensor.Shape{in[0][2], in[1][1]}, nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			return l.gather(out, in[0], in[1], order)
		},
		VJP: func(g, _ *ad.Node, in []*ad.Node) []*ad.Node {
			return []*ad.Node{l.spread(g, in[1], order), l.moved(in[0], g, in[1], order)}
		},
	}, x, places)
}

// spread is the adjoint of interpolated with respect to the functions: v [channel, point] becomes [row, column, channel].
func (l *lattice) spread(v, places *ad.Node, order [2]int) *ad.Node {
	return ad.Call(&ad.Custom{Name: "spread from a detector",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if err := l.check(in[1]); err != nil {
				return nil, err
			}
			return tensor.Shape{l.rows, l.columns, in[0][0]}, nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			return l.scatter(out, in[0], in[1], order)
		},
		VJP: func(g, _ *ad.Node, in []*ad.Node) []*ad.Node {
			return []*ad.Node{l.interpolated(g, in[1], order), l.moved(g, in[0], in[1], order)}
		},
	}, v, places)
}

// moved returns the gradient of sum(v interpolated(x)) with respect to the places, [2, point].
func (l *lattice) moved(x, v, places *ad.Node, order [2]int) *ad.Node {
	if order[0] == maxOrder || order[1] == maxOrder {
		return ad.Fail(fmt.Errorf("farfield: derivatives of interpolated functions end at order %d", maxOrder))
	}
	return ad.Call(&ad.Custom{Name: "move on a detector",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[2], l.check(in[2]) },
		Forward: func(out []float64, in ...[]float64) error {
			return l.slopes(out, in[0], in[1], in[2], order)
		},
		VJP: func(g, _ *ad.Node, in []*ad.Node) []*ad.Node {
			var dx, dv, dplaces *ad.Node
			for axis := range 2 {
				higher := order
				higher[axis]++
				of := ad.Index(g, 0, axis)
				dx = sum(dx, l.spread(ad.Mul(in[1], of), in[2], higher))
				dv = sum(dv, ad.Mul(of, l.interpolated(in[0], in[2], higher)))
				dplaces = sum(dplaces, l.moved(in[0], ad.Mul(in[1], of), in[2], higher))
			}
			return []*ad.Node{dx, dv, dplaces}
		},
	}, x, v, places)
}

func (l *lattice) check(places tensor.Shape) error {
	if len(places) != 2 || places[0] != 2 {
		return fmt.Errorf("the places have the shape %v: want [2, point]", places)
	}
	return nil
}

// OutsideError says that a pixel has a q that the grid does not reach.
type OutsideError struct {
	Place [2]float64 // row and column of the grid
	Size  [2]int
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("farfield: q of a pixel lies at row %.4g and column %.4g of a grid of %d x %d: allow a larger q, or hold the centre and the distance of the detector nearer to their start",
		e.Place[0], e.Place[1], e.Size[0], e.Size[1])
}

// at fills the weights of a point along both coordinates and returns the first row and column.
func (l *lattice) at(wy, wx []float64, places []float64, i int, order [2]int) (row, column int, err error) {
	n := len(places) / 2
	y, x := places[i], places[n+i]
	most := 1e9 // beyond which a place is no index, NaN included
	if !(y > -most && y < most && x > -most && x < most) {
		return 0, 0, &OutsideError{[2]float64{y, x}, [2]int{l.rows, l.columns}}
	}
	row, column = l.w.weights(wy, y, order[0]), l.w.weights(wx, x, order[1])
	if row < 0 || column < 0 || row+len(wy) > l.rows || column+len(wx) > l.columns {
		return 0, 0, &OutsideError{[2]float64{y, x}, [2]int{l.rows, l.columns}}
	}
	return row, column, nil
}

// pointsPerTask is the number of points that a goroutine takes at a time.
const pointsPerTask = 256

// gather interpolates functions at places.
func (l *lattice) gather(out, x, places []float64, order [2]int) error {
	n := len(places) / 2
	channels, taps := len(x)/(l.rows*l.columns), 2*l.w.m
	return each(n, func(from, to int) error {
		wy, wx := make([]float64, taps), make([]float64, taps)
		sum := make([]float64, channels)
		for i := from; i < to; i++ {
			row, column, err := l.at(wy, wx, places, i, order)
			if err != nil {
				return err
			}
			l.sum(sum, x, row, column, wy, wx)
			for c, v := range sum {
				out[c*n+i] = v
			}
		}
		return nil
	})
}

// slopes computes the derivatives of sum(v x) by the places of its points, for functions x on the grid and v at the points.
func (l *lattice) slopes(out, x, v, places []float64, order [2]int) error {
	n := len(places) / 2
	channels, taps := len(x)/(l.rows*l.columns), 2*l.w.m
	return each(n, func(from, to int) error {
		wy, wx, dy, dx := make([]float64, taps), make([]float64, taps), make([]float64, taps), make([]float64, taps)
		at := make([]float64, channels)
		for i := from; i < to; i++ {
			row, column, err := l.at(wy, wx, places, i, order)
			if err != nil {
				return err
			}
			l.w.weights(dy, places[i], order[0]+1)
			l.w.weights(dx, places[n+i], order[1]+1)
			for c := range at {
				at[c] = v[c*n+i]
			}
			var byY, byX float64
			for b := range wy {
				var value, slope float64 // along the row
				from := x[((row+b)*l.columns+column)*channels:]
				for k, w := range wx {
					var re, im float64 // parts of complex functions, which come in turn
					t := from[:len(at)]
					for c := 1; c < len(t) && c < len(at); c += 2 {
						re, im = re+t[c-1]*at[c-1], im+t[c]*at[c]
					}
					if last := len(t) - 1; last%2 == 0 {
						re += t[last] * at[last]
					}
					value, slope = value+w*(re+im), slope+dx[k]*(re+im)
					from = from[channels:]
				}
				byY, byX = byY+dy[b]*value, byX+wy[b]*slope
			}
			out[i], out[n+i] = byY, byX
		}
		return nil
	})
}

// each calls f for ranges of n points, several at a time.
func each(n int, f func(from, to int) error) error {
	const most = 256 // points that a goroutine takes at a time
	tasks := (n + most - 1) / most
	errs := make([]error, tasks)
	parallel.Do(runtime.GOMAXPROCS(0), tasks, func(_, task int) {
		errs[task] = f(task*most, min(n, (task+1)*most))
	})
	return cmp.Or(errs...)
}

// axpy adds w x to y, of the length of y.
func axpy(y []float64, w float64, x []float64) {
	x = x[:len(y)]
	for i := range y {
		y[i] += w * x[i]
	}
}

// sum adds the functions at the taps of a point with their weights, two complex ones at a time where there are as many.
func (l *lattice) sum(sum, x []float64, row, column int, wy, wx []float64) {
	channels := len(sum)
	clear(sum)
	for b, y := range wy {
		start := ((row+b)*l.columns + column) * channels
		c := 0
		for ; c+4 <= channels; c += 4 {
			var s0, s1, s2, s3 float64
			at := start + c
			for _, w := range wx {
				t := x[at : at+4 : at+4]
				s0, s1, s2, s3 = s0+w*t[0], s1+w*t[1], s2+w*t[2], s3+w*t[3]
				at += channels
			}
			t := sum[c : c+4 : c+4]
			t[0], t[1], t[2], t[3] = t[0]+y*s0, t[1]+y*s1, t[2]+y*s2, t[3]+y*s3
		}
		for ; c+2 <= channels; c += 2 {
			var s0, s1 float64
			at := start + c
			for _, w := range wx {
				t := x[at : at+2 : at+2]
				s0, s1 = s0+w*t[0], s1+w*t[1]
				at += channels
			}
			sum[c], sum[c+1] = sum[c]+y*s0, sum[c+1]+y*s1
		}
		for ; c < channels; c++ {
			v, at := 0.0, start+c
			for _, w := range wx {
				v += w * x[at]
				at += channels
			}
			sum[c] += y * v
		}
	}
}

// scatter gives each goroutine rows of the grid of its own and goes through the points in their order, so that sums have the same bits on
// any number of threads.
func (l *lattice) scatter(out, v, places []float64, order [2]int) error {
	n := len(places) / 2
	channels, taps := len(out)/(l.rows*l.columns), 2*l.w.m
	bands := min(runtime.GOMAXPROCS(0), l.rows)
	errs := make([]error, bands)
	parallel.Do(bands, bands, func(_, band int) {
		low, high := band*l.rows/bands, (band+1)*l.rows/bands
		wy, wx, one := make([]float64, taps), make([]float64, taps), make([]float64, channels)
		for i := range n {
			if y := places[i] - float64(l.w.m); y+float64(taps)+2 < float64(low) || y-1 > float64(high) {
				continue
			}
			row, column, err := l.at(wy, wx, places, i, order)
			if err != nil {
				errs[band] = err
				return
			}
			for c := range one {
				one[c] = v[c*n+i]
			}
			for b, y := range wy {
				if row+b < low || row+b >= high {
					continue
				}
				to := out[((row+b)*l.columns+column)*channels:]
				for _, w := range wx {
					axpy(to[:channels], y*w, one)
					to = to[channels:]
				}
			}
		}
	})
	return cmp.Or(errs...)
}
