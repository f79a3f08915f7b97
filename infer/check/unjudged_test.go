// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
)

// The zero verdict, as of a fit that was interrupted, does not say that the model agrees.
func TestUnjudged(t *testing.T) {
	var v check.Verdict
	for _, s := range []string{v.Summary(), v.String(), v.HTML()} {
		if !strings.Contains(s, "was not judged") || strings.Contains(s, "agrees") {
			t.Error(s)
		}
	}
}

// A fit that a bound alone keeps off as many points as it has parameters is not judged to agree, but a misfit is still named.
func TestBoundsAreNoPoints(t *testing.T) {
	fit := func(z float64, onBounds int) check.Verdict {
		v, err := check.Judge(check.Data{Z: []float64{z, -z}, Jacobian: []float64{1, 1}, Names: []string{"a"}, OnBounds: onBounds}, check.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := fit(0.5, 0); !v.OK {
		t.Error(v)
	}
	if v := fit(0.5, 1); v.OK || !strings.Contains(v.String(), "as many parameters as points") {
		t.Error(v)
	}
	if v := fit(50, 1); v.OK || strings.Contains(v.String(), "as many parameters as points") {
		t.Error(v)
	}
}
