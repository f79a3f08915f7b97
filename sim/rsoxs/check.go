// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// ClosureTolerance is the largest allowed deviation from 1 of the sum of a voxel's volume fractions,
// as in NRSS; HalfClosureTolerance is that for arrays in half precision.
const (
	ClosureTolerance     = 1e-5 + 1e-8
	HalfClosureTolerance = 1e-3
)

// Check returns everything that is wrong with m, one mistake per array: numbers must be finite,
// volume fractions and S between 0 and 1, the components of Align between -1 and 1, and the volume
// fractions of each voxel must sum to 1 within the tolerance (0 means ClosureTolerance, or
// HalfClosureTolerance if an array is in half precision). Angles are not restricted. The simulator
// requires none of this: it treats what is missing from a voxel as vacuum, and ignores angles that
// are not numbers if S is 0.
func (m *Morphology) Check(tolerance float64) error {
	if err := m.inspect(); err != nil {
		return err
	}
	var bad problems
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			m.checkValues(&bad, i, f)
		}
	}
	if len(bad.list) == 0 { // else the sums would say the same again
		m.checkSums(&bad, m.tolerance(tolerance))
	}
	return bad.err("rsoxs: morphology")
}

func (m *Morphology) tolerance(given float64) float64 {
	if given > 0 {
		return given
	}
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			if (*f.at).DType() == tensor.Float16 {
				return HalfClosureTolerance
			}
		}
	}
	return ClosureTolerance
}

// voxel returns the indices of element i of a slice.
func (m *Morphology) voxel(z, i int) [3]int {
	nx := m.Shape()[2]
	return [3]int{z, i / nx, i % nx}
}

// checkValues records the first number of an array that is out of range.
func (m *Morphology) checkValues(bad *problems, material int, f field) {
	low, high, per := 0.0, 1.0, 1
	switch f.name {
	case "Align":
		low, per = -1, 3
	case "Theta", "Psi":
		low, high = -math.MaxFloat64, math.MaxFloat64
	}
	s := newStack[float64](*f.at, m.Shape()[0])
	room := make([]float64, s.size)
	for z := range m.Shape()[0] {
		for i, v := range s.at(z, room) {
			if !(v >= low && v <= high) {
				bad.add("material %d: %s is %v at voxel %v: want finite numbers from %.3g to %.3g", material+1, f.name, v, m.voxel(z, i/per), low, high)
				return
			}
		}
	}
}

// checkSums records the first voxel whose volume fractions do not sum to 1.
func (m *Morphology) checkSums(bad *problems, tolerance float64) {
	for z := range m.Shape()[0] {
		for i, sum := range m.fractions(z) {
			if d := sum - 1; !(math.Abs(d) <= tolerance) {
				bad.add("volume fractions sum to %.9g at voxel %v: want 1 within %.3g; add the missing volume as vacuum, or see Normalize", sum, m.voxel(z, i), tolerance)
				return
			}
		}
	}
}

// fractions returns the sums of the volume fractions in slice z.
func (m *Morphology) fractions(z int) []float64 {
	n := m.Shape()
	sum := make([]float64, n[1]*n[2])
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			s := newStack[float64](*f.at, n[0])
			switch f.name {
			case "Vfrac", "Unaligned":
				for j, v := range s.at(z, make([]float64, s.size)) {
					sum[j] += v
				}
			case "Align":
				for j, v := range s.at(z, make([]float64, s.size)) {
					sum[j/3] += v * v
				}
			}
		}
	}
	return sum
}

// Normalize scales the volume fractions of every voxel, in place, so that they sum to 1. S and the
// directors stay as they are. It returns an error and changes nothing if some voxel is empty or its
// sum is not a positive number, or if an array is not contiguous.
func (m *Morphology) Normalize() error {
	if err := m.inspect(); err != nil {
		return err
	}
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			if !(*f.at).Contiguous() {
				return fmt.Errorf("rsoxs: material %d: %s is a view that is not contiguous: give Normalize a copy", i+1, f.name)
			}
		}
	}
	for z := range m.Shape()[0] {
		for i, sum := range m.fractions(z) {
			if !(sum > 0 && sum < math.Inf(1)) {
				return fmt.Errorf("rsoxs: volume fractions sum to %g at voxel %v: want a number above 0; add the missing volume as vacuum", sum, m.voxel(z, i))
			}
		}
	}
	done := map[*tensor.Tensor]bool{} // materials may share arrays
	for z := range m.Shape()[0] {
		clear(done)
		m.scaleSlice(z, m.fractions(z), done)
	}
	return nil
}

// scaleSlice divides the fractions in slice z by their sums.
func (m *Morphology) scaleSlice(z int, sum []float64, done map[*tensor.Tensor]bool) {
	for i := range m.Materials {
		for _, f := range m.Materials[i].fields() {
			if f.name == "S" || f.name == "Theta" || f.name == "Psi" || done[*f.at] {
				continue
			}
			done[*f.at] = true
			s := newStack[float64](*f.at, m.Shape()[0])
			v := s.at(z, make([]float64, s.size))
			for j := range v {
				if f.name == "Align" {
					v[j] /= math.Sqrt(sum[j/3])
				} else {
					v[j] /= sum[j]
				}
			}
			s.put(z, v)
		}
	}
}
