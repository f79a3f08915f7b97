package twotime

import (
	"fmt"
	"math"
	"slices"
)

// Noise is what makes entries of c2 scatter: the number of speckles that they are means over, and one over the mean count of a pixel in a
// frame, which adds to the diagonal. The covariance of two entries is
//
//	Cov(c2_ij, c2_kl) = (C_ik C_jl + C_il C_jk) / P,  C_ij = contrast g_ij + offset - 1 (+ 1/count if i = j)
//
// without cumulants of higher order: entries that share a frame scatter together.
type Noise struct {
	Speckles     float64 // P
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
	var own, shared, size, mixed, near float64 // means of r^2 and r r', of C_ij^2 and C_ij C_ij', and of C_jj'
	var count, neighbours float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			if d.weight(angle, i, j) == 0 {
				continue
			}
			r := residual(i, j)
			own, size, count = own+r*r, size+c(i, j)*c(i, j), count+1
			if j+1 < n && d.weight(angle, i, j+1) > 0 {
				shared, mixed, near, neighbours = shared+r*residual(i, j+1), mixed+c(i, j)*c(i, j+1), near+c(j, j+1), neighbours+1
			}
		}
	}
	own, size = own/count, size/count
	shared, mixed, near = shared/max(1, neighbours), mixed/max(1, neighbours), near/max(1, neighbours)
	var out Noise
	if self, ok := d.diagonal(angle); ok {
		out.InverseCount = max(0, self-contrast-offset+1)
	} else if ratio := shared / own; ratio > 0 {
		// ratio = (s near + mixed)/(s^2 + size) for the variance s of a frame
		if root := near*near - 4*ratio*(ratio*size-mixed); root > 0 {
			out.InverseCount = max(0, (near+math.Sqrt(root))/(2*ratio)-contrast-offset+1)
		}
	}
	self := contrast + offset - 1 + out.InverseCount
	out.Speckles = (self*self + size) / own
	if !(out.Speckles > 0) || math.IsInf(out.Speckles, 1) {
		return out, fmt.Errorf("twotime: the residuals of angle %d do not scatter, or are not finite (mean square %g): no number of speckles follows from them", angle, own)
	}
	return out, nil
}

// diagonal returns the mean of c2-1 on the diagonal, and whether it is as measured: programs of the field put means of neighbours there.
func (d *Data) diagonal(angle int) (float64, bool) {
	n, c2 := len(d.Setup.Times), d.C2[angle]
	var all []float64
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
	}
	if len(all) < n/2+1 || replaced > n/2 {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}
