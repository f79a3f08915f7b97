// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math/bits"

	"github.com/euryale-dev/euryale/tensor"
)

// Sampler is a way to distribute starts over a box.
type Sampler string

// The samplers. Both give the same points for the same seed.
const (
	// LatinHypercube puts one point into each of n slices of every axis.
	LatinHypercube Sampler = ""
	// Sobol is a digitally shifted low-discrepancy sequence in at most 64 dimensions.
	Sobol Sampler = "sobol"
)

// purposeStarts keys the random streams of samplers.
const purposeStarts = 0x57a7

// Points returns n points of the unit cube with the given number of axes, row-major.
func (s Sampler) Points(n, axes int, seed uint64) ([]float64, error) { return s.points(n, axes, seed) }

func (s Sampler) points(n, axes int, seed uint64) ([]float64, error) {
	switch s {
	case LatinHypercube, "lhs":
		return latinHypercube(n, axes, seed), nil
	case Sobol:
		if axes > len(joeKuo)+1 {
			return nil, fmt.Errorf("optim: there are no Sobol points in %d dimensions, only in up to %d: use a Latin hypercube", axes, len(joeKuo)+1)
		}
		return sobol(n, axes, seed), nil
	}
	return nil, unknown("sampler", string(s), []string{"lhs", string(Sobol)})
}

func latinHypercube(n, axes int, seed uint64) []float64 {
	out := make([]float64, n*axes)
	for k := range axes {
		rng := tensor.NewStream(seed, purposeStarts, uint32(k))
		for i, slice := range rng.Perm(n) {
			out[i*axes+k] = (float64(slice) + rng.Float64()) / float64(n)
		}
	}
	return out
}

// sobol returns the first n points after a random shift of their bits, which
// keeps them evenly distributed and moves them off the corner of the cube.
func sobol(n, axes int, seed uint64) []float64 {
	out := make([]float64, n*axes)
	for k := range axes {
		rng := tensor.NewStream(seed, purposeStarts, uint32(k))
		shift, x, v := rng.Uint32(), uint32(0), directions(k)
		for i := range n {
			out[i*axes+k] = (float64(x^shift) + 0.5) * 0x1p-32
			x ^= v[bits.TrailingZeros32(^uint32(i))] // Gray code
		}
	}
	return out
}

// directions returns the direction numbers of an axis.
func directions(axis int) (v [32]uint32) {
	if axis == 0 {
		for i := range v {
			v[i] = 1 << (31 - i)
		}
		return v
	}
	p := joeKuo[axis-1]
	s := len(p.m)
	for i := range v {
		if i < s {
			v[i] = p.m[i] << (31 - i)
			continue
		}
		v[i] = v[i-s] ^ v[i-s]>>s
		for j := 1; j < s; j++ {
			if p.a>>(s-1-j)&1 == 1 {
				v[i] ^= v[i-j]
			}
		}
	}
	return v
}
