// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"context"
	"errors"
	"math"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// pairsDensity returns the log likelihood of all pairs under independent errors, times a power, with contrast and offset of each angle
// integrated out under the beliefs about them, as a node of the parameters of the motion, and the distribution of contrasts and offsets given
// these, (5, angles) as products.integrated has it. Where the parameters have no meaning the density is minus infinity. The density has first
// derivatives, and may be evaluated by several goroutines at once, whose passes overlap on a GPU. on is where the passes run.
func pairsDensity(ctx context.Context, d *Data, p Priors, power float64, b ad.Backend, theta []*ad.Node) (logProb, conditional *ad.Node, on string, err error) {
	if err := d.check(); err != nil {
		return nil, nil, "", err
	}
	p.defaults()
	e := &evaluators{data: d, priors: p, power: power, p: len(theta)}
	if e.make, on, err = sources(ctx, d, b); err != nil {
		return nil, nil, "", err
	}
	angles := len(d.Setup.Angles)
	size := 1 + len(theta) + 5*angles
	// the gradient belongs to the output, so that the operation has no state
	op := &ad.Custom{Name: "two-time density",
		Shape:   func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{size}, nil },
		Forward: func(out []float64, in ...[]float64) error { return e.density(out, in[0]) },
		Adjoint: func(dIn [][]float64, g, out []float64, _ ...[]float64) error {
			for i, x := range out[1 : 1+len(theta)] {
				dIn[0][i] = g[0] * x
			}
			return nil
		}}
	all := ad.Call(op, ad.Stack(0, theta...))
	return ad.Reshape(ad.Slice(all, 0, 0, 1)), ad.Reshape(ad.Slice(all, 0, 1+len(theta), size), 5, angles), on, nil
}

// evaluators are those that no goroutine uses at present.
type evaluators struct {
	data   *Data
	make   func() (passer, error)
	priors Priors
	power  float64
	p      int // parameters of the motion
	lock   sync.Mutex
	free   []*sums
}

func (e *evaluators) take() (*sums, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if n := len(e.free); n > 0 {
		s := e.free[n-1]
		e.free = e.free[:n-1]
		return s, nil
	}
	pass, err := e.make()
	if err != nil {
		return nil, err
	}
	s := &sums{data: e.data, p: len(e.data.Setup.Names()), pass: pass}
	s.room()
	return s, nil
}

func (e *evaluators) give(s *sums) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.free = append(e.free, s)
}

// density writes the log density and its gradient.
func (e *evaluators) density(out, theta []float64) error {
	clear(out)
	out[0] = math.Inf(-1)
	if e.data.Setup.Domain(theta) != nil {
		return nil
	}
	s, err := e.take()
	if err != nil {
		return err
	}
	defer e.give(s)
	var domain *transport.DomainError
	if err := s.evaluate(context.Background(), theta, false); errors.As(err, &domain) {
		return nil
	} else if err != nil {
		return err
	}
	out[0] = 0
	scaled, angles := []float64(nil), len(s.gram)
	for angle, gram := range s.gram {
		scaled = scaled[:0]
		for _, v := range gram {
			scaled = append(scaled, e.power*v)
		}
		for i, v := range e.priors.marginal(out[:1+e.p], scaled) {
			out[1+e.p+i*angles+angle] = v
		}
	}
	return nil
}

// marginal adds the log likelihood of an angle and its gradient, given the products of its columns. It returns the distribution of contrast and
// offset.
func (p *Priors) marginal(out, gram []float64) [5]float64 {
	k := len(out) + 2
	pc, po := 1/(p.Contrast.SD*p.Contrast.SD), 1/(p.Offset.SD*p.Offset.SD)
	mc, mo := p.Contrast.Mean, p.Offset.Mean-1
	// precision of contrast and offset: [a b; b c]
	a, b, c := gram[k+1]+pc, gram[1], gram[0]+po
	hc, ho := gram[k+k-1]+pc*mc, gram[k-1]+po*mo
	det := a*c - b*b
	contrast, offset := (c*hc-ho*b)/det, (ho*a-b*hc)/det
	left := gram[k*k-1] + pc*mc*mc + po*mo*mo - hc*contrast - ho*offset
	out[0] -= (left + math.Log(det)) / 2
	for i := range out[1:] {
		da, db, dh := 2*gram[k+2+i], gram[2+i], gram[(2+i)*k+k-1]
		slope := contrast*contrast*da + 2*contrast*offset*db - 2*contrast*dh
		out[1+i] -= (slope + (c*da-2*b*db)/det) / 2
	}
	return [5]float64{contrast, offset, math.Sqrt(c / det), -b / math.Sqrt(c*det), 1 / math.Sqrt(c)}
}
