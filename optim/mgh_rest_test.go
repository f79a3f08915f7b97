// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// mghRest is one of the problems of Moré, Garbow & Hillstrom, doi:10.1145/355934.355936, in plain Go, with the sums of squares of its published minima. Two are not
// published: that of box_3d above 0, where the second parameter grows without end, and the second of osborne2, a local one.
type mghRest struct {
	name   string
	m      int
	x0     []float64
	minima []float64
	f      func(r, x []float64)
}

// each fills a vector.
func each(n int, f func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

var mghOthers = []mghRest{
	{"freudenstein_roth", 2, []float64{0.5, -2}, []float64{0, 48.98425}, func(r, x []float64) {
		r[0] = -13 + x[0] + ((5-x[1])*x[1]-2)*x[1]
		r[1] = -29 + x[0] + ((x[1]+1)*x[1]-14)*x[1]
	}},
	{"brown_badly_scaled", 3, []float64{1, 1}, []float64{0}, func(r, x []float64) {
		r[0], r[1], r[2] = x[0]-1e6, x[1]-2e-6, x[0]*x[1]-2
	}},
	{"helical_valley", 3, []float64{-1, 0, 0}, []float64{0}, func(r, x []float64) {
		turn := math.Atan(x[1]/x[0]) / (2 * math.Pi)
		if x[0] < 0 {
			turn += 0.5
		}
		r[0], r[1], r[2] = 10*(x[2]-10*turn), 10*(math.Hypot(x[0], x[1])-1), x[2]
	}},
	{"gaussian", 15, []float64{0.4, 1, 0}, []float64{1.12793e-8}, func(r, x []float64) {
		y := []float64{0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989, 0.3521, 0.2420, 0.1295, 0.0540, 0.0175, 0.0044, 0.0009}
		for i := range r {
			d := (8-float64(i+1))/2 - x[2]
			r[i] = x[0]*math.Exp(-x[1]*d*d/2) - y[i]
		}
	}},
	{"box_3d", 10, []float64{0, 10, 20}, []float64{0, 0.07558874}, func(r, x []float64) {
		for i := range r {
			t := 0.1 * float64(i+1)
			r[i] = math.Exp(-t*x[0]) - math.Exp(-t*x[1]) - x[2]*(math.Exp(-t)-math.Exp(-10*t))
		}
	}},
	{"wood", 6, []float64{-3, -1, -3, -1}, []float64{0}, func(r, x []float64) {
		r[0], r[1] = 10*(x[1]-x[0]*x[0]), 1-x[0]
		r[2], r[3] = math.Sqrt(90)*(x[3]-x[2]*x[2]), 1-x[2]
		r[4], r[5] = math.Sqrt(10)*(x[1]+x[3]-2), (x[1]-x[3])/math.Sqrt(10)
	}},
	{"brown_dennis", 20, []float64{25, 5, -5, -1}, []float64{85822.2}, func(r, x []float64) {
		for i := range r {
			t := float64(i+1) / 5
			a, b := x[0]+t*x[1]-math.Exp(t), x[2]+x[3]*math.Sin(t)-math.Cos(t)
			r[i] = a*a + b*b
		}
	}},
	{"extended_powell_singular", 12, each(12, func(i int) float64 { return []float64{3, -1, 0, 1}[i%4] }), []float64{0}, func(r, x []float64) {
		for i := 0; i < len(x); i += 4 {
			a, b := x[i+1]-2*x[i+2], x[i]-x[i+3]
			r[i], r[i+1], r[i+2], r[i+3] = x[i]+10*x[i+1], math.Sqrt(5)*(x[i+2]-x[i+3]), a*a, math.Sqrt(10)*b*b
		}
	}},
	{"penalty_2_4", 8, each(4, func(int) float64 { return 0.5 }), []float64{9.37629e-6}, penalty2},
	{"penalty_2_10", 20, each(10, func(int) float64 { return 0.5 }), []float64{2.93660e-4}, penalty2},
	{"brown_almost_linear", 10, each(10, func(int) float64 { return 0.5 }), []float64{0, 1}, func(r, x []float64) {
		sum, product := 0.0, 1.0
		for _, v := range x {
			sum, product = sum+v, product*v
		}
		for i := range r {
			r[i] = x[i] + sum - float64(len(x)+1)
		}
		r[len(r)-1] = product - 1
	}},
	{"discrete_boundary_value", 10, each(10, func(i int) float64 { t := float64(i+1) / 11; return t * (t - 1) }), []float64{0}, func(r, x []float64) {
		h := 1 / float64(len(x)+1)
		for i := range r {
			at := 2 * x[i]
			if i > 0 {
				at -= x[i-1]
			}
			if i < len(x)-1 {
				at -= x[i+1]
			}
			r[i] = at + h*h*math.Pow(x[i]+float64(i+1)*h+1, 3)/2
		}
	}},
	{"discrete_integral", 10, each(10, func(i int) float64 { t := float64(i+1) / 11; return t * (t - 1) }), []float64{0}, func(r, x []float64) {
		h := 1 / float64(len(x)+1)
		for i := range r {
			t, below, above := float64(i+1)*h, 0.0, 0.0
			for j := range x {
				u := float64(j+1) * h
				if c := math.Pow(x[j]+u+1, 3); j <= i {
					below += u * c
				} else {
					above += (1 - u) * c
				}
			}
			r[i] = x[i] + h*((1-t)*below+t*above)/2
		}
	}},
	{"broyden_banded", 10, each(10, func(int) float64 { return -1 }), []float64{0}, func(r, x []float64) {
		for i := range r {
			r[i] = x[i]*(2+5*x[i]*x[i]) + 1
			for j := max(0, i-5); j <= min(len(x)-1, i+1); j++ {
				if j != i {
					r[i] -= x[j] * (1 + x[j])
				}
			}
		}
	}},
	{"osborne2", 65, []float64{1.3, 0.65, 0.65, 0.7, 0.6, 3, 5, 7, 2, 4.5, 5.5}, []float64{0.0401377, 1.789814}, osborne2},
	{"linear_rank_1", 20, each(10, func(int) float64 { return 1 }), []float64{190.0 / 41}, func(r, x []float64) {
		sum := 0.0
		for j, v := range x {
			sum += float64(j+1) * v
		}
		for i := range r {
			r[i] = float64(i+1)*sum - 1
		}
	}},
	{"linear_rank_1_zero_columns_and_rows", 20, each(10, func(int) float64 { return 1 }), []float64{227.0 / 37}, func(r, x []float64) {
		sum := 0.0
		for j := 1; j < len(x)-1; j++ {
			sum += float64(j+1) * x[j]
		}
		for i := range r {
			r[i] = float64(i)*sum - 1
		}
		r[len(r)-1] = -1
	}},
}

// osborne2 is the second problem of Osborne: a decay and three peaks.
func osborne2(r, x []float64) {
	y := []float64{1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608, 0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661, 0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428, 0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559, 0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054}
	for i := range r {
		t := float64(i) / 10
		r[i] = y[i] - x[0]*math.Exp(-t*x[4])
		for k := range 3 {
			d := t - x[8+k]
			r[i] -= x[1+k] * math.Exp(-d*d*x[5+k])
		}
	}
}

// penalty2 is the second penalty function, whose residuals are on the same path for any number of parameters.
func penalty2(r, x []float64) {
	n, a := len(x), math.Sqrt(1e-5)
	r[0] = x[0] - 0.2
	sum := float64(n)*x[0]*x[0] - 1
	for i := 1; i < n; i++ {
		y := math.Exp(float64(i+1)/10) + math.Exp(float64(i)/10)
		r[i] = a * (math.Exp(x[i]/10) + math.Exp(x[i-1]/10) - y)
		r[n+i-1] = a * (math.Exp(x[i]/10) - math.Exp(-0.1))
		sum += float64(n-i) * x[i] * x[i]
	}
	r[2*n-1] = sum
}

// The other problems of the set, without derivatives, end at a published minimum from their start and from ten times that.
func TestOthersOfMoreGarbowHillstrom(t *testing.T) {
	for _, c := range mghOthers {
		for _, factor := range []float64{1, 10} {
			p := &optim.Problem{M: c.m, N: len(c.x0), Start: each(len(c.x0), func(i int) float64 { return factor * c.x0[i] }), Residual: func(r, x []float64) error { c.f(r, x); return nil }}
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{MaxEvaluations: 20_000})
			if err != nil {
				t.Errorf("%s, %g: %v", c.name, factor, err)
				continue
			}
			found := false
			for _, want := range c.minima {
				found = found || math.Abs(2*r.Cost-want) <= 2e-6*want+1e-14
			}
			if t.Logf("%-36s %4g x start: %.9g after %d evaluations", c.name, factor, 2*r.Cost, r.NFev); !found {
				t.Errorf("%s from %g times its start: sum of squares %.9g, published %v: %s", c.name, factor, 2*r.Cost, c.minima, r.Status.Message())
			}
		}
	}
}
