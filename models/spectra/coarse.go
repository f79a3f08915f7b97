// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// KindCoarse is the kind of the note that the nodes of a grid of templates are farther apart than the errors of the data allow.
const KindCoarse = "coarse grid of templates"

// coarseShift is the shift of a parameter, in its standard deviations, from which the error of the interpolation is told.
const coarseShift = 0.5

// leftOut returns an estimate of the error of the interpolated logarithm of the spectrum in the middle of the cell of mapped parameters
// x, between its nodes along one of the axes: the error at a node next to x without it, as the node j is known, times the ratio that the
// second derivative gives. With the coordinates t of the nodes and the cell from a to b:
//
//	error = (T_interpolated(t_j) - T_j) (b - a)^2 / (4 (t_j - t_{j-1}) (t_{j+1} - t_j))
//
// The other parameters are those of the nearest node. It returns nil where nodes are missing, or the axis has only two.
func (r *Regular) leftOut(x []float64, axis int) []float64 {
	base := 0
	for k, nodes := range r.axes {
		if k != axis {
			base += nearestNode(nodes, x[k]) * r.strides[k]
		}
	}
	nodes := r.axes[axis]
	upper := min(max(sort.SearchFloat64s(nodes, x[axis]), 1), len(nodes)-1)
	width := nodes[upper] - nodes[upper-1]
	near := nearestNode(nodes, x[axis])
	for _, j := range []int{near, 2*upper - 1 - near} { // the ends of the cell, the nearer first
		if j < 1 || j > len(nodes)-2 {
			continue
		}
		var ids [3]int
		whole := true
		for i := range ids {
			ids[i] = int(r.ids[base+(j-1+i)*r.strides[axis]])
			whole = whole && ids[i] >= 0
		}
		if !whole {
			continue
		}
		below, above := nodes[j]-nodes[j-1], nodes[j+1]-nodes[j]
		w, scale := above/(below+above), width*width/(4*below*above)
		out := make([]float64, r.Pixels())
		lower, middle, higher := r.nearest.row(ids[0]), r.nearest.row(ids[1]), r.nearest.row(ids[2])
		for i := range out {
			out[i] = scale * (w*lower[i] + (1-w)*higher[i] - middle[i])
		}
		return out
	}
	return nil
}

// nearestNode returns the place of the value nearest to x.
func nearestNode(nodes []float64, x float64) int {
	best := 0
	for i, v := range nodes {
		if math.Abs(v-x) < math.Abs(nodes[best]-x) {
			best = i
		}
	}
	return best
}

// coarse returns a note if the error of the interpolation between the nodes of a regular grid moves a parameter by half of its standard
// deviation or more; nil otherwise, and for libraries of other kinds.
func (l *layout) coarse(p *projector, star *Star, fit *Fit) *check.Flag {
	var worst check.Flag
	most := coarseShift
	for axis, name := range l.f.library.Params {
		size, column := 0.0, make([]float64, len(p.r.z))
		for k := range star.Spectra {
			grid, ok := l.templates[k].Interpolator.(*Regular)
			if !ok {
				return nil
			}
			x := slices.Clone(fit.X[l.velocities+1:])
			for _, i := range l.templates[k].LogParams {
				x[i] = math.Log10(x[i])
			}
			change := grid.leftOut(x, axis)
			if change == nil {
				continue
			}
			size = max(size, l.changed(column, change, p.r, k, star, fit))
		}
		parameter, shift := p.shift(column, fit)
		if math.Abs(shift) < most {
			continue
		}
		products, _ := p.outside(mat.NewDense(1, len(column), column))
		most = math.Abs(shift)
		worst = check.Flag{Kind: KindCoarse, Note: true,
			Text: fmt.Sprintf("between the nodes of the grid of templates along %s, interpolated spectra are wrong by up to about %.2g %% (root mean square, by leaving out the nearest node), which is %.2g of the errors of the pixels after the fit has taken up what it can, and may move %s by %.2g of its standard deviations",
				name, 100*size, math.Sqrt(products.At(0, 0)/float64(len(column))), parameter, most),
			Remedy: "use a library with finer steps, or a network (train spectrum)"}
	}
	if worst.Text == "" {
		return nil
	}
	return &worst
}

// changed adds to a column what a change of the logarithm of the templates changes in the pixels of spectrum k, in standard deviations, and
// returns the root mean square of the change.
func (l *layout) changed(column, change []float64, r *remains, k int, star *Star, fit *Fit) float64 {
	b := fit.X[l.velocity[k]] / spectra.SpeedOfLight
	rest := math.Sqrt((1 - b) / (1 + b))
	lam, observed := l.templates[k].Lam, star.Spectra[k].Lam
	sum := 0.0
	for i, p := range r.used[k] {
		half := (observed[min(p+1, len(observed)-1)] - observed[max(p-1, 0)]) / 4
		from, _ := slices.BinarySearch(lam, (observed[p]-half)*rest)
		to, _ := slices.BinarySearch(lam, (observed[p]+half)*rest)
		from = min(from, len(lam)-1)
		to = min(max(to, from+1), len(lam))
		mean := 0.0
		for _, v := range change[from:to] {
			mean += v / float64(to-from)
		}
		one := &fit.Spectra[k]
		column[r.first[k]+i] += mean * one.Model[p] * r.scaled[k][p] / one.Template[p]
		sum += mean * mean
	}
	return math.Sqrt(sum / float64(max(len(r.used[k]), 1)))
}

// shift returns the parameter that a column added to the model moves most, and by how many of its standard deviations.
func (p *projector) shift(column []float64, fit *Fit) (name string, shift float64) {
	var on, moved mat.VecDense
	on.MulVec(p.columns, mat.NewVecDense(len(column), column))
	if p.factor.SolveVecTo(&moved, &on) != nil {
		return "", 0
	}
	for i, n := range p.r.names {
		k := slices.Index(fit.Names, n)
		if n == "" || k < 0 {
			continue
		}
		if s := moved.AtVec(i) / fit.SD[k]; math.Abs(s) > math.Abs(shift) {
			name, shift = n, s
		}
	}
	return name, shift
}
