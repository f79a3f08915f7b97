// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// DataSet is one data set of a global fit: its name and its residual.
type DataSet struct {
	Name     string
	Residual *ad.Node
}

// GlobalFit joins data sets into one problem. Their residuals use the same inputs params. The
// parameters named in shared have one value for all sets, and the others have one value for each
// set, called name.set. Starts and bounds are set by SetStart and Bound.
func GlobalFit(sets []DataSet, params []*ad.Node, shared ...string) (*Problem, error) {
	if len(sets) == 0 {
		return nil, fmt.Errorf("optim: the global fit has no data sets: pass at least one")
	}
	var names []string
	for _, x := range params {
		names = append(names, x.Name())
	}
	for _, s := range shared {
		if !slices.Contains(names, s) {
			return nil, unknown("shared parameter", s, names)
		}
	}
	var all, local []*ad.Node
	for _, x := range params {
		if slices.Contains(shared, x.Name()) {
			all = append(all, x)
		} else {
			local = append(local, x)
		}
	}
	var residuals []*ad.Node
	seen := map[string]bool{}
	for _, set := range sets {
		if set.Name == "" || seen[set.Name] {
			return nil, fmt.Errorf("optim: the name %q of a data set is empty or already taken: give each set a name of its own", set.Name)
		}
		seen[set.Name] = true
		own := make([]*ad.Node, len(local))
		for i, x := range local {
			own[i] = ad.Input(x.Name()+"."+set.Name, x.Shape()...)
		}
		all = append(all, own...)
		r := ad.Substitute([]*ad.Node{set.Residual}, local, own)[0]
		residuals = append(residuals, ad.Reshape(r, set.Residual.Size()))
	}
	return FromGraph(ad.Concat(0, residuals...), all)
}

// SetStart sets starts by name. In a global fit, the name of a parameter that every data set has
// for itself sets it in all of them. Parameters that are never named start at 0.
func (p *Problem) SetStart(values map[string]float64) error {
	if p.Start == nil {
		p.Start = make([]float64, p.N)
	}
	for _, name := range sortedKeys(values) {
		at, err := p.matching(name)
		if err != nil {
			return err
		}
		for _, i := range at {
			p.Start[i] = values[name]
		}
	}
	return nil
}

// Bound sets the bounds of a parameter by name, which may stand for several parameters as in
// SetStart.
func (p *Problem) Bound(name string, lower, upper float64) error {
	at, err := p.matching(name)
	if err != nil {
		return err
	}
	if p.Lower == nil {
		p.Lower = repeated(-inf, p.N)
	}
	if p.Upper == nil {
		p.Upper = repeated(inf, p.N)
	}
	for _, i := range at {
		p.Lower[i], p.Upper[i] = lower, upper
	}
	return nil
}

// matching returns the parameters of that name, or of that name in each set.
func (p *Problem) matching(name string) ([]int, error) {
	var out []int
	for i := range p.N {
		if n := p.name(i); n == name || strings.HasPrefix(n, name+".") || strings.HasPrefix(n, name+"[") {
			out = append(out, i)
		}
	}
	if out == nil {
		return nil, unknown("parameter", name, p.allNames())
	}
	return out, nil
}
