// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Pixels that the mask leaves out, and those that light does not reach, are not missing dim pixels.
func TestMaskedZerosAreNotMissing(t *testing.T) {
	p := &Problem{Grid: ProblemGrid{Shape: [3]int{1, 8, 8}, Voxel: 1}, Mask: ProblemMask{Q: []float64{0.1, 3.5}}}
	data := tensor.New(tensor.Float64, 1, 1, 8, 8)
	v := data.Data().([]float64)
	qy, qx := rsoxs.Frequencies(8, 1), rsoxs.Frequencies(8, 1)
	inside := 0
	for i := range v {
		if q := math.Hypot(qy[i/8], qx[i%8]); q >= 0.1 && q < rsoxs.Wavenumber(285) {
			v[i], inside = 1, inside+1
		}
	}
	mask, altered, err := p.chosenPixels(func(s string) string { return s }, data, []float64{285})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0.0
	for _, x := range mask.Float64s() {
		kept += x
	}
	if int(kept) != inside || slices.ContainsFunc(altered, func(a check.Alteration) bool { return !a.Note }) {
		t.Errorf("%g of %d pixels are kept: %+v", kept, inside, altered)
	}
}
