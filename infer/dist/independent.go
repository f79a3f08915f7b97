// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Independent turns the last n batch axes of d into axes of one value: an array of
// independent numbers becomes one vector, and log densities are summed.
func Independent(d Dist, n int) Dist {
	out := Dist{Name: "independent " + d.Name, Params: d.Params, Support: d.Support, Discrete: d.Discrete, Event: d.Event + n}
	out.ParamEvent = d.paramEvents()
	for i, p := range d.Params {
		out.ParamEvent[i] += min(n, max(0, len(p.Shape())-out.ParamEvent[i]))
	}
	axes := make([]int, n)
	for i := range axes {
		axes[i] = i - n
	}
	sum := func(lp *ad.Node) *ad.Node {
		if n == 0 || lp.Err() != nil {
			return lp
		}
		return ad.SumAxes(lp, axes...)
	}
	out.LogProbOf = func(x *ad.Node) *ad.Node { return sum(d.logProbClosed(x)) }
	if d.insideOf(someValue(d)) != nil {
		out.Center = someValue(d)
		out.InsideOf = func(x *ad.Node) *ad.Node {
			in := d.insideOf(x)
			if n == 0 || in.Err() != nil {
				return in
			}
			if full, ok := d.batch(x); ok && !in.Shape().Equal(full) {
				in = ad.Broadcast(in, full...)
			}
			return ad.MinAxes(in, axes...)
		}
	} else {
		out.everywhere = true
	}
	out.check = func() error {
		if n < 0 {
			return fmt.Errorf("dist: independent: the number of axes is %d: want at least 0", n)
		}
		return d.Err()
	}
	out.rangesOf = d.ranges
	out.TransformOf = d.Transform
	out.fill = d.Fill
	if n == 1 && d.RandOf != nil {
		out.DrawOf = func(src Source, dst, p []float64) error { return drawEach(out, d, src, dst, p) }
	}
	out.remake = func(params []*ad.Node) Dist { return Independent(d.with(params), n) }
	return out
}

// drawEach draws the elements of one vector. Each parameter has one number, or one per
// element.
func drawEach(vector, d Dist, src Source, dst, p []float64) error {
	q := make([]float64, len(d.Params))
	for j := range dst {
		at := 0
		for i := range q {
			n := vector.valueSize(i)
			q[i] = p[at+min(j, n-1)]
			at += n
		}
		dst[j] = d.RandOf(src, q)
	}
	return nil
}
