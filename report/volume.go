// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

// SliceSettings are the settings of Slice. The zero value is the lowest plane across z,
// with all voxels.
type SliceSettings struct {
	Axis int // axis normal to the slice: 0 for z, 1 for y, 2 for x
	At   int // position along the axis in voxels; -1 for the middle
	// Subsample draws one of this many voxels along each axis. Default 1.
	Subsample int
	Least     float64 // smallest volume fraction and S at which an angle is drawn
	// Directors is the number of drawn voxels between director lines; -1 draws none. Default about 20
	// lines a side.
	Directors int
}

// Slice cuts a slice through a volume of Euler angles. Its title gives the position.
func Slice(m *cyrsoxs.Morphology, f SliceSettings) viz.Slice {
	axis, at, name := f.Axis, f.At, string("zyx"[f.Axis])
	if at < 0 {
		at = m.Shape[axis] / 2
	}
	f.Subsample = max(f.Subsample, 1)
	row, column := [3]int{1, 0, 0}[axis], [3]int{2, 2, 1}[axis]
	strides := [3]int{m.Shape[1] * m.Shape[2], m.Shape[2], 1}
	s := viz.Slice{Title: fmt.Sprintf(", %s = %g nm", name, float64(at)*m.PhysSize), Normal: name, Voxel: m.PhysSize * float64(f.Subsample), Least: f.Least, Step: f.Directors,
		NY: (m.Shape[row] + f.Subsample - 1) / f.Subsample, NX: (m.Shape[column] + f.Subsample - 1) / f.Subsample}
	var places []int
	for j := range s.NY {
		for i := range s.NX {
			places = append(places, at*strides[axis]+f.Subsample*(j*strides[row]+i*strides[column]))
		}
	}
	s.Phases = phasesAt(m, places)
	return s
}

// mostSampled is the largest number of voxels counted in histograms.
const mostSampled = 100000

// Sampled returns voxels for histograms: all of them, or a random sample with a fixed
// seed.
func Sampled(m *cyrsoxs.Morphology) []viz.Phase {
	n := m.Voxels()
	places := make([]int, min(n, mostSampled))
	rng := tensor.NewStream(0, 0, 0)
	for i := range places {
		if places[i] = i; n > mostSampled {
			places[i] = rng.IntN(n)
		}
	}
	return phasesAt(m, places)
}

// phasesAt returns the phases of a volume of Euler angles at some voxels.
func phasesAt(m *cyrsoxs.Morphology, places []int) []viz.Phase {
	take := func(f cyrsoxs.Field) []float64 {
		v := make([]float64, len(places))
		for i, p := range places {
			v[i] = f.At(p)
		}
		return v
	}
	var list []viz.Phase
	for i, p := range m.Phases {
		q := viz.Phase{Name: fmt.Sprintf("material %d", i+1), Vfrac: take(p.Vfrac)}
		if !p.S.IsZero() {
			q.S, q.Theta, q.Psi = take(p.S), take(p.Theta), take(p.Psi)
		}
		list = append(list, q)
	}
	return list
}
