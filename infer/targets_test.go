// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// gauss is a normal target with the given precision matrix and mean.
func gauss(mean []float64, precision [][]float64) Target {
	n := len(mean)
	return PerChain(n, func() func(q, g []float64) float64 {
		d := make([]float64, n)
		return func(q, g []float64) float64 {
			for i := range d {
				d[i] = q[i] - mean[i]
			}
			lp := 0.0
			for i, row := range precision {
				g[i] = -linalg.FastDot(row, d)
				lp += d[i] * g[i] / 2
			}
			return lp
		}
	})
}

// independent is a normal target with mean 0 and the given scales.
func independent(sd ...float64) Target {
	return Func(len(sd), func(q, g []float64) (lp float64) {
		for i, x := range q {
			z := x / sd[i]
			g[i] = -z / sd[i]
			lp -= z * z / 2
		}
		return lp
	})
}

// ar1 is a normal target of unit variances and correlation r^|i-j|.
func ar1(n int, r float64) Target {
	v := 1 - r*r
	return Func(n, func(q, g []float64) float64 {
		lp := -q[0] * q[0] / 2
		clear(g)
		g[0] = -q[0]
		for i := 1; i < n; i++ {
			e := q[i] - r*q[i-1]
			lp -= e * e / (2 * v)
			g[i] -= e / v
			g[i-1] += r * e / v
		}
		return lp
	})
}

// eightSchools is the non-centred hierarchical model of Rubin (1981): effects
// z[8], mean mu and log tau.
type eightSchools struct{ calls int }

var schoolsY = [8]float64{28, 8, -3, 7, -1, 1, 18, 12}
var schoolsSD = [8]float64{15, 10, 16, 11, 9, 11, 10, 18}

func (*eightSchools) Dim() int      { return 10 }
func (*eightSchools) Clone() Target { return &eightSchools{} }
func (*eightSchools) Len() int      { return 10 }

func (*eightSchools) Names() []string {
	return []string{"theta[1]", "theta[2]", "theta[3]", "theta[4]", "theta[5]", "theta[6]", "theta[7]", "theta[8]", "mu", "tau"}
}

func (*eightSchools) Write(q, out []float64) error {
	tau := math.Exp(q[9])
	for i := range 8 {
		out[i] = q[8] + tau*q[i]
	}
	out[8], out[9] = q[8], tau
	return nil
}

func (e *eightSchools) LogProbGrad(q, g []float64) (float64, error) {
	e.calls++
	mu, tau := q[8], math.Exp(q[9])
	lp := q[9]
	g[8], g[9] = 0, 1
	for i, y := range schoolsY {
		s := schoolsSD[i]
		z := (y - mu - tau*q[i]) / s
		lp += -z*z/2 - math.Log(s) - halfLog2Pi - q[i]*q[i]/2 - halfLog2Pi
		g[i] = z/s*tau - q[i]
		g[8] += z / s
		g[9] += z / s * tau * q[i]
	}
	lp += -mu*mu/50 - math.Log(5) - halfLog2Pi
	g[8] -= mu / 25
	r := tau / 5
	lp -= math.Log(5*math.Pi) + math.Log1p(r*r)
	g[9] -= 2 * r * r / (1 + r*r)
	return lp, nil
}

func mustSample(t *testing.T, target Target, cfg Settings) *Fit {
	t.Helper()
	fit, err := Sample(t.Context(), target, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}
