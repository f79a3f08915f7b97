// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hill

import (
	"fmt"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
)

// The checks that every operation of Euryale passes: first and second derivatives against differences, and the C text
// against the Go function.
func TestHill(t *testing.T) {
	gradtest.Op(t, Op)
	t.Run("C text", func(t *testing.T) { gradtest.HostC(t, []*ad.Op{Op}) })
}

func ExampleHill() {
	y, err := ad.Eval(Hill(ad.Const([]float64{1, 2, 4}, 3), ad.Scalar(2), ad.Scalar(2)))
	fmt.Println(y[0].Float64s(), err)
	// Output: [0.2 0.5 0.8] <nil>
}
