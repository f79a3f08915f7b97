// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// All fire where k is n or more, without a gradient; none is an error; equals fire in
// the order of their numbers.
func TestCapEdges(t *testing.T) {
	h := ad.Const([]float64{1, 3, 3, 2, 3, 0}, 6)
	for _, c := range []KCap{{}, {Kind: CappedSimplex}, {Kind: Threshold}, {Straight: true}, {Hard: true}} {
		c.Temperature = 0.7
		for _, k := range []float64{6, 9} {
			y := c.Of(h, ad.Scalar(k))
			v := eval(t, y, ad.VJP(y, ad.Const(wavy(6, 1, 1, 0), 6), h)[0])
			if !slices.Equal(v[0], []float64{1, 1, 1, 1, 1, 1}) || !slices.Equal(v[1], make([]float64, 6)) {
				t.Errorf("cap %+v, k = %g of 6: activities %v, gradient %v", c, k, v[0], v[1])
			}
		}
		if _, err := ad.Eval(c.Of(h, ad.Scalar(0))); err == nil || !strings.Contains(err.Error(), "0 of 6 neurons are to fire") {
			t.Errorf("cap %+v, k = 0: %v", c, err)
		}
	}
	if y := eval(t, KCap{Hard: true}.Of(h, ad.Scalar(2)))[0]; !slices.Equal(y, []float64{0, 1, 1, 0, 0, 0}) {
		t.Errorf("the two largest of %v: %v", []float64{1, 3, 3, 2, 3, 0}, y)
	}
}
