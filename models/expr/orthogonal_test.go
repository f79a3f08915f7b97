// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/tensor"
)

// A line with errors in x that are several times those of y agrees with its data: that the ends of the measured x are those of large errors is no pattern of the model. A
// curve that is not a line disagrees all the same, and correlations of the errors need no starts.
func TestVerdictsWithErrorsInX(t *testing.T) {
	wrong, missed := 0, 0
	for k := range 40 {
		random := tensor.NewStream(uint64(k), 7, 0)
		var x, line, bent []float64
		for i := range 50 {
			at := float64(i) / 5
			dx, dy := 0.5*random.Normal(), 0.1*random.Normal()
			x, line, bent = append(x, at+dx), append(line, 1+0.5*at+dy), append(bent, 1+0.1*at*at+dy)
		}
		disagrees := func(y []float64) bool {
			p := &expr.Problem{Expr: "a + b*x", Y: "y", Sigma: "dy", SigmaX: map[string]string{"x": "0.5"}, CorrelationXY: map[string]string{"x": "0"},
				Data: map[string]expr.Column{"x": {Values: x}, "y": {Values: y}, "dy": {Values: slices.Repeat([]float64{0.1}, len(y))}}}
			if _, err := p.Guess(context.Background()); err != nil {
				t.Fatal(err)
			}
			least, s, err := p.LeastSquares()
			if err != nil {
				t.Fatal(err)
			}
			_, v, err := p.Fit(context.Background(), least, s)
			if err != nil {
				t.Fatal(err)
			}
			return v.Disagrees()
		}
		if disagrees(line) {
			wrong++
		}
		if k < 5 && !disagrees(bent) {
			missed++
		}
	}
	if wrong > 3 || missed > 0 {
		t.Errorf("%d of 40 right models are said to disagree, and %d of 5 wrong ones to agree", wrong, missed)
	}
}
