// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"strconv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Dim is a named axis with a coordinate for each of its places. Names and
// coordinates stand in the columns of a Fit and in exported files.
//
//	school := m.Dim("school", "A", "B", "C")
//	theta := m.Param("theta", dist.Normal(mu, tau), infer.Over(school))
type Dim struct {
	Name string
	// Labels hold one label per place.
	Labels []string
	// Values are the coordinates if they are numbers, otherwise nil.
	Values []float64
}

// Len returns the number of places.
func (d Dim) Len() int { return len(d.Labels) }

// Dim declares a named axis with labels.
func (m *Model) Dim(name string, labels ...string) Dim { return m.dim(Dim{Name: name, Labels: labels}) }

// DimLen declares a named axis with coordinates 0, 1, ... n-1.
func (m *Model) DimLen(name string, n int) Dim {
	d := Dim{Name: name}
	for i := range n {
		d.Labels, d.Values = append(d.Labels, strconv.Itoa(i)), append(d.Values, float64(i))
	}
	return m.dim(d)
}

// DimValues declares a named axis whose coordinates are numbers.
func (m *Model) DimValues(name string, values []float64) Dim {
	d := Dim{Name: name, Values: append([]float64{}, values...)}
	for _, v := range values {
		d.Labels = append(d.Labels, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return m.dim(d)
}

func (m *Model) dim(d Dim) Dim {
	m.claim(d.Name, "a dimension")
	if d.Name == "chain" || d.Name == "draw" {
		m.fault(fmt.Errorf("dimension %q has the name of an axis of the draws: choose another name", d.Name))
	}
	if d.Len() == 0 {
		m.fault(fmt.Errorf("dimension %s has length 0: give labels, values or a length", d.Name))
	}
	m.dims = append(m.dims, d)
	return d
}

// Option changes one parameter, datum or observation.
type Option struct {
	shape      []int
	dims       []Dim
	transform  *dist.Transform
	nonCentred bool
	base       *dist.Dist
	link       func(z *ad.Node) *ad.Node
	weak       bool
	impute     bool
	mask       []bool
	together   []int
}

// Shape makes it an array.
func Shape(lengths ...int) Option { return Option{shape: lengths} }

// Over makes it an array over named axes.
func Over(dims ...Dim) Option {
	o := Option{shape: []int{}, dims: dims}
	for _, d := range dims {
		o.shape = append(o.shape, d.Len())
	}
	return o
}

// By maps the parameter through t in place of the transform of its support.
func By(t dist.Transform) Option { return Option{transform: &t} }

// NonCentred samples the standardised parameter z and sets loc + scale z, for a
// prior with a location and a scale. Where data say little about each group it
// takes the funnel out of a hierarchy.
//
// Reference: Betancourt and Girolami, arXiv:1312.0906.
func NonCentred() Option { return Option{nonCentred: true} }

// Weak says that the prior is a default that nobody chose for these data: a value that
// it did not expect, and that it does not move, is noted by CheckModel and not flagged.
func Weak() Option { return Option{weak: true} }

// Reparam samples z from base and sets the parameter to link(z), which must have
// the prior as its distribution: the prior's own density is not evaluated.
func Reparam(base dist.Dist, link func(z *ad.Node) *ad.Node) Option {
	return Option{base: &base, link: link}
}

// Impute makes parameters, name_missing, of the values of an observation that
// are NaN. They follow the observation's distribution.
func Impute() Option { return Option{impute: true} }

// Mask leaves the values out of an observation where keep is false; they may be
// NaN. It serves ragged data.
func Mask(keep []bool) Option { return Option{mask: keep} }

// Together says which values of an observation belong together, by a number from 0 for each, of those that are not masked: they are left out
// together when the model is compared with others, because neighbours tell of each other. The log-likelihoods that are stored are sums over
// the values of each number.
func Together(block []int) Option { return Option{together: block} }

// options folds a list of options into one, later ones first.
func options(list []Option) (all Option) {
	for _, o := range list {
		if o.shape != nil {
			all.shape, all.dims = o.shape, o.dims
		}
		if o.transform != nil {
			all.transform = o.transform
		}
		if o.base != nil {
			all.base, all.link = o.base, o.link
		}
		if o.mask != nil {
			all.mask = o.mask
		}
		if o.together != nil {
			all.together = o.together
		}
		all.nonCentred = all.nonCentred || o.nonCentred
		all.weak = all.weak || o.weak
		all.impute = all.impute || o.impute
	}
	return all
}
