// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"
	"math/rand/v2"
)

// posterior is a fixed set of draws: correlated, skewed and bounded quantities,
// a few divergences where the second is small.
func posterior(chains, draws int) Draws {
	r := rand.New(rand.NewPCG(1, 2))
	d := Draws{Names: []string{"tau", "contrast", "baseline", "gamma"}, Units: map[string]string{"tau": "s"},
		X: make([][][]float64, 4)}
	for range chains {
		x := make([][]float64, 4)
		var div []bool
		var energy []float64
		a, b := 0.0, 0.0
		for range draws {
			a = 0.3*a + math.Sqrt(1-0.09)*r.NormFloat64()
			b = 0.6*b + 0.8*r.NormFloat64()
			x[0] = append(x[0], 0.0123*math.Exp(0.05*a))
			x[1] = append(x[1], 0.41+0.012*(0.8*a+0.6*b))
			x[2] = append(x[2], 1+1e-5*b)
			x[3] = append(x[3], math.Abs(r.NormFloat64()))
			div = append(div, x[3][len(x[3])-1] < 0.02)
			energy = append(energy, 12+a*a+b*b+0.7*r.NormFloat64())
		}
		for i := range x {
			d.X[i] = append(d.X[i], x[i])
		}
		d.Diverging = append(d.Diverging, div)
		d.Energy = append(d.Energy, energy)
	}
	return d
}

// g2Curve is a correlation function with noise, its model and bands.
func g2Curve(bin int) Curve {
	r := rand.New(rand.NewPCG(7, uint64(bin)))
	tau := 0.02 / float64(1+bin)
	mean := func(t float64) float64 { return 1 + 0.25*math.Exp(-2*t/tau) }
	c := Curve{XLabel: "delay τ (s)", YLabel: "g_{2}", LogX: true}
	for k := range 40 {
		t := 1e-4 * math.Pow(10, 4*float64(k)/39)
		e := 0.004 + 0.006*math.Exp(-t/1e-3)
		c.X, c.Err = append(c.X, t), append(c.Err, e)
		c.Y = append(c.Y, mean(t)+e*r.NormFloat64())
	}
	for k := range 200 {
		t := 1e-4 * math.Pow(10, 4*float64(k)/199)
		m := mean(t)
		c.LineX, c.Line = append(c.LineX, t), append(c.Line, m)
		s := 0.004 + 0.006*math.Exp(-t/1e-3)
		c.Low, c.High = append(c.Low, m-1.96*s), append(c.High, m+1.96*s)
		c.InnerLow, c.InnerHigh = append(c.InnerLow, m-0.674*s), append(c.InnerHigh, m+0.674*s)
	}
	return c
}

// rings is a scattering pattern over five decades with a beam stop.
func rings(n int) Image {
	m := Image{Title: "Pattern", XLabel: "q_{x} (1/nm)", YLabel: "q_{y} (1/nm)", ZLabel: "intensity (arb. u.)", Log: true, Equal: true}
	for j := range n {
		var row []float64
		for i := range n {
			x, y := float64(i)/float64(n-1)-0.5, float64(j)/float64(n-1)-0.5
			q := math.Hypot(x, y)
			v := 1e5*math.Exp(-q*q*250) + 40*math.Exp(-math.Pow((q-0.3)/0.02, 2))*(1+0.8*math.Cos(2*math.Atan2(y, x))) + 1
			if q < 0.03 {
				v = math.NaN()
			}
			row = append(row, v)
		}
		m.Z = append(m.Z, row)
		m.Y = append(m.Y, float64(j)/float64(n-1)-0.5)
	}
	m.X = m.Y
	return m
}

// powerLaw is relaxation times of many q with a fitted distribution.
func powerLaw() (Against, []Series) {
	r := rand.New(rand.NewPCG(3, 4))
	x := Against{Label: "q (1/Å)", Log: true}
	tau, gamma := Series{Name: "tau", Unit: "s", Log: true, Note: "exponent −2.02(3)"}, Series{Name: "gamma", Bounds: []float64{0, 2}}
	c, b := Series{Name: "contrast"}, Series{Name: "baseline"}
	for k := range 18 {
		q := 0.003 * math.Pow(1.12, float64(k))
		x.X = append(x.X, q)
		v := 1e-7 / (q * q)
		tau.Y, tau.Err = append(tau.Y, v*(1+0.08*r.NormFloat64())), append(tau.Err, 0.08*v)
		gamma.Y, gamma.Err = append(gamma.Y, 1.4+0.1*r.NormFloat64()), append(gamma.Err, 0.1)
		c.Y, c.Err = append(c.Y, 0.25+0.01*r.NormFloat64()), append(c.Err, 0.01)
		b.Y, b.Err = append(b.Y, 1+2e-4*r.NormFloat64()), append(b.Err, 2e-4)
		tau.LineX, tau.Line = append(tau.LineX, q), append(tau.Line, v)
	}
	return x, []Series{tau, gamma, c, b}
}
