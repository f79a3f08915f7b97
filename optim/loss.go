// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// Loss is a robust loss rho(z) of z = (r/scale)^2; the cost of a fit is
// scale^2/2 sum rho.
type Loss string

// The losses, from none to the most forgiving.
const (
	Linear Loss = ""        // rho(z) = z, which is ordinary least squares
	SoftL1 Loss = "soft_l1" // rho(z) = 2(sqrt(1+z) - 1)
	Huber  Loss = "huber"   // rho(z) = z for z <= 1, and 2 sqrt z - 1 above
	Cauchy Loss = "cauchy"  // rho(z) = log(1+z)
	Arctan Loss = "arctan"  // rho(z) = atan z
)

func (l Loss) check() error {
	switch l {
	case Linear, "linear", SoftL1, Huber, Cauchy, Arctan:
		return nil
	}
	return unknown("loss", string(l), []string{"linear", string(SoftL1), string(Huber), string(Cauchy), string(Arctan)})
}

func (l Loss) plain() bool { return l == Linear || l == "linear" }

// Rho returns the loss and its first two derivatives at z >= 0.
func (l Loss) Rho(z float64) (r0, r1, r2 float64) {
	switch l {
	case SoftL1:
		t := 1 + z
		s := math.Sqrt(t)
		return 2 * (z / (s + 1)), 1 / s, -0.5 / (t * s)
	case Huber:
		if z <= 1 {
			return z, 1, 0
		}
		s := math.Sqrt(z)
		return 2*s - 1, 1 / s, -0.5 / (z * s)
	case Cauchy:
		t := 1 + z
		return math.Log1p(z), 1 / t, -1 / (t * t)
	case Arctan:
		t := 1 + z*z
		return math.Atan(z), 1 / t, -2 * z / (t * t)
	}
	return z, 1, 0
}

// cost returns scale^2/2 sum rho((r/scale)^2).
func (l Loss) cost(r []float64, scale float64) float64 {
	s := 0.0
	if l.plain() {
		for _, v := range r {
			s += v * v
		}
		return s / 2
	}
	for _, v := range r {
		z := v / scale
		r0, _, _ := l.Rho(z * z)
		s += r0
	}
	return scale * scale * s / 2
}

// weigh turns residuals f into those of the least-squares problem with the same
// gradient and nearly the same curvature, and fills w with the factors of its
// rows: w = sqrt(rho' + 2 rho” z), residuals times rho'/w. Beyond the bend of the
// loss that curvature vanishes or turns negative; w^2 is kept above a part of
// rho', so that a start far from the data still moves.
func (l Loss) weigh(w, f []float64, scale float64) {
	for i, v := range f {
		z := v / scale
		z *= z
		_, r1, r2 := l.Rho(z)
		w[i] = math.Sqrt(max(r1+2*r2*z, leastCurvature*r1, 1e-200))
		f[i] *= r1 / w[i]
	}
}

// leastCurvature is the part of rho' that a row keeps.
const leastCurvature = 0.05
