// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"strings"
	"testing"
)

// Constants whose intensities would overflow are refused; derivatives with respect to constants may be of any size.
func TestConstantsOfNoMaterial(t *testing.T) {
	o := Optics{{{}, {BetaPara: 1e-3, BetaPerp: -1e30}}}
	if err := o.checkValues([]float64{280}, 2); err == nil || !strings.Contains(err.Error(), "a constant of material 2 at energy 0 is 1e+30 in size: want at most 1e+06") {
		t.Error(err)
	}
	if err := o.check([]float64{280}, 2); err != nil {
		t.Error(err)
	}
}
