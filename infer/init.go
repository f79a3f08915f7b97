// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// findStart puts p where log density and gradient are finite. From a random place it
// ascends first.
func (c *chain) findStart(p *hamiltonian.Point) error {
	given := c.prescribedStart()
	if given == nil && len(p.Q) > 0 && c.cfg.InitFunc == nil && !c.cfg.NoClimb && !c.cfg.NoWarmup {
		return c.startNearMode(p)
	}
	random := tensor.NewStream(c.cfg.Seed, purposeInit, uint32(c.id))
	return c.place(&random, given, p)
}

// place puts p at the given place, or tries random ones.
func (c *chain) place(random *tensor.Stream, given []float64, p *hamiltonian.Point) error {
	tries := c.cfg.InitTries
	if given != nil || len(p.Q) == 0 {
		tries = 1
	}
	fault := &InitError{Chain: c.id, Tries: tries}
	for range tries {
		if err := c.propose(random, given, p.Q); err != nil {
			return &InitError{Chain: c.id, Tries: 1, Detail: err.Error(), Err: err}
		}
		c.tr.Count++
		lp, err := c.target.LogProbGrad(p.Q, p.G)
		if err != nil && !hamiltonian.Recoverable(err) {
			return err
		}
		if p.Lp = lp; err == nil && linalg.Finite(lp) && linalg.AllFinite(p.G) {
			return nil
		}
		fault.Err = err
	}
	if given == nil && c.cfg.InitFunc == nil && c.placeInPrior(p) {
		return nil
	}
	fault.Detail = c.explain(p, fault.Err)
	return fault
}

// placeInPrior puts p at a draw from the prior where the density is finite, if one is: a prior of very small numbers lies far from 0 in
// unconstrained coordinates.
func (c *chain) placeInPrior(p *hamiltonian.Point) bool {
	from, ok := c.target.(priorPointer)
	if !ok || len(p.Q) == 0 {
		return false
	}
	draws, err := from.priorPoints(c.cfg.InitTries, c.cfg.Seed, nil)
	if err != nil {
		return false
	}
	q := make([]float64, len(p.Q))
	for k := range draws {
		copy(q, draws[(k+c.id)%len(draws)])
		c.tr.Count++
		if lp, err := c.target.LogProbGrad(q, p.G); err == nil && linalg.Finite(lp) && linalg.AllFinite(p.G) {
			copy(p.Q, q)
			p.Lp = lp
			return true
		}
	}
	return false
}

// prescribedStart returns the start the settings prescribe, or nil.
func (c *chain) prescribedStart() []float64 {
	if c.given != nil {
		return c.given
	}
	i := c.id - c.cfg.FirstChain
	if i < len(c.cfg.Init) {
		return c.cfg.Init[i]
	}
	if from := c.cfg.From; from != nil {
		return from.chains[i%len(from.chains)].p.Q
	}
	return nil
}

func (c *chain) propose(random *tensor.Stream, given, q []float64) error {
	switch {
	case given != nil:
		copy(q, given)
	case c.cfg.InitFunc != nil:
		return c.cfg.InitFunc(c.id, random, q)
	default:
		for i := range q {
			q[i] = c.cfg.InitRadius * (2*random.Float64() - 1)
		}
	}
	return nil
}

// explain says what is not finite at p.
func (c *chain) explain(p *hamiltonian.Point, err error) string {
	var parts []string
	if err != nil {
		parts = append(parts, err.Error())
	} else if !linalg.Finite(p.Lp) {
		text := fmt.Sprintf("log density is %g", p.Lp)
		if math.IsInf(p.Lp, -1) {
			text += ", so the density is 0 there"
		}
		parts = append(parts, text)
	}
	if e, ok := c.target.(Explainer); ok {
		if s := e.Explain(p.Q); s != "" {
			parts = append(parts, s)
		}
	}
	bad, names := 0, coordinates(c.target)
	for i, g := range p.G {
		if err == nil && !linalg.Finite(g) && !math.IsInf(p.Lp, -1) { // a density of 0 has no gradient
			if bad++; bad <= 5 {
				parts = append(parts, fmt.Sprintf("the gradient with respect to %s is %g, where its unconstrained value is %.6g", names[i], g, p.Q[i]))
			}
		}
	}
	if bad > 5 {
		parts = append(parts, fmt.Sprintf("and %d more gradients", bad-5))
	}
	if scale := c.scaleOfPriors(); scale != "" {
		parts = append(parts, scale)
	}
	if bad > 0 && linalg.Finite(p.Lp) {
		parts = append(parts, fmt.Sprintf("although the log density is %.6g there, so an operation of the model has no finite derivative, as the square root has none at 0", p.Lp))
	}
	return strings.Join(parts, ", ")
}
