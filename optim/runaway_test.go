// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// A decay time that runs away, because the data rise, is named as not determined; a decay that the data show is not.
func TestRunawayParameters(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	for want, y := range map[string][]float64{"the data do not determine t: it went from 1 to": {1, 2, 3.1, 4}, "": {3.1, 1.9, 1.1, 0.7}} {
		p := optim.Problem{M: len(x), N: 2, Names: []string{"c", "t"}, Start: []float64{0, 1}, Residual: func(out, p []float64) error {
			for i, at := range x {
				out[i] = p[0]*math.Exp(-at/p[1]) - y[i]
			}
			return nil
		}}
		r, err := optim.LeastSquares(context.Background(), &p, optim.Settings{RelativeSigma: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Warnings, "; "); !strings.Contains(got, want) || (want == "") != (len(r.Undetermined) == 0) {
			t.Errorf("x = %v, warnings %q, undetermined %v, want %q", r.X, got, r.Undetermined, want)
		}
	}
}
