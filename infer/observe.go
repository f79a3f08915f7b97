// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// observation is data with a distribution.
type observation struct {
	name string
	dist dist.Dist
	data *datum
	// value is the data with parameters in place of missing values.
	value *ad.Node
	// kept are the places of values that are not masked, nil for all.
	kept   []int
	impute bool
	// together are the numbers of values that are left out together, nil for one by one.
	together []int
	// missing are the places of imputed values.
	missing []int
}

// Observe declares that values were drawn from the distribution d, one by one. They form a
// vector unless Shape or Over says more; a distribution of vectors takes the last axis.
// NaN is an error unless it is to be imputed or masked.
func (m *Model) Observe(name string, d dist.Dist, values []float64, list ...Option) {
	if err := d.Err(); err != nil {
		m.fault(fmt.Errorf("distribution of %s: %w", name, err))
		return
	}
	opt := options(list)
	o := &observation{name: name, dist: d, impute: opt.impute, together: opt.together}
	if opt.mask != nil && len(opt.mask) != len(values) {
		m.fault(fmt.Errorf("observation %s: the mask has length %d for %d values: make them equal", name, len(opt.mask), len(values)))
		return
	}
	absent := o.absent(values, opt.mask)
	o.data = m.datum("observation", name, o.filled(values, absent), opt)
	o.value = o.data.node
	if len(absent) == 0 || o.data.node.Err() != nil {
		m.observed = append(m.observed, o)
		return
	}
	if d.Event > 0 {
		m.fault(fmt.Errorf("observation %s: values of %s cannot be missing, because they are vectors: leave the missing ones out", name, d.Name))
		return
	}
	o.kept = others(absent, len(values))
	m.observed = append(m.observed, o)
	if opt.mask == nil {
		o.missing = absent
		m.fault(m.complete(o))
	}
}

// absent returns the places that a mask leaves out or that are to be imputed.
func (o *observation) absent(values []float64, mask []bool) (places []int) {
	for i, v := range values {
		if mask != nil && !mask[i] || mask == nil && o.impute && math.IsNaN(v) {
			places = append(places, i)
		}
	}
	return places
}

// filled puts a value that was observed in the absent places.
func (o *observation) filled(values []float64, absent []int) []float64 {
	out, stand := slices.Clone(values), 0.0
	if rest := others(absent, len(values)); len(rest) > 0 {
		stand = values[rest[0]]
	}
	for _, i := range absent {
		out[i] = stand
	}
	return out
}

// others returns the places of 0..n-1 that are not in the sorted list.
func others(places []int, n int) (rest []int) {
	for i := range n {
		if _, found := slices.BinarySearch(places, i); !found {
			rest = append(rest, i)
		}
	}
	return rest
}

// complete declares parameters for the missing values of o.
func (m *Model) complete(o *observation) error {
	s := o.dist.Support
	for _, end := range []*ad.Node{s.Lower, s.Upper} {
		if end != nil && end.Size() != 1 {
			return fmt.Errorf("observation %s: missing values need one support for all, but the ends of %s have shape %v: mask the missing values", o.name, o.dist.Name, end.Shape())
		}
	}
	if o.dist.Discrete {
		return fmt.Errorf("observation %s: a missing value of the discrete %s cannot be sampled: mask it", o.name, o.dist.Name)
	}
	x := m.Flat(o.name+"_missing", s.Transform(), Shape(len(o.missing)))
	n := o.data.node.Size()
	place, hole := make([]int, n), make([]float64, n)
	for k, i := range o.missing {
		place[i], hole[i] = k, 1
	}
	flat := ad.Where(ad.Const(hole), ad.Gather(x, ad.Ints(place), 0), ad.Reshape(o.data.node, n))
	o.value = ad.Reshape(flat, o.data.node.Shape()...)
	return nil
}

// logLik returns the log-likelihood of every value, 0 where a mask leaves it out.
func (o *observation) logLik() *ad.Node {
	ll := o.dist.LogProb(o.value)
	if o.kept == nil || o.missing != nil || ll.Err() != nil || ll.Size() != o.data.node.Size() {
		return ll
	}
	keep := make([]float64, ll.Size())
	for _, i := range o.kept {
		keep[i] = 1
	}
	return ad.Where(ad.Const(keep, ll.Shape()...), ll, ad.Scalar(0))
}

// shape returns the shape of the log-likelihood.
func (o *observation) shape() []int {
	s := o.data.node.Shape()
	return s[:max(0, len(s)-o.dist.Event)]
}

// counts lists the places of the log-likelihood that tell of data.
func (o *observation) counts() []int {
	if o.kept != nil {
		return o.kept
	}
	n := 1
	for _, k := range o.shape() {
		n *= k
	}
	return others(nil, n)
}

// possible reports the first value at which the density is 0 although it lies in the support, such as an end at which the density of a
// distribution with known parameters falls to 0. lower and upper are the ends of the support.
func (o *observation) possible(p *Posterior, values, lower, upper []float64) error {
	if o.missing != nil {
		return nil
	}
	lp, err := p.atData([]*ad.Node{o.logLik()})
	if err != nil || len(lp[0]) != len(values) { // it depends on parameters, or a value is a vector
		return nil
	}
	for i, v := range lp[0] {
		if math.IsInf(v, -1) {
			return fmt.Errorf("observation %s[%d] is %g, where the density is 0: want a value inside the support of %s, %g to %g", o.name, i, values[i], o.dist.Name, lower[i], upper[i])
		}
	}
	return nil
}

// check reports the first value that the distribution cannot give: NaN, infinite, not
// whole or outside the support, as far as its ends are known before sampling.
func (o *observation) check(p *Posterior) error {
	values := p.data[slices.Index(p.model.data, o.data)]
	for i, v := range values {
		if !linalg.Finite(v) {
			return fmt.Errorf("observation %s[%d] is %g: leave it out, mask it, or let Impute make it a parameter", o.name, i, v)
		}
		if o.dist.Discrete && v != math.Trunc(v) {
			return fmt.Errorf("observation %s[%d] is %g, but %s has integer values: correct it, or leave it out", o.name, i, v, o.dist.Name)
		}
	}
	s := o.dist.Support
	x := o.data.node
	inside := s.Inside(x)
	if inside == nil || inside.Err() != nil || !inside.Shape().Equal(x.Shape()) {
		return nil
	}
	ends := []*ad.Node{inside, ad.Full(math.Inf(-1), x.Shape()...), ad.Full(math.Inf(1), x.Shape()...)}
	if s.Lower != nil {
		ends[1] = ad.Broadcast(s.Lower, x.Shape()...)
	}
	if s.Upper != nil {
		ends[2] = ad.Broadcast(s.Upper, x.Shape()...)
	}
	at, err := p.atData(ends)
	if err != nil { // an end depends on a parameter
		return nil
	}
	for i, ok := range at[0] {
		if ok == 0 {
			return fmt.Errorf("observation %s[%d] is %g: want a value inside the support of %s, %g to %g", o.name, i, values[i], o.dist.Name, at[1][i], at[2][i])
		}
	}
	return o.possible(p, values, at[1], at[2])
}
