// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// KindOutliers is the flag of single points far from the model.
const KindOutliers = "outliers"

// mostOutliers is the largest number of points that may be called outliers at a time.
const mostOutliers = 10

// listed returns the number of outliers that a flag describes: the cost of adding them to the model
// grows with the square of their number.
func (w *residuals) listed() int {
	return min(200, max(mostOutliers, int(math.Sqrt(5e8/float64(w.n)))))
}

func init() { register(pointStage, (*residuals).outlierTests) }

// outlierTests looks for outliers, and leaves them to the tests that follow.
func (w *residuals) outlierTests(r *round, all []test) []test {
	t, points := w.outlierTest()
	r.outliers = points
	return append(all, t)
}

// outlierTest looks for points that are too far away for a normal distribution. If the errors are known, the
// largest studentised residual is compared with the distribution of the maximum of n; it is first divided by
// the typical size of the residuals if that is above 1, so that errors that are all too small make
// no outliers. If the errors are unknown, points are removed one by one (Rosner's generalised
// extreme studentised deviate).
//
// Reference: Rosner 1983, doi 10.1080/00401706.1983.10487848.
func (w *residuals) outlierTest() (t test, points []int) {
	t = test{kind: KindOutliers, p: 1, forgiven: w.d.Robust}
	z, order := w.studentised, w.mem.places.take(w.n)[:0]
	for i, v := range z {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	if len(order) < 5 {
		return t, nil
	}
	typical := w.farthest(z, order)
	size := w.farKnown(z, order, typical)
	if w.d.Relative && !w.d.SigmaEstimated { // errors that are wrong by places would make outliers of right points
		size = w.farRelative(z, order)
	}
	most := 0
	for i, p := range size {
		if t.p = min(t.p, p); p < 0.01 {
			most = i + 1
		}
	}
	points = slices.Clone(order[:most])
	slices.Sort(points)
	t.effect = float64(most) / float64(w.n)
	t.say = func(*test) Flag { return w.sayOutliers(z, w.withOthers(points)) }
	if most > 0 {
		t.columns, t.points = unit(w.n, points), points
		t.gain = w.try(t.columns)
		w.solve(&t.gain)
		t.harmless = t.gain.harmless()
	}
	return t, points
}

// farthest brings the mostOutliers points with the largest residuals to the front, the
// largest first, and returns the typical size of all: the median over that of a normal
// distribution.
func (w *residuals) farthest(z []float64, order []int) (typical float64) {
	size := w.mem.numbers.take(len(order))
	for k, i := range order {
		size[k] = math.Abs(z[i])
	}
	slices.Sort(size)
	front := 0
	for k, i := range order {
		if math.Abs(z[i]) >= size[max(0, len(size)-mostOutliers)] {
			order[front], order[k] = order[k], order[front]
			front++
		}
	}
	slices.SortFunc(order[:front], func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Abs(z[b]), math.Abs(z[a])), a-b)
	})
	return size[(len(size)-1)/2] / 0.6745
}

// farKnown returns the Bonferroni-corrected p-values of the farthest points.
func (w *residuals) farKnown(z []float64, order []int, typical float64) (p []float64) {
	typical = max(1, typical)
	for _, i := range order[:min(mostOutliers, len(order)/3)] {
		p = append(p, min(1, 2*float64(len(order))*normalTail(math.Abs(z[i])/typical)))
	}
	return p
}

// farRelative returns Rosner's p-values of the farthest points.
func (w *residuals) farRelative(z []float64, order []int) (p []float64) {
	left, k := w.square, w.dof()
	for n, i := range order[:min(mostOutliers, max(1, len(order)/10))] {
		v := z[i] * z[i]
		if k-1 < fewer || !(left > v) {
			break
		}
		t := math.Sqrt(v * (k - 1) / (left - v))
		p = append(p, min(1, float64(len(order)-n)*studentTail(t, k-1)))
		left, k = left-v, k-1
	}
	return p
}

func (w *residuals) sayOutliers(z []float64, points []int) Flag {
	scale := w.scale()
	var list, far []string
	for k, i := range points[:min(3, len(points))] {
		list = append(list, fmt.Sprintf("%s (%+.1f)", w.place(i), z[i]/scale))
		far = append(far, list[k])
	}
	if len(far) > 0 {
		i := points[0]
		far[0] = fmt.Sprintf("%s (%+.1f standard deviations)", w.place(i), z[i]/scale)
	}
	more := ""
	if n := len(points); n > 3 {
		more = fmt.Sprintf(" and %d more", n-3)
	}
	f := Flag{Where: strings.Join(list, ", ") + more,
		Remedy: "check these points and mask them if they are bad, or use a distribution or loss with heavier tails"}
	if len(points) == 1 {
		f.Remedy = "check this point and mask it if it is bad, or use a distribution or loss with heavier tails"
	}
	if w.together(z, points) {
		f.Remedy = "look for a structure that the model lacks before you mask anything: these points lie beside each other on one side of the model, as those of a peak or a dip do"
	}
	what := "1 point lies"
	if len(points) != 1 {
		what = fmt.Sprintf("%d points lie", len(points))
	}
	if len(points) >= w.listed() {
		what = fmt.Sprintf("%d or more points lie", len(points))
	}
	f.Text = fmt.Sprintf("%s farther from the model than %s: %s", what, w.d.allowed(), strings.Join(far, ", ")+more)
	return f
}

// withOthers adds the points that are too far away once the first ones are part of the model.
func (w *residuals) withOthers(points []int) []int {
	if len(points) < mostOutliers {
		return points
	}
	v := new(Workspace).residuals(w.d)
	for _, q := range w.base.q[len(v.base.q):] {
		v.absorb([][]float64{q})
	}
	all, last := slices.Clone(points), points
	for len(last) == mostOutliers && len(all) < w.listed() && v.dof() > 5 {
		v.absorb(unit(v.n, last))
		_, last = v.outlierTest()
		all = append(all, last...)
	}
	return all
}

// together reports whether three or more of the points follow each other along the first
// axis with the same sign.
func (w *residuals) together(z []float64, points []int) bool {
	if len(w.d.Axes) == 0 {
		return false
	}
	run, last := 0, 0.0
	for _, i := range w.mem.order(w.d.Axes[0].Values).places {
		if _, far := slices.BinarySearch(points, i); !far {
			run = 0
			continue
		}
		if run++; run > 1 && (z[i] > 0) != (last > 0) {
			run = 1
		}
		if last = z[i]; run == 3 {
			return true
		}
	}
	return false
}

// place describes the place of a residual.
func (w *residuals) place(i int) string {
	if w.d.Labels != nil {
		return w.d.Labels[i]
	}
	if len(w.d.Axes) == 0 {
		return fmt.Sprintf("point %d", i+1)
	}
	var parts []string
	for _, a := range w.d.Axes[:min(3, len(w.d.Axes))] {
		parts = append(parts, a.label(a.Values[i], a.Values[i]))
	}
	return strings.Join(parts, ", ")
}

// unit returns one column for each of the points, which is 1 at that point and 0 elsewhere.
func unit(n int, points []int) [][]float64 {
	var columns [][]float64
	for _, i := range points {
		c := make([]float64, n)
		c[i] = 1
		columns = append(columns, c)
	}
	return columns
}
