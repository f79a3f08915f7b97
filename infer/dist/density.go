// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// density calls LogProbOf and checks that it returns one number for each value: the log
// density of an array has the batch axes of everything that it depends on. It may lack
// the axes of an x or a parameter that it does not depend on. A sum over the array,
// which would count once for every value, is an error.
func (d Dist) density(x *ad.Node) *ad.Node {
	lp := d.LogProbOf(x)
	if lp == nil {
		return failed(x, fmt.Errorf("dist: LogProbOf of %s returned nil: want the log density of each value", d.Name))
	}
	whole, ok := d.batch(x)
	if lp.Err() != nil || !ok || lp.Shape().Equal(whole) {
		return lp
	}
	if need, ok := d.needed(x, lp); ok {
		own, ok := tensor.Broadcast(need, lp.Shape())
		all, fits := tensor.Broadcast(whole, lp.Shape())
		if ok && fits && own.Equal(lp.Shape()) && all.Equal(whole) {
			return lp
		}
	}
	return failed(x, fmt.Errorf("dist: LogProbOf of %s returned the shape %v for values of shape %v: want the shape %v, one log density for each value, not summed over the array", d.Name, lp.Shape(), x.Shape(), whole))
}

// endpoint is the log density at an end of the support: value where at is 1.
type endpoint struct{ at, value *ad.Node }

// limitIf returns the log density at an end where its limit is finite, and -Inf elsewhere: where the density is 0, and,
// by convention, where it is infinite, since a sampler could not leave such a point.
func limitIf(finite, value *ad.Node) *ad.Node { return ad.Where(finite, value, minusInfinity) }

// closed is density with the limits at the ends of the support, for an x that may lie there.
func (d Dist) closed(x *ad.Node) *ad.Node {
	if d.endsOf == nil {
		return d.density(x)
	}
	safe, ends := x, d.endsOf(x)
	for _, e := range ends {
		safe = ad.Where(e.at, d.Support.middle(), safe)
	}
	out := d.density(safe)
	for _, e := range ends {
		out = ad.Where(e.at, e.value, out)
	}
	return out
}

// atZero returns the limit at 0 of a density on x >= 0; value, which must exist for all x >= 0, is the logarithm of the
// density where the limit is finite.
func atZero(finite *ad.Node, value func(x *ad.Node) *ad.Node) func(x *ad.Node) []endpoint {
	return func(x *ad.Node) []endpoint { return []endpoint{{ad.LessEqual(x, zero), limitIf(finite, value(x))}} }
}

// needed returns the broadcast of the batch axes of those of x and the parameters that lp
// depends on.
func (d Dist) needed(x, lp *ad.Node) (shape tensor.Shape, ok bool) {
	leaves := make(map[*ad.Node]tensor.Shape, 1+len(d.Params))
	for i, p := range d.Params {
		leaves[p] = d.paramBatch(i)
	}
	leaves[x] = x.Shape()[:len(x.Shape())-d.Event]
	shape, ok = tensor.Shape{}, true
	seen := map[*ad.Node]bool{}
	for stack := []*ad.Node{lp}; len(stack) > 0 && ok; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if s, leaf := leaves[n]; leaf {
			shape, ok = tensor.Broadcast(shape, s)
			continue
		}
		stack = append(stack, n.In()...)
	}
	return shape, ok
}

// misfit reports an Event that is not a number of axes, or that x does not have.
func (d Dist) misfit(x *ad.Node) error {
	switch {
	case x == nil || x.Err() != nil:
		return nil // the graph reports it
	case d.Event < 0 || d.ParamEvent != nil && len(d.ParamEvent) != len(d.Params):
		return d.Err()
	case len(x.Shape()) < d.Event:
		return fmt.Errorf("dist: %s has Event %d, but its value has the shape %v: want at least %d axes, or Event 0 for a distribution of numbers", d.Name, d.Event, x.Shape(), d.Event)
	}
	return nil
}

// whole returns t, or a Transform whose errors name what t lacks.
func (t Transform) whole(name string) Transform {
	lacks := ""
	switch {
	case t.Constrain == nil:
		lacks = "Constrain"
	case t.Inverse == nil:
		lacks = "Inverse"
	case t.Event > 0 && t.Free == nil:
		lacks = "Free"
	default:
		return t
	}
	err := fmt.Errorf("dist: the Transform that TransformOf of %s returned has no %s: set Constrain, Inverse and Free", name, lacks)
	return Transform{Name: t.Name, Free: sameLength,
		Constrain: func(x *ad.Node) (y, logJ *ad.Node) { return failed(x, err), failed(x, err) },
		Inverse:   func([]float64, ...float64) ([]float64, error) { return nil, err },
	}
}
