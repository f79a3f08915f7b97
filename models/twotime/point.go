// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
)

// Point is a point in the space of parameters: those of the motion, and contrast and offset of each
// angle.
type Point struct {
	Theta, Contrast, Offset []float64
	// Held holds the names of free parameters that a fit left on a bound, so that they did not adapt
	// to the data.
	Held    []string
	inverse []float64 // 1/count of each angle, for ByFrames
}

// Median returns the medians of the parameters of the motion, of contrasts and of offsets over all draws.
func (p *Posterior) Median(fit *infer.Fit) Point {
	return p.pointOf(func(name string) float64 { return diag.Quantile(diag.Flatten(fit.Draws(name)), 0.5) })
}

// point is that of unconstrained parameters.
func (p *Posterior) point(q []float64) (at Point, err error) {
	out := make([]float64, p.Len())
	if err := p.Write(q, out); err != nil {
		return at, err
	}
	values := map[string]float64{}
	for i, name := range p.Names() {
		values[name] = out[i]
	}
	return p.pointOf(func(name string) float64 { return values[name] }), nil
}

func (p *Posterior) pointOf(value func(name string) float64) (at Point) {
	for _, name := range p.data.Setup.Names() {
		at.Theta = append(at.Theta, value(name))
	}
	for k := range p.angles {
		if p.likelihood == ByFrames {
			at.Contrast, at.Offset = append(at.Contrast, value(fmt.Sprintf("contrast[%d]", k))), append(at.Offset, value(fmt.Sprintf("offset[%d]", k)))
			at.inverse = append(at.inverse, value(fmt.Sprintf("inverse_count[%d]", k)))
			continue
		}
		at.Contrast, at.Offset = append(at.Contrast, value(fmt.Sprintf("scales[0, %d]", k))), append(at.Offset, 1+value(fmt.Sprintf("scales[1, %d]", k)))
	}
	return at
}
