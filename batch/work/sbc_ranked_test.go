// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"errors"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

func TestToldOfCalibrations(t *testing.T) {
	nan, start := errors.New("fit 3: infer: calibration: edge: a draw is NaN"), errors.New("chain 12 found no start")
	for want, c := range map[string]*infer.Calibration{
		"30 fits: 25 gave ranks (6 of them with divergences), 5 failed: edge: a draw is NaN": {Fits: 25, Divergent: 6, Failed: []error{nan, nan, nan, nan, nan}},
		"20 fits: 20 gave ranks, none failed":                                                {Fits: 20},
		"6 fits: 3 gave ranks, 3 failed: 2: chain 12 found no start; 1: edge: a draw is NaN": {Fits: 3, Failed: []error{nan, start, errors.New("chain 7 found no start")}},
		"1 fit: 0 gave ranks, 1 failed: edge: a draw is NaN":                                 {Failed: []error{nan}},
	} {
		if got := Told(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
