// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// powerLaw fits a*x^b to readings of 10^(decades*u), by Gauss and Newton's method with the logarithm of
// a as its parameter, and returns what a caller of Judge would make of it.
func powerLaw(x, y, sigma []float64) Data {
	n, p := len(x), [2]float64{0, 1.5}
	d := Data{Z: make([]float64, n), Mean: make([]float64, n), Sigma: sigma, Jacobian: make([]float64, 2*n), Names: []string{"log a", "b"}, Axes: []Axis{{Name: "x", Values: x}}}
	eval := func(p [2]float64) (cost float64) {
		for i := range x {
			m := math.Exp(p[0] + p[1]*math.Log(x[i]))
			d.Mean[i], d.Z[i] = m, (y[i]-m)/sigma[i]
			d.Jacobian[i], d.Jacobian[n+i] = m/sigma[i], m*math.Log(x[i])/sigma[i]
			cost += d.Z[i] * d.Z[i]
		}
		return cost
	}
	cost := eval(p)
	for range 60 {
		step, _ := new(Workspace).residuals(&d).estimate(d.Z)
		next := p
		for f := 1.0; f > 1e-6; f /= 2 {
			next = [2]float64{p[0] + f*step[0], p[1] + f*step[1]}
			if eval(next) <= cost {
				break
			}
		}
		after := eval(next)
		if after > cost {
			break
		}
		done := cost-after < 1e-12*cost
		if p, cost = next, after; done {
			break
		}
	}
	eval(p)
	return d
}

func TestScan(t *testing.T) {
	for _, n := range []int{20, 100} {
		for _, of := range []string{"truth", "reading", "prediction"} {
			for _, root := range []bool{false, true} {
				for _, rel := range []float64{0.003, 0.01, 0.03, 0.1, 0.2, 0.3} {
					for _, decades := range []float64{0.3, 1, 2, 4} {
						const runs = 1000
						flagged, noted, kinds := 0, 0, map[string]int{}
						r := rand.New(rand.NewPCG(uint64(1000*rel), uint64(n)))
						for range runs {
							x, y, s := make([]float64, n), make([]float64, n), make([]float64, n)
							size := func(m float64) float64 {
								if root {
									return rel * math.Sqrt(math.Abs(m))
								}
								return rel * math.Abs(m)
							}
							for i := range x {
								x[i] = math.Pow(10, decades/1.5*float64(i)/float64(n-1))
								m := math.Pow(x[i], 1.5)
								s[i] = size(m)
								y[i] = m + s[i]*r.NormFloat64()
								if of == "reading" {
									s[i] = size(y[i])
								}
							}
							d := powerLaw(x, y, s)
							if of == "prediction" {
								for range 10 {
									for i, m := range d.Mean {
										s[i] = size(m)
									}
									d = powerLaw(x, y, s)
								}
							}
							v, err := Judge(d, Settings{})
							if err != nil {
								t.Fatal(err)
							}
							if !v.OK {
								flagged++
								for _, f := range v.Flags {
									kinds[f.Kind]++
								}
							}
							for _, f := range v.Notes {
								if f.Kind == KindReadings {
									noted++
								}
							}
						}
						fmt.Printf("n %d %s root %v rel %g decades %g: flagged %d noted %d of %d %v\n", n, of, root, rel, decades, flagged, noted, runs, kinds)
					}
				}
			}
		}
	}
}
