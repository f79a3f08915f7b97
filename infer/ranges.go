// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// A parameter of a distribution that the model computes may leave its range, such as the rate a + b x of counts, whose priors know
// nothing of the range. The density is 0 there, so that a sampler stays inside. Whoever wrote the model should know how
// much of the prior that takes away, and which link would not.

// ranged is a parameter of a distribution of the model that may leave its range.
type ranged struct {
	part  string // part of the log density, as Explain names it
	where string // observation or parameter that has the distribution, in words
	dist  string
	dist.ParamRange
}

// ranges lists the parameters that may leave their ranges.
func (p *Posterior) ranges() (all []ranged) {
	add := func(part, where string, d dist.Dist) {
		for _, r := range d.Ranges() {
			all = append(all, ranged{part, where, d.Name, r})
		}
	}
	for _, q := range slices.Concat(p.model.params, p.model.latents) {
		if !q.flat {
			add("prior of "+q.name, "the prior of "+q.name, q.prior)
		}
	}
	for _, o := range p.model.observed {
		add("likelihood of "+o.name, "the likelihood of "+o.name, o.dist)
	}
	return all
}

// wants says what the range of the parameter is, and which link leads into it.
func (r ranged) wants() string {
	text := "want " + r.Want
	if r.Link != "" {
		text += ": " + r.Link
	}
	return text
}

// outside says which parameter of the distribution of a part is out of its range at values of the parameters, "" if none is.
func (p *Posterior) outside(part string, from, to []*ad.Node) string {
	for _, r := range p.ranges() {
		if r.part != part {
			continue
		}
		v, err := p.atValues([]*ad.Node{r.Outside, r.Node}, from, to)
		if err != nil {
			continue
		}
		for i, out := range v[0] {
			if out == 0 {
				continue
			}
			value := ""
			if len(v[1]) == len(v[0]) || len(v[1]) == 1 {
				value = fmt.Sprintf(" = %.4g", v[1][min(i, len(v[1])-1)])
			}
			return fmt.Sprintf(", because the %s of %s%s is out of its range: %s", r.Param, r.dist, value, r.wants())
		}
	}
	return ""
}

const (
	rangeDraws = 400 // draws from the prior that are looked at
	// mostOutside is the share of the prior outside a range from which it counts against the model, and someOutside that from which
	// it is noted.
	mostOutside = 0.1
	someOutside = 0.01
)

// outsideShares returns findings about the parts of the prior at which parameters of distributions leave their ranges. Models without a
// prior to draw from have none.
func (p *Posterior) outsideShares() (flags []check.Flag) {
	all := p.ranges()
	if len(all) == 0 {
		return nil
	}
	shares, err := p.rangeShares(all)
	if err != nil {
		return nil
	}
	for i, r := range all {
		if share := shares[i]; share >= someOutside {
			flags = append(flags, check.Flag{Kind: check.KindRange, Where: r.where, Note: share < mostOutside,
				Text:   fmt.Sprintf("in about %.0f %% of the draws from the priors, the %s of the distribution %s in %s is out of its range (%s); the density is 0 there, so the posterior is that of priors without this part", 100*share, r.Param, r.dist, r.where, r.Want),
				Remedy: orElse(r.Link, "choose priors that keep it in its range")})
		}
	}
	return flags
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// rangeShares returns the share of draws from the priors at which an element of each parameter is out of its range.
func (p *Posterior) rangeShares(all []ranged) ([]float64, error) {
	alone := *p.model
	alone.observed, alone.derived = nil, nil
	q := *p
	q.model = &alone
	g, err := q.generator()
	if err != nil {
		return nil, err
	}
	var inputs, outputs []*ad.Node
	for _, m := range p.model.params {
		inputs = append(inputs, m.node)
	}
	for _, d := range p.model.data {
		inputs = append(inputs, d.node)
	}
	for _, l := range p.model.latents {
		inputs = append(inputs, l.node)
	}
	for _, r := range all {
		outputs = append(outputs, r.Outside)
	}
	prog, err := p.model.program(ad.CPU{Threads: 1}, outputs, inputs)
	if err != nil {
		return nil, err
	}
	s := p.state(prog)
	shares, n := make([]float64, len(all)), 0.0
	for i := range rangeDraws {
		src := tensor.NewStream(0x4a6e, purposePrior, uint32(i))
		values, err := g.draw(&src)
		n++
		if err != nil { // a prior cannot be drawn from where its own parameters are out of their ranges
			for k, r := range all {
				if strings.HasPrefix(r.part, "prior of ") {
					shares[k]++
				}
			}
			continue
		}
		for _, q := range p.model.order {
			if place, input := p.model.places(q); place >= 0 {
				copy(s.Input(input), values[place])
			}
		}
		if err := s.Run(); err != nil {
			return nil, err
		}
		for k := range all {
			for _, out := range s.Output(k) {
				if out != 0 {
					shares[k]++
					break
				}
			}
		}
	}
	for k := range shares {
		shares[k] /= n
	}
	return shares, nil
}
