// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
)

// priorTest tells where a value lies in a prior: the logarithms of both tails, and the slope of the logarithm of the
// density.
func (f *Fitter) priorTest(name string) (*ad.Program, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.priorTests[name]; p != nil {
		return p, nil
	}
	d, x := f.s.Priors[name], ad.Input("x")
	slope := ad.Grad(d.LogProb(x), x)[0]
	p, err := ad.Compile([]*ad.Node{d.LogCDF(x), d.LogCCDF(x), slope}, ad.Settings{Inputs: []*ad.Node{x}, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, fmt.Errorf("spectra: the prior of %s: %w", name, err)
	}
	if f.priorTests == nil {
		f.priorTests = map[string]*ad.Program{}
	}
	f.priorTests[name] = p
	return p, nil
}

// priors returns where the fit lies in the priors of its parameters, and how far they have moved it.
func (l *layout) priors(fit *Fit) (list []check.Prior, err error) {
	for k, name := range l.names {
		general := l.f.names[l.general(k)]
		d, ok := l.f.s.Priors[general]
		if !ok || l.fixed[k] {
			continue
		}
		p, err := l.f.priorTest(general)
		if err != nil {
			return nil, err
		}
		s := p.NewState()
		s.Input(0)[0] = fit.X[k]
		if err := s.Run(); err != nil {
			return nil, err
		}
		at := check.Prior{Name: name, Distribution: d.Name, Value: fit.X[k], P: min(1, 2*math.Exp(min(s.Output(0)[0], s.Output(1)[0])))}
		// To first order a slope moves the minimum by that many variances.
		if at.Shift = s.Output(2)[0] * fit.SD[k]; math.IsNaN(at.P) || math.IsNaN(at.Shift) {
			continue
		}
		list = append(list, at)
	}
	return list, nil
}
