// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
)

// Binning says over which pairs of frames c2 is averaged: lags in bins whose width grows with the lag, and for each of them the age of the
// sample, as the first frame, in bins of one width. The zero value is the default.
type Binning struct {
	Octave int // number of bins of lag in an octave, once they are wider than a frame. Default 3
	Ages   int // number of bins of age at short lags, fewer at long ones. Default 8, and at most one for every 4 frames
}

func (b *Binning) defaults(frames int) error {
	if b.Octave == 0 {
		b.Octave = 3
	}
	if b.Ages == 0 {
		b.Ages = min(8, max(1, frames/4))
	}
	if b.Octave < 1 || b.Ages < 1 || b.Octave > 64 || b.Ages > frames {
		return fmt.Errorf("twotime: there are %d bins of lag in an octave and %d of age for %s: want 1 to 64, and 1 to %d", b.Octave, b.Ages, errtext.Count(frames, "frame"), frames)
	}
	return nil
}

// cells divides the pairs of n frames that are more than band apart.
func (b Binning) cells(n, band int) []noise.Cell {
	var all []noise.Cell
	ratio := math.Pow(2, 1/float64(b.Octave))
	for shortest := band + 1; shortest < n; {
		longest := min(n-1, max(shortest, int(math.Ceil(float64(shortest)*ratio))-1))
		if n-1-longest < longest-shortest { // the rest is no longer than this bin
			longest = n - 1
		}
		starts := n - shortest
		ages := max(1, int(math.Round(float64(b.Ages*starts)/float64(n))))
		for a := range ages {
			all = append(all, noise.Cell{Shortest: shortest, Longest: longest, From: a * starts / ages, To: (a + 1) * starts / ages})
		}
		shortest = longest + 1
	}
	return all
}

// used says which pairs of an angle count.
func (d *Data) used(angle int) func(i, j int) bool {
	return func(i, j int) bool { return d.weight(angle, i, j) > 0 }
}

// means returns the mean of c2-1 in each cell, and how many pairs each has.
func means(d *Data, angle int, cells []noise.Cell) (mean []float64, count []int) {
	mean, count = make([]float64, len(cells)), make([]int, len(cells))
	n := len(d.Setup.Times)
	for k, c := range cells {
		c.Pairs(n, d.used(angle), func(i, j int) {
			mean[k] += d.C2[angle][i*n+j] - 1
			count[k]++
		})
		if count[k] > 0 {
			mean[k] /= float64(count[k])
		}
	}
	return mean, count
}

// quadrature stands for the mean over a cell: some of its pairs, with weights.
type quadrature struct {
	first, second []int
	weights       []float64
}

// newQuadrature chooses at most order^2 pairs of a cell near the Gauss-Legendre nodes of lags and of first frames, with weights for which the mean
// of every polynomial of a degree below order in both is that over all pairs of the cell. A cell with as few pairs has all of them.
func newQuadrature(c noise.Cell, d *Data, angle, order int) quadrature {
	n := len(d.Setup.Times)
	var q quadrature
	var u, v []float64 // of all pairs: first frame and lag, from -1 to 1
	middle, half := float64(c.From+c.To-1)/2, max(1, float64(c.To-1-c.From))/2
	mean, reach := float64(c.Shortest+c.Longest)/2, max(1, float64(c.Longest-c.Shortest))/2
	c.Pairs(n, d.used(angle), func(i, j int) {
		q.first, q.second = append(q.first, i), append(q.second, j)
		u, v = append(u, (float64(i)-middle)/half), append(v, (float64(j-i)-mean)/reach)
	})
	count := len(u)
	if count <= order*order {
		for range count {
			q.weights = append(q.weights, 1/float64(count))
		}
		return q
	}
	// nodes: at each chosen lag, the first frames that are used and nearest to those wanted
	lags := nodes(c.Shortest, c.Longest, order)
	at := map[int]map[int]int{} // lag, first frame: number of the pair
	for k := range count {
		lag := q.second[k] - q.first[k]
		if at[lag] == nil {
			at[lag] = map[int]int{}
		}
		at[lag][q.first[k]] = k
	}
	var chosen []int
	each := order * order / len(lags)
	for _, lag := range lags {
		for _, i := range nodes(c.From, min(c.To, n-lag)-1, each) {
			if k, ok := at[lag][i]; ok {
				chosen = append(chosen, k)
			}
		}
	}
	degrees := [2]int{min(each, order+2), min(len(lags), order)}
	moments := degrees[0] * degrees[1]
	a, b := mat.NewDense(moments, len(chosen), nil), mat.NewVecDense(moments, nil)
	basis := func(k int, f func(m int, value float64)) {
		m := 0
		legendre(u[k], degrees[0], func(x float64) {
			legendre(v[k], degrees[1], func(y float64) {
				f(m, x*y)
				m++
			})
		})
	}
	for k := range count {
		basis(k, func(m int, value float64) { b.SetVec(m, b.AtVec(m)+value/float64(count)) })
	}
	for col, k := range chosen {
		basis(k, func(m int, value float64) { a.Set(m, col, value) })
	}
	var svd mat.SVD
	var w mat.Dense
	if len(chosen) == 0 || !svd.Factorize(a, mat.SVDThin) {
		return thinned(q, order*order)
	}
	svd.SolveTo(&w, b, svd.Rank(1e-9))
	out := quadrature{}
	for col, k := range chosen {
		out.first, out.second, out.weights = append(out.first, q.first[k]), append(out.second, q.second[k]), append(out.weights, w.At(col, 0))
	}
	return out
}

// thinned takes every so many pairs, where no better nodes exist.
func thinned(q quadrature, most int) quadrature {
	var out quadrature
	for k := range most {
		at := k * len(q.first) / most
		out.first, out.second, out.weights = append(out.first, q.first[at]), append(out.second, q.second[at]), append(out.weights, 1/float64(most))
	}
	return out
}

// nodes returns at most count different integers from low to high, near the Gauss-Legendre nodes.
func nodes(low, high, count int) []int {
	size := high - low + 1
	if size <= count {
		var all []int
		for i := low; i <= high; i++ {
			all = append(all, i)
		}
		return all
	}
	var all []int
	for k := range count {
		x := -math.Cos(math.Pi * (float64(k) + 0.75) / (float64(count) + 0.5)) // nearly the roots of the polynomial
		i := low + int(math.Round((x+1)/2*float64(size)-0.5))
		if len(all) > 0 {
			i = max(i, all[len(all)-1]+1)
		}
		all = append(all, min(i, high-(count-1-k)))
	}
	return all
}

// legendre gives f the Legendre polynomials of degrees 0 to count-1 at x.
func legendre(x float64, count int, f func(float64)) {
	p, q := 1., x
	for k := range count {
		f(p)
		p, q = q, (float64(2*k+3)*x*q-float64(k+1)*p)/float64(k+2)
	}
}

// binned are the cells of the angles of data as the likelihood uses them: their means, and the pairs that stand for each.
type binned struct {
	cells []noise.Cell
	mean  [][]float64 // of each angle, c2-1
	count [][]int
	// pairs and their weights: (angles, cells, nodes), with weights of 0 where a cell has fewer. If shared, all angles have those of the first.
	nodes         int
	shared        bool
	first, second []int
	weights       []float64
}

func newBinned(d *Data, binning Binning, order int) *binned {
	b := &binned{cells: binning.cells(len(d.Setup.Times), d.Band), nodes: order * order, shared: true}
	for k := range d.C2 {
		mean, count := means(d, k, b.cells)
		b.mean, b.count = append(b.mean, mean), append(b.count, count)
		if k > 0 && !sameMask(d, 0, k) {
			b.shared = false
		}
	}
	for k := range d.C2 {
		if k > 0 && b.shared {
			break
		}
		for _, c := range b.cells {
			q := newQuadrature(c, d, k, order)
			for at := range b.nodes {
				if at < len(q.first) {
					b.first, b.second, b.weights = append(b.first, q.first[at]), append(b.second, q.second[at]), append(b.weights, q.weights[at])
				} else {
					b.first, b.second, b.weights = append(b.first, 0), append(b.second, 1), append(b.weights, 0)
				}
			}
		}
	}
	return b
}

// sameMask reports whether the same pairs are used of two angles.
func sameMask(d *Data, a, b int) bool {
	n := len(d.Setup.Times)
	for i := range n {
		for j := i + 1; j < n; j++ {
			if (d.weight(a, i, j) > 0) != (d.weight(b, i, j) > 0) {
				return false
			}
		}
	}
	return true
}

// pairs returns the pairs of the nodes as an array that broadcasts to (angles, cells x nodes).
func (b *binned) pairs(angles int) transport.Pairs {
	if b.shared {
		return transport.Listed(b.first, b.second, len(b.cells)*b.nodes)
	}
	return transport.Listed(b.first, b.second, angles, len(b.cells)*b.nodes)
}

// stand returns the quadrature over a cell of a matrix (n, n).
func (b *binned) stand(angle, cell, n int, g []float64) (sum float64) {
	at := cell * b.nodes
	if !b.shared {
		at += angle * len(b.cells) * b.nodes
	}
	for k := at; k < at+b.nodes; k++ {
		sum += b.weights[k] * g[b.first[k]*n+b.second[k]]
	}
	return sum
}
