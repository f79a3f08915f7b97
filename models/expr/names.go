// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

// plain is a name that every format of files can hold, and that formulas can use.
var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// axisName is the name that files give to an axis of a vector without labels, such as theta_dim_0.
var axisName = regexp.MustCompile(`_dim_[0-9]+$`)

// storable returns an error for a name that files of draws could not hold, or could not be read with.
func (p *Problem) storable() error {
	over := []string{}
	for _, name := range sortedKeys(p.Groups) {
		over = append(over, p.Groups[name].Over)
	}
	for _, field := range []struct {
		what  string
		names []string
	}{{"priors", sortedKeys(p.Priors)}, {"bounds", sortedKeys(p.Bounds)}, {"flat", p.Flat}, {"tied", sortedKeys(p.Tied)}, {"derived", sortedKeys(p.Derived)},
		{"groups", sortedKeys(p.Groups)}, {"over in groups", over}, {"y", []string{p.Observation()}}} {
		for _, name := range field.names {
			_, number := strconv.ParseFloat(name, 64)
			switch {
			case !plain.MatchString(name):
				return fmt.Errorf("%s: %q cannot be a name in files of draws: use the letters a to z and A to Z, digits and _, and do not begin with a digit", field.what, name)
			case name == "chain" || name == "draw":
				return fmt.Errorf("%s: the name %q belongs to an axis of the draws: choose another", field.what, name)
			case number == nil && field.what != "y":
				return fmt.Errorf("%s: the name %q can be read as a number: choose another", field.what, name)
			case axisName.MatchString(name):
				return fmt.Errorf("%s: names that end in %s, as %q does, belong to axes of vectors: choose another", field.what, axisName.FindString(name), name)
			}
		}
	}
	return nil
}

// node returns the node that a name stands for, and makes it if needed.
func (b *builder) node(name string) (*ad.Node, error) {
	if n := b.nodes[name]; n != nil {
		return n, nil
	}
	if i := slices.Index(b.open, name); i >= 0 {
		return nil, fmt.Errorf("%s depends on itself (%s): change one of these formulas", name, strings.Join(append(b.open[i:], name), " -> "))
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	n, err := b.fresh(name)
	if err == nil {
		b.nodes[name] = n
	}
	return n, err
}

func (b *builder) fresh(name string) (*ad.Node, error) {
	p := b.p
	c, column := p.Data[name]
	fixed, isFixed := p.Fixed[name]
	switch roles := p.roles(name); {
	case len(roles) > 1:
		return nil, fmt.Errorf("%s is in %s: leave it in only one of them", name, strings.Join(roles, " and in "))
	case column && c.Labels != nil:
		return nil, fmt.Errorf("column %s holds labels such as %q, so it can only be an index: write its numbers without quotation marks, or use a column of numbers here", name, c.Labels[0])
	case column && p.SigmaX[name] != "":
		return b.latent(name)
	case column && (name == p.Observation() || b.codes[name] != nil || b.whole):
		return ad.Const(c.Values), nil
	case column:
		return b.model.Data(name, c.Values), nil
	case isFixed:
		return ad.Scalar(fixed), nil
	case p.Tied[name] != "":
		n, err := b.formula("tied "+name, p.Tied[name])
		if err == nil {
			b.model.Deterministic(name, n, b.axes(name)...)
		}
		return n, err
	case p.Derived[name] != "":
		return b.formula("derived "+name, p.Derived[name])
	case slices.Contains(p.parameters(), name):
		return b.parameter(name)
	}
	known := slices.Concat(p.parameters(), sortedKeys(p.Data), sortedKeys(p.Fixed), sortedKeys(p.Tied))
	if _, start := p.Start[name]; start {
		return nil, fmt.Errorf("%s has a start but no prior: give it a prior or bounds, or name it in flat", name)
	}
	return nil, fmt.Errorf("%q is neither a column nor a parameter with a prior, bounds or a place in flat%s", name, meant(name, known))
}

// roles lists the roles in which a name is declared.
func (p *Problem) roles(name string) (all []string) {
	_, column := p.Data[name]
	_, prior := p.Priors[name]
	for _, r := range []struct {
		field string
		is    bool
	}{{"data", column}, {"tied", p.Tied[name] != ""}, {"derived", p.Derived[name] != ""},
		{"priors", prior && p.SigmaX[name] == ""}, {"flat", slices.Contains(p.Flat, name)}} {
		if r.is {
			all = append(all, r.field)
		}
	}
	return all
}

func (b *builder) formula(where, text string) (*ad.Node, error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return b.eval(where, f, nil, true)
}

// parameter declares a sampled parameter.
func (b *builder) parameter(name string) (*ad.Node, error) {
	p := b.p
	list := b.axes(name)
	if slices.Contains(p.NonCentred, name) {
		list = append(list, infer.NonCentred())
	}
	lower, upper := p.ends(name)
	text, prior := p.Priors[name]
	if !prior {
		if lower != nil && upper != nil && !slices.Contains(p.Flat, name) {
			return b.model.Param(name, dist.Uniform(lower, upper), list...), nil
		}
		return b.model.Flat(name, between(lower, upper).Transform(), list...), nil
	}
	d, err := b.distribution("prior of "+name, text, nil, true)
	if err != nil {
		return nil, ofPrior(name, err)
	}
	if d.Discrete {
		return nil, ofPrior(name, fmt.Errorf("prior of %s: %q gives whole numbers, which have no gradient: use a continuous distribution", name, text))
	}
	if lower != nil || upper != nil {
		if share, nothing := dist.Left(d, p.Bounds[name][0], p.Bounds[name][1]); nothing {
			return nil, ofPrior(name, fmt.Errorf("the prior of %s, %s%s, has a probability of %.2g between its bounds, %g and %g: change one of them", name, text, lies(d), share, p.Bounds[name][0], p.Bounds[name][1]))
		}
		d = dist.Truncate(d, lower, upper)
		if err := d.Err(); err != nil {
			return nil, ofPrior(name, fmt.Errorf("prior of %s within its bounds: %w", name, err))
		}
	}
	return b.model.Param(name, d, list...), nil
}

// lies says where a distribution with constant parameters and an end lies, or returns "".
func lies(d dist.Dist) string {
	low, high, err := dist.Range(d)
	switch {
	case err != nil || math.IsInf(low, -1) && math.IsInf(high, 1):
		return ""
	case math.IsInf(high, 1):
		return fmt.Sprintf(", which is above %.6g", low)
	case math.IsInf(low, -1):
		return fmt.Sprintf(", which is below %.6g", high)
	}
	return fmt.Sprintf(", which lies between %.6g and %.6g", low, high)
}

// axes returns the labels of a vector.
func (b *builder) axes(name string) (list []infer.Option) {
	if over := b.p.Groups[name].Over; over != "" {
		list = append(list, infer.Over(b.dims[over]))
	}
	return list
}

// ends returns the bounds of a parameter; a missing bound is nil.
func (p *Problem) ends(name string) (lower, upper any) {
	v, ok := p.Bounds[name]
	if ok && !math.IsInf(v[0], 0) {
		lower = v[0]
	}
	if ok && !math.IsInf(v[1], 0) {
		upper = v[1]
	}
	return lower, upper
}

func between(lower, upper any) dist.Support {
	s := dist.Support{}
	if lower != nil {
		s.Lower = ad.Of(lower)
	}
	if upper != nil {
		s.Upper = ad.Of(upper)
	}
	return s
}
