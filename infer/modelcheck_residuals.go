// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeScores is the random stream that places counts within their probability.
const purposeScores uint32 = 141

// predicted are the residuals of all observations at one draw, with predictions.
type predicted struct{ z, mean, sd []float64 }

// unscored is why an observation has no residuals: what its distribution cannot do. It
// says nothing about the model.
type unscored struct {
	o   *observation
	why string
}

func (u *unscored) Error() string { return "infer: model check: " + u.why }

// scored lists the observations that have quantile residuals, and notes on the others,
// among them those in skip.
func (p *Posterior) scored(skip []*unscored) (list []*observation, notes []check.Flag) {
	for _, u := range skip {
		notes = append(notes, check.Flag{Kind: check.KindShape, Note: true, Text: u.why})
	}
	for _, o := range p.model.observed {
		if slices.ContainsFunc(skip, func(u *unscored) bool { return u.o == o }) {
			continue
		}
		if o.dist.Event > 0 || o.missing != nil {
			why := "its values are vectors, whose elements depend on each other"
			if o.missing != nil {
				why = "some of its values are missing"
			}
			notes = append(notes, check.Flag{Kind: check.KindShape, Note: true, Text: fmt.Sprintf("the observation %s was not judged, because %s", o.name, why)})
			continue
		}
		list = append(list, o)
	}
	return list, notes
}

// axes returns the Data vectors that are as long as the only observation and that the
// standard deviations are not.
func (p *Posterior) axes(list []*observation) (out []check.Axis) {
	if len(list) != 1 || list[0].kept != nil {
		return nil
	}
	o := list[0]
	for i, d := range p.model.data {
		v := p.data[i]
		if d == o.data || len(v) != o.data.node.Size() || slices.Contains(o.dist.Params, d.node) || slices.Min(v) == slices.Max(v) {
			continue
		}
		out = append(out, check.Axis{Name: d.name, Values: v})
	}
	return out
}

// scores returns the residuals at the unconstrained draw q.
func (p *Posterior) scores(list []*observation, q []float64) (r predicted, err error) {
	for _, o := range list {
		theta, err := p.distributionAt(o, q)
		if err != nil {
			return r, err
		}
		shape := o.data.node.Shape()
		x := p.data[slices.Index(p.model.data, o.data)]
		z, mean, sd := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		if err := p.scoresOf(o, z, x, theta, q); err != nil {
			return r, err
		}
		if err := o.dist.MeansAndSDs(mean, sd, shape, theta); err != nil {
			return r, fmt.Errorf("infer: model check: observation %s: %w", o.name, err)
		}
		for _, i := range o.counts() {
			r.z, r.mean, r.sd = append(r.z, z[i]), append(r.mean, mean[i]), append(r.sd, sd[i])
		}
	}
	if slices.ContainsFunc(r.mean, func(m float64) bool { return math.IsNaN(m) || math.IsInf(m, 0) }) {
		r.mean = nil
	}
	return r, nil
}

// distributionAt returns the parameters of an observation's distribution at q.
func (p *Posterior) distributionAt(o *observation, q []float64) ([][]float64, error) {
	if err := p.at(&p.ask, p.predict, q); err != nil {
		return nil, fmt.Errorf("infer: model check: %w", err)
	}
	at := len(p.model.observed)
	for _, other := range p.model.observed[:slices.Index(p.model.observed, o)] {
		at += len(other.dist.Params)
	}
	theta := make([][]float64, len(o.dist.Params))
	for j := range theta {
		theta[j] = slices.Clone(p.ask.Output(at + j))
	}
	return theta, nil
}

// seedOf makes a seed of numbers: other data, or another draw, have other places.
func seedOf(lists ...[]float64) uint64 {
	h, b := fnv.New64a(), make([]byte, 8)
	for _, list := range lists {
		for _, v := range list {
			binary.LittleEndian.PutUint64(b, math.Float64bits(v))
			h.Write(b)
		}
	}
	return h.Sum64()
}

// scoresOf fills z by the cumulative distribution function, or by the rank among 199
// replications where the distribution has none.
func (p *Posterior) scoresOf(o *observation, z, x []float64, theta [][]float64, q []float64) error {
	src := tensor.NewStream(seedOf(x, q), purposeScores, 0)
	places := make([]float64, len(x))
	for i := range places {
		places[i] = src.Float64()
	}
	shape := o.data.node.Shape()
	err := o.dist.Scores(z, x, shape, theta, func(i int) float64 { return places[i] })
	if err == nil && !slices.ContainsFunc(z, math.IsNaN) {
		return nil
	}
	if !o.dist.CanDraw() {
		return &unscored{o, fmt.Sprintf("the distribution %s of the observation %s cannot be drawn from, so the model was not checked by simulation: set RandOf", o.dist.Name, o.name)}
	}
	const replicas = 199
	below, other := make([]float64, len(x)), make([]float64, len(x))
	for range replicas {
		if err := o.dist.Fill(&src, other, shape, theta); err != nil {
			return fmt.Errorf("infer: model check: observation %s: %w", o.name, err)
		}
		if k, err := o.dist.Outside(other, shape, theta); err != nil {
			return fmt.Errorf("infer: model check: observation %s: %w", o.name, err)
		} else if k >= 0 {
			return &unscored{o, fmt.Sprintf("draws of the distribution %s of the observation %s are outside its support, such as %g, so the model was not checked by simulation: correct RandOf", o.dist.Name, o.name, other[k])}
		}
		for i, v := range other {
			switch {
			case v < x[i]:
				below[i]++
			case v == x[i]:
				below[i] += places[i]
			}
		}
	}
	for i := range z {
		z[i] = standardNormal.Quantile((below[i] + places[i]) / (replicas + 1))
	}
	return nil
}

// adapt adds to d the Jacobian of the predictions with respect to the unconstrained
// parameters, in units of the standard deviations, by central differences of a
// thousandth of the posterior's width. Parameters that move no prediction are left out.
func (p *Posterior) adapt(d *check.Data, list []*observation, q, width []float64, at predicted) error {
	if at.mean == nil {
		return nil
	}
	if p.latent != nil {
		var err error
		if p.held, err = p.drawLabels(q); err != nil {
			return err
		}
		defer func() { p.held = nil }()
	}
	x := slices.Clone(q)
	names := p.freeNames()
	for k := range q {
		h := 1e-3 * width[k]
		if h == 0 {
			continue
		}
		x[k] = q[k] + h
		up, err := p.scores(list, x)
		if err != nil {
			return err
		}
		x[k] = q[k] - h
		down, err := p.scores(list, x)
		if err != nil {
			return err
		}
		x[k] = q[k]
		if up.mean == nil || down.mean == nil {
			continue
		}
		if !d.Counts && !slices.Equal(up.sd, down.sd) {
			d.SigmaFitted = true
		}
		column, moves := make([]float64, len(at.z)), false
		for i := range column {
			column[i] = (up.mean[i] - down.mean[i]) / (2 * h * at.sd[i])
			moves = moves || column[i] != 0
		}
		if moves && !slices.ContainsFunc(column, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			d.Names, d.Jacobian = append(d.Names, names[k]), append(d.Jacobian, column...)
		}
	}
	return nil
}

// freeNames names the unconstrained coordinates after their parameters.
func (p *Posterior) freeNames() (names []string) {
	for _, q := range p.model.params {
		n := 1
		for _, k := range q.free {
			n *= k
		}
		for i := range n {
			if n == 1 {
				names = append(names, q.name)
			} else {
				names = append(names, fmt.Sprintf("%s[%d]", q.name, i))
			}
		}
	}
	return names
}
