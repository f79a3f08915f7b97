// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// LearnedCoin chooses among outcomes with the frequencies that it observed: weights from a context
// to the outcomes record the logarithms of the counts, and noise in the first step turns them into
// probabilities.
//
//	w = 1 + ln(lambda beta)/lambda at first,  w += beta exp(-lambda (w - 1)) when seen
//	P(outcome) = softmax(lambda w), about count / sum of counts
//
// The area follows that distribution for two outcomes where its noise suits lambda: the normal
// distribution of how many neurons of each outcome fire first is close to a logistic one when
//
//	lambda = 1.702/sqrt(pi) k sqrt(p)/noise = 0.96 k sqrt(p)/noise
//
// The random connections favour one outcome or another a little.
//
// Reference: Dabagia, Mitropolsky, Papadimitriou and Vempala, Coin-Flipping in the
// Brain (2024), arXiv:2406.07715.
type LearnedCoin struct {
	Area *Area   // area of the outcomes
	In   *Matrix // synapses from contexts to outcomes

	lambda, beta, noise float64
	outcomes, contexts  int
	steps               int
	weight              [][]float64 // weight by context and outcome
	src                 tensor.Stream
	room                []float64
}

// LearnedCoinSettings describe a learned coin. Zero values are the defaults.
type LearnedCoinSettings struct {
	Contexts int     // number of contexts; default 1
	Outcomes int     // number of outcomes; default 2
	K        int     // neurons of a context and of an outcome; default 400
	N        int     // neurons of the area; default K for each outcome
	P        float64 // probability of a synapse; default 0.1
	Lambda   float64 // steepness lambda of the learning rule; default 24, which suits the other defaults
	Beta     float64 // plasticity beta; default 1000
	Noise    float64 // standard deviation of the noise per neuron, in units of sqrt(K P); default 5
	Imprint  float64 // plasticity that makes the outcomes assemblies; default 3
	Steps    int     // steps after the first until an outcome is read; default 10
	Seed     uint64  // seed of connections and noise
}

// NewLearnedCoin draws the connections of a coin that has seen each outcome once.
func NewLearnedCoin(set LearnedCoinSettings) (*LearnedCoin, error) {
	k, outcomes, contexts := orElse(set.K, 400), orElse(set.Outcomes, 2), orElse(set.Contexts, 1)
	c := &LearnedCoin{lambda: orElseFloat(set.Lambda, 24), beta: orElseFloat(set.Beta, 1000),
		outcomes: outcomes, contexts: contexts, steps: orElse(set.Steps, 10), src: tensor.NewStream(set.Seed, purposeNoise, 0)}
	d := &drawing{Wiring: Wiring{P: orElseFloat(set.P, 0.1), Seed: set.Seed}}
	c.noise = orElseFloat(set.Noise, 5) * math.Sqrt(float64(k)*d.P)
	c.Area = d.area(orElse(set.N, k*outcomes), k, orElseFloat(set.Imprint, 3))
	if d.err == nil {
		d.err = c.fits()
	}
	if d.err != nil {
		return nil, d.err
	}
	n := c.Area.N
	c.In, c.Area.Recurrent = d.matrix("context>outcome", contexts*k, n), d.matrix("outcome>outcome", n, n)
	if d.err != nil {
		return nil, d.err
	}
	c.weight, c.room = make([][]float64, contexts), make([]float64, n)
	for i := range c.weight {
		c.weight[i] = make([]float64, outcomes)
		for o := range outcomes {
			c.set(i, o, 1+math.Log(c.lambda*c.beta)/c.lambda)
		}
	}
	return c, imprint(c.Area, outcomes)
}

func (c *LearnedCoin) fits() error {
	switch {
	case c.contexts < 1 || c.outcomes < 1 || c.steps < 1 || c.outcomes*c.Area.K > c.Area.N:
		return fmt.Errorf("nemo: the coin has %d contexts and %d outcomes of %d neurons among %d, read after %d steps: want at least one of each, and enough neurons for all", c.contexts, c.outcomes, c.Area.K, c.Area.N, c.steps)
	case !(c.lambda > 0) || !(c.beta > 0) || !(c.noise >= 0) || !(c.lambda*c.beta > 1):
		return fmt.Errorf("nemo: the coin has lambda %g, beta %g and noise %g: want lambda times beta above 1, and noise of at least 0", c.lambda, c.beta, c.noise)
	}
	return nil
}

// set sets the weight of the synapses from a context to an outcome.
func (c *LearnedCoin) set(context, outcome int, w float64) {
	c.weight[context][outcome] = w
	k := c.Area.K
	for _, i := range Block(context, k) {
		r := c.In.rows[i]
		for s, j := range r.to {
			if int(j)/k == outcome {
				r.weight[s] = w
			}
		}
	}
}

// Observe strengthens the synapses from a context to the outcome that followed it.
func (c *LearnedCoin) Observe(context, outcome int) error {
	if err := within("context", context, c.contexts); err != nil {
		return err
	}
	if err := within("outcome", outcome, c.outcomes); err != nil {
		return err
	}
	w := c.weight[context][outcome]
	c.set(context, outcome, w+c.beta*math.Exp(-c.lambda*(w-1)))
	return nil
}

// Probabilities returns softmax(lambda w) of the outcomes in a context: what the coin has learnt,
// independent of the random connections.
func (c *LearnedCoin) Probabilities(context int) ([]float64, error) {
	if err := within("context", context, c.contexts); err != nil {
		return nil, err
	}
	p, sum := make([]float64, c.outcomes), 0.0
	for o, w := range c.weight[context] {
		p[o] = math.Exp(c.lambda * (w - c.weight[context][0]))
		sum += p[o]
	}
	for o := range p {
		p[o] /= sum
	}
	return p, nil
}

// Flip makes a context fire once into the area with noise, lets the area run freely and returns the
// outcome that it settles into, or ErrSilent if there is none.
func (c *LearnedCoin) Flip(context int) (outcome int, err error) {
	if err := within("context", context, c.contexts); err != nil {
		return 0, err
	}
	a := c.Area
	a.Inhibit()
	for j := range c.room {
		c.room[j] = c.noise * c.src.Normal()
	}
	if err := a.Disturb(c.room); err != nil {
		return 0, err
	}
	if err := a.Step(false, Firing{c.In, Block(context, a.K)}); err != nil {
		return 0, err
	}
	if err := a.settle(c.steps); err != nil {
		return 0, err
	}
	outcome, shared := Nearest(a.Winners, a.K, c.outcomes)
	a.Inhibit()
	if shared == 0 {
		return 0, fmt.Errorf("nemo: a flip in context %d led to none of %d outcomes: %w: draw more synapses", context, c.outcomes, ErrSilent)
	}
	return outcome, nil
}
