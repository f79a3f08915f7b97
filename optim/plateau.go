// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// Plateau lowers a learning rate when the loss no longer falls: it multiplies the rate by Factor
// after more than Patience losses in a row that were not below the best one by the relative amount
// Threshold. Its fields are exported so that any encoder can save it; a saved Plateau continues
// exactly.
type Plateau struct {
	Factor    float64 // factor by which the rate is multiplied. Default 0.5
	Threshold float64 // relative improvement that counts. Default 1e-5
	Least     float64 // smallest change of the rate that is made. Default 1e-9
	Patience  int     // number of losses without improvement that are tolerated. Default 20

	// Seen reports whether Next has been given a loss.
	Seen bool
	Best float64 // smallest loss so far
	Bad  int     // number of losses since the best one that did not improve on it
}

// Next returns the learning rate to use after a loss.
func (p *Plateau) Next(rate, loss float64) float64 {
	or := func(x, d float64) float64 {
		if x == 0 {
			return d
		}
		return x
	}
	patience := p.Patience
	if patience == 0 {
		patience = 20
	}
	if !p.Seen || loss < p.Best*(1-math.Copysign(or(p.Threshold, 1e-5), p.Best)) {
		p.Seen, p.Best, p.Bad = true, loss, 0
	} else {
		p.Bad++
	}
	if p.Bad > patience {
		p.Bad = 0
		if lower := rate * or(p.Factor, 0.5); rate-lower > or(p.Least, 1e-9) {
			return lower
		}
	}
	return rate
}
