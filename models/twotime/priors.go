// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// rarest is the smallest probability that a prior may leave for the values that a parameter can have.
const rarest = 1e-6

// CheckPrior returns an error if the prior of a rate leaves no probability for rates above 0.
func CheckPrior(name string, prior dist.Dist) error {
	if !isRate(name) {
		return nil
	}
	if share, err := dist.Above(prior, 0); err == nil && share < rarest {
		return fmt.Errorf("twotime: the prior of %s is %s, which leaves a probability of %.2g for values above 0, but %s is a rate, which must be positive: give a prior such as lognormal(7, 1)", name, prior, share, name)
	}
	return nil
}

// DefaultPriors returns weak priors that follow from what a measurement can see. Rates are
// lognormal about those that decorrelate frames a fifth of the measurement apart, with a standard
// deviation of a factor of 12; exponents are 0 +- 0.5; offsets of rates are not below 0 and as
// large as the rates, but that of a velocity may be. The direction is that of the axis +- 45
// degrees: give a prior of your own for a flow across it. Of two components the reference diffuses
// no faster than the sample, and f2, which is seen only through f0 exp(-f1 f2), is in the middle of
// the measurement.
func DefaultPriors(s transport.Setup) Priors {
	first, last := s.Times[0], s.Times[len(s.Times)-1]
	lag := (last - first) / 5
	const factor = 2.5
	p := Priors{Motion: map[string]dist.Dist{}}
	law := func(names []string, rate float64) {
		p.Motion["log_"+names[0]] = dist.Normal(math.Log(rate), factor)
		p.Motion[names[1]] = dist.Normal(0, 0.5)
		p.Motion[names[2]] = dist.HalfNormal(rate)
	}
	names := s.Names()
	diffusion := 1 / (s.Q * s.Q * lag)
	law(names, diffusion)
	switch s.Model {
	case transport.Laminar:
		law(names[3:], 2*math.Pi/(s.Q*s.Gap*lag))
		p.Motion["phi0"] = dist.Normal(0, 45)
	case transport.TwoComponent:
		law(names[3:], diffusion)
		velocity := math.Pi / (s.Q * lag)
		law(names[6:], velocity)
		p.Motion["v_offset"] = dist.Normal(0, velocity)
		p.Motion["f0"] = dist.Uniform(0, 1)
		p.Motion["f1"] = dist.Normal(0, 1/(last-first))
		p.Motion["f3"] = dist.Uniform(0, 1)
		p.Motion["phi0_het"] = dist.Normal(0, 45)
		p.Fixed = map[string]float64{"f2": (first + last) / 2}
		p.Ordered = true
	}
	p.defaults()
	return p
}
