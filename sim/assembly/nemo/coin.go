// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Coin is a recurrent area with an assembly for each outcome: whatever neurons fire first, the area
// settles into one of them. The random connections favour one outcome or another a little.
type Coin struct {
	Area     *Area
	steps    int
	outcomes int
	src      tensor.Stream
	deck     []int32
}

// CoinSettings describe a coin. Zero values are the defaults.
type CoinSettings struct {
	N        int     // neurons of the area; default 1000
	K        int     // neurons of an outcome; default 70
	Outcomes int     // number of outcomes; default 2
	P        float64 // probability of a synapse; default 0.25
	Beta     float64 // plasticity while the outcomes are learnt; default 3
	Steps    int     // steps until an outcome is read; default 10
	Seed     uint64  // seed of connections and flips
}

// NewCoin draws the connections of a coin and makes each outcome, a block of K neurons,
// fire twice.
func NewCoin(set CoinSettings) (*Coin, error) {
	d := &drawing{Wiring: Wiring{P: orElseFloat(set.P, 0.25), Seed: set.Seed}}
	a := d.area(orElse(set.N, 1000), orElse(set.K, 70), orElseFloat(set.Beta, 3))
	c := &Coin{Area: a, steps: orElse(set.Steps, 10), outcomes: orElse(set.Outcomes, 2), src: tensor.NewStream(set.Seed, purposeFlip, 0)}
	if d.err == nil {
		d.err = c.fits()
	}
	if d.err != nil {
		return nil, d.err
	}
	if a.Recurrent = d.matrix("coin>coin", a.N, a.N); d.err != nil {
		return nil, d.err
	}
	c.deck = make([]int32, a.N)
	for j := range c.deck {
		c.deck[j] = int32(j)
	}
	return c, imprint(a, c.outcomes)
}

func (c *Coin) fits() error {
	if c.outcomes < 1 || c.outcomes*c.Area.K > c.Area.N || c.steps < 1 {
		return fmt.Errorf("nemo: the coin has %d outcomes of %d neurons among %d, read after %d steps: want at least one outcome and one step, and enough neurons for all", c.outcomes, c.Area.K, c.Area.N, c.steps)
	}
	return nil
}

// imprint makes blocks of a recurrent area into assemblies: each fires twice.
func imprint(a *Area, blocks int) error {
	for i := range blocks {
		a.Inhibit()
		for range 2 {
			if err := a.Force(Block(i, a.K)); err != nil {
				return err
			}
		}
	}
	a.Rest()
	return nil
}

// Flip makes K random neurons fire, lets the area run freely and returns its winners, or ErrSilent
// if nothing fires.
func (c *Coin) Flip() ([]int32, error) {
	a := c.Area
	a.Inhibit()
	for i := range a.K {
		j := i + c.src.IntN(a.N-i)
		c.deck[i], c.deck[j] = c.deck[j], c.deck[i]
	}
	if err := a.Fire(c.deck[:a.K]); err != nil {
		return nil, err
	}
	if err := a.settle(c.steps); err != nil {
		return nil, err
	}
	w := a.Winners
	a.Inhibit()
	if len(w) == 0 {
		return nil, fmt.Errorf("nemo: a flip of %d of %d neurons died out: %w: draw more synapses", a.K, a.N, ErrSilent)
	}
	return w, nil
}

// settle runs the area freely for some steps, or until no further step can change its winners.
func (a *Area) settle(steps int) error {
	for range steps {
		before := a.Winners
		if err := a.Step(false); err != nil {
			return err
		}
		if a.Fatigue.Period < 1 && slices.Equal(before, a.Winners) {
			return nil
		}
	}
	return nil
}

// Outcome returns the outcome that shares most neurons with those given, and how many; -1 if none
// shares any.
func (c *Coin) Outcome(neurons []int32) (outcome, overlap int) {
	return Nearest(neurons, c.Area.K, c.outcomes)
}
