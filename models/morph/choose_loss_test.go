// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Counts with many zeros are compared as counts unless another loss, or errors, are asked for.
func TestChooseLoss(t *testing.T) {
	counts := []float64{0, 3, 0, 1, math.NaN(), 7, 12, 0}
	for name, c := range map[string]struct {
		problem Problem
		data    []float64
		want    string
	}{
		"counts":         {Problem{}, counts, "poisson"},
		"asked for log":  {Problem{Loss: "log"}, counts, "log"},
		"with sigma":     {Problem{Sigma: 0.1}, counts, ""},
		"curves":         {Problem{Compare: "curves"}, counts, ""},
		"inferred noise": {Problem{Parameters: map[string]ProblemParam{"noise": {}}}, counts, ""},
		"no zeros":       {Problem{}, []float64{1, 2, 3}, ""},
		"intensities":    {Problem{}, []float64{0, 0.5, 1}, ""},
		"subtracted":     {Problem{}, []float64{0, -1, 5}, ""},
	} {
		data := tensor.New(tensor.Float64, 1, 1, 1, len(c.data))
		copy(data.Data().([]float64), c.data)
		p := c.problem
		if told := p.chooseLoss(data); p.Loss != c.want || (len(told) > 0) != (c.want == "poisson") {
			t.Errorf("%s: loss %q, told %v, want %q", name, p.Loss, told, c.want)
		}
	}
}
