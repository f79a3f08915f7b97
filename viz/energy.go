// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/infer/diag"
)

func init() {
	builtIn("energy", "distributions of the energy and of its changes", func(d Draws, _ ...string) (*Figure, error) { return Energy(d) })
}

// Energy draws the distribution of the marginal energy, which is that of each draw minus the mean of
// its chain, and of the energy transition, which is the change from one draw to the next. Transitions
// much narrower than the marginal energy, an E-BFMI below 0.3, mean that the sampler moves too slowly
// between the energies of the posterior.
func Energy(d Draws) (*Figure, error) {
	var s selection
	var energies, moves []float64
	var clean [][]float64
	left := 0
	for _, chain := range d.Energy {
		good := finites(chain)
		left += len(chain) - len(good)
		clean = append(clean, good)
		m := diag.Mean(good)
		for i, e := range good {
			energies = append(energies, e-m)
			if i > 0 {
				moves = append(moves, e-good[i-1])
			}
		}
	}
	if len(energies) == 0 {
		return nil, fmt.Errorf("viz: energy: Draws has no finite Energy: keep the sampler's statistics in the run")
	}
	if left > 0 {
		s.remark("%s", leftOut(left, "energy", "energies", "not finite"))
	}
	p := &panel{x: axis{label: "energy", pad: 0.02}, y: axis{none: true, pad: 0.05}}
	p.x.include(energies...)
	p.x.include(moves...)
	p.y.include(0)
	a, b := kde(diag.Ascend(energies), p.x.lo, p.x.hi, 256), kde(diag.Ascend(moves), p.x.lo, p.x.hi, 256)
	p.y.include(a.y...)
	p.y.include(b.y...)
	zero := make([]float64, 256)
	p.add(band(a.x, zero, a.y, fade(pooled, 0.2)), line(a.x, a.y, pooled, strong),
		band(b.x, zero, b.y, fade(model, 0.2)), line(b.x, b.y, model, strong))
	if len(a.x) == 0 {
		p.add(words("constant"))
	}
	p.keys = []key{{"marginal energy", pooled, stroke}, {"energy transition", model, stroke}}
	p.occupy(a.x, a.y)
	f := &Figure{Title: "Energy", Note: s.note("The marginal energy is measured from the mean of each chain; a transition is the change from one draw to the next. E-BFMI by chain: " + ebfmi(clean) + "."), Width: columnWidth, Height: 2.9}
	f.grid = &grid{rows: [][]*panel{{p}}}
	return f, nil
}

func ebfmi(energy [][]float64) string {
	var out []string
	for _, v := range diag.EBFMI(energy) {
		text := fmt.Sprintf("%.2f", v)
		if math.IsNaN(v) {
			text = "not defined"
		} else if v < 0.3 {
			text += " (low)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
