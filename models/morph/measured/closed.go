// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// largestQ returns the largest |q| of pixels whose directions have components across the beam of at most most, for light of the wave number
// k, with a few per cent to spare.
func largestQ(most, k float64) float64 {
	return 1.02 * k * math.Sqrt(2-2*math.Sqrt(max(0, 1-2*most*most)))
}

// materials returns an error unless all materials of a sample have constants.
func (p *pass) materials(n int) error {
	if n != len(p.Tables) && p.Matrix != nil {
		return fmt.Errorf("measured: the model has %d materials beside the matrix, whose constants are the last of the %d that are given: give one for each, %d in all", n, len(p.Tables)+1, n+1)
	}
	if n != len(p.Tables) {
		return fmt.Errorf("measured: the model has %d materials, and %d have constants: give one for each", n, len(p.Tables))
	}
	return nil
}

// scattered returns the intensities of light with the field at some angles in radians.
func (p *pass) scattered(l *light, radians []float64) []*ad.Node {
	if p.Closed != nil {
		return p.closed.Intensities(l.k, l.direction, l.contrasts, radians...)
	}
	var mean []*ad.Node
	for _, fields := range p.fields {
		for i, image := range p.volume.Intensities(p.volume.Amplitude(l.k, fields, l.contrasts, radians...), l.k, l.direction) {
			if image = ad.Scale(1/float64(len(p.fields)), image); i < len(mean) {
				mean[i] = ad.Add(mean[i], image)
			} else {
				mean = append(mean, image)
			}
		}
	}
	return mean
}
