// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"

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

// VolumeSettings are the settings of Volume.
type VolumeSettings struct {
	Least float64 // smallest volume fraction, and S of an aligned material, of a voxel that is drawn
	Most  int     // largest number of voxels that are drawn. Default 3000
	// Materials are those that are drawn, from 0, with the voxels of aligned materials that have no alignment as dots. Default: the aligned voxels or, of
	// files that have none, those of all materials but the most abundant one.
	Materials []int
}

// Volume takes voxels of a volume of Euler angles for a picture of it: one at random, with a fixed seed, from each of equal blocks, which are as small
// as the number of voxels allows. Their opacity is the volume fraction. It has no voxels if none has enough of a material.
func Volume(m *cyrsoxs.Morphology, f VolumeSettings) viz.Volume {
	if f.Most <= 0 {
		f.Most = 3000
	}
	dots := f.Materials != nil
	if !dots {
		f.Materials = shownMaterials(m)
	}
	v := viz.Volume{}
	for i := range v.Size {
		v.Size[i] = float64(m.Shape[2-i]) * m.PhysSize
	}
	for i := range m.Phases {
		v.Materials = append(v.Materials, fmt.Sprintf("material %d", i+1))
	}
	for block := max(1, int(math.Cbrt(float64(m.Voxels())/float64(20*f.Most)))); ; block++ {
		v.Sticks, v.Length = sticks(m, f, block, dots), 0.9*float64(block)*m.PhysSize
		if len(v.Sticks) <= f.Most {
			return v
		}
	}
}

// shownMaterials are those that are drawn unless others are named.
func shownMaterials(m *cyrsoxs.Morphology) (list []int) {
	most, amount := 0, 0.0
	for i, p := range m.Phases {
		if !p.S.IsZero() {
			list = append(list, i)
		}
		sum := 0.0
		for k, n := 0, m.Voxels(); k < n; k += max(1, n/10_000) {
			sum += p.Vfrac.At(k)
		}
		if sum > amount {
			most, amount = i, sum
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range m.Phases {
		if i != most || len(m.Phases) == 1 {
			list = append(list, i)
		}
	}
	return list
}

// sticks takes one voxel from each block of voxels.
func sticks(m *cyrsoxs.Morphology, f VolumeSettings, block int, dots bool) (list []viz.Stick) {
	rng := tensor.NewStream(0, 0, 0)
	for z := 0; z < m.Shape[0]; z += block {
		for y := 0; y < m.Shape[1]; y += block {
			for x := 0; x < m.Shape[2]; x += block {
				at := [3]int{min(x+rng.IntN(block), m.Shape[2]-1), min(y+rng.IntN(block), m.Shape[1]-1), min(z+rng.IntN(block), m.Shape[0]-1)}
				for _, i := range f.Materials {
					if s, ok := stick(m, i, at, f.Least, dots); ok {
						list = append(list, s)
					}
				}
			}
		}
	}
	return list
}

// stick draws a material of the voxel at x, y and z; false if it has too little of it.
func stick(m *cyrsoxs.Morphology, material int, at [3]int, least float64, dots bool) (s viz.Stick, ok bool) {
	p, k := &m.Phases[material], (at[2]*m.Shape[1]+at[1])*m.Shape[2]+at[0]
	s.Opacity, s.Material = p.Vfrac.At(k), material
	if !(s.Opacity >= least) {
		return s, false
	}
	for d := range at {
		s.At[d] = (float64(at[d]) + 0.5) * m.PhysSize
	}
	if p.S.IsZero() {
		return s, true
	}
	if !(p.S.At(k) >= least) {
		return s, dots
	}
	st, ct := math.Sincos(p.Theta.At(k))
	sp, cp := math.Sincos(p.Psi.At(k))
	s.Director = [3]float64{cp * st, sp * st, ct}
	return s, true
}
