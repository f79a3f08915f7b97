// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"fmt"
	"math"
	"slices"
)

// Noise describes why entries of c2 scatter: the number of speckles over which they are means, and
// one over the mean count of a pixel in a frame, which adds to the diagonal. The covariance of two
// entries is
//
//	Cov(c2_ij, c2_kl) = (C_ik C_jl + C_il C_jk) / P,  C_ij = contrast g_ij + offset - 1 (+ 1/count if i = j)
//
// without cumulants of higher order: entries that share a frame scatter together.
type Noise struct {
	Speckles     float64 // number P of speckles
	InverseCount float64
}

// noise returns the noise of an angle: as given, or estimated from the data at a model. 1/count is what the diagonal has on top of contrast and
// offset; where the diagonal was replaced, it follows from how much the residuals of entries that share a frame scatter together. The number
// of speckles follows from the scatter of the residuals.
func (d *Data) noise(angle int, g []float64, contrast, offset float64) (Noise, error) {
	if d.Noise != nil {
		n := d.Noise[angle]
		if !(n.Speckles > 0) || math.IsInf(n.Speckles, 1) || !(n.InverseCount >= 0) || math.IsInf(n.InverseCount, 1) {
			return n, fmt.Errorf("twotime: angle %d has %g speckles and a mean count of 1/%g: want positive numbers", angle, n.Speckles, n.InverseCount)
		}
		return n, nil
	}
	n, c2 := len(d.Setup.Times), d.C2[angle]
	c := func(i, j int) float64 { return contrast*g[i*n+j] + offset - 1 }
	residual := func(i, j int) float64 { return c2[i*n+j] - 1 - c(i, j) }
	var own, size, count float64 // sums of r^2 and of C_ij^2
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d.weight(angle, i, j) > 0 {
				r := residual(i, j)
				own, size, count = own+r*r, size+c(i, j)*c(i, j), count+1
			}
		}
	}
	own, size = own/count, size/count
	var out Noise
	if self, ok := d.diagonal(angle); ok {
		out.InverseCount = max(0, self-contrast-offset+1)
	} else {
		shared, mixed, near := d.sharing(angle, c, residual)
		// shared/own = (s near + mixed)/(s^2 + size) for the variance s of a frame
		if ratio := shared / own; ratio > 0 {
			if root := near*near - 4*ratio*(ratio*size-mixed); root > 0 {
				out.InverseCount = max(0, (near+math.Sqrt(root))/(2*ratio)-contrast-offset+1)
			}
		}
	}
	self := contrast + offset - 1 + out.InverseCount
	out.Speckles = (self*self + size) / own
	if !(out.Speckles > 0) || math.IsInf(out.Speckles, 1) {
		return out, fmt.Errorf("twotime: the residuals of angle %d do not scatter or are not finite (mean square %g), so that no number of speckles follows from them: check the data of this angle", angle, own)
	}
	return out, nil
}

// sharing returns means of r_ij r_ik over entries that share the frame i, and of what makes them scatter together: C_ij C_ik, and C_jk, which the
// variance of the frame i multiplies. Each has the weight C_jk, because the closer j and k are the more the two entries have in common; the
// differences of j and k are 1, 2, 3, 4, 6, 9 and so on.
func (d *Data) sharing(angle int, c, residual func(i, j int) float64) (shared, mixed, near float64) {
	n := len(d.Setup.Times)
	used := func(i, j int) bool { return i != j && d.weight(angle, min(i, j), max(i, j)) > 0 }
	count := 0.0
	for step := 1; step < n-1; step += max(1, step/2) {
		for i := range n {
			for j := range n - step {
				k := j + step
				if !used(i, j) || !used(i, k) {
					continue
				}
				ij, ik, weight := [2]int{min(i, j), max(i, j)}, [2]int{min(i, k), max(i, k)}, c(j, k)
				shared += weight * residual(ij[0], ij[1]) * residual(ik[0], ik[1])
				mixed += weight * c(ij[0], ij[1]) * c(ik[0], ik[1])
				near, count = near+weight*weight, count+1
			}
		}
	}
	return shared / max(1, count), mixed / max(1, count), near / max(1, count)
}

// DiagonalReplaced reports whether the diagonal of an angle is not that of the measurement. Numbers
// of speckles and mean counts are then rough.
func (d *Data) DiagonalReplaced(angle int) bool {
	_, measured := d.diagonal(angle)
	return !measured
}

// diagonal returns the median of c2-1 on the diagonal, and whether it is as measured: programs of the field put means of neighbours there, or
// a constant. A frame correlates with itself at least as much as with the next one.
func (d *Data) diagonal(angle int) (float64, bool) {
	n, c2 := len(d.Setup.Times), d.C2[angle]
	var all, next []float64
	replaced := 0
	for i := range n {
		v := c2[i*n+i]
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		all = append(all, v-1)
		before, after := c2[max(0, i-1)*n+max(1, i)], c2[min(i, n-2)*n+min(i+1, n-1)]
		if math.Abs(v-(before+after)/2) < 1e-6*math.Abs(v) {
			replaced++
		}
		if !math.IsNaN(after) {
			next = append(next, after-1)
		}
	}
	if len(all) < n/2+1 || replaced > n/2 {
		return 0, false
	}
	slices.Sort(all)
	slices.Sort(next)
	self := all[len(all)/2]
	return self, len(next) == 0 || self >= next[len(next)/2]/2
}
