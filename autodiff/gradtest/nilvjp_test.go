// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A VJP that returns nil is an error that names the operation; nil for one of several inputs is a gradient of zero.
func TestVJPOfNil(t *testing.T) {
	x := ad.Input("x")
	one := ad.Unary{Name: "test_nil_vjp", CPU: math.Sin, VJP: func(g, y, x *ad.Node) *ad.Node { return nil }}.Define()
	two := ad.Binary{Name: "test_nil_vjps", CPU: math.Atan2, VJP: func(g, z, x, y *ad.Node) (dx, dy *ad.Node) { return nil, nil }}.Define()
	half := ad.Binary{Name: "test_half_vjp", CPU: math.Atan2, VJP: func(g, z, x, y *ad.Node) (dx, dy *ad.Node) { return g, nil }}.Define()
	for want, y := range map[string]*ad.Node{"test_nil_vjp: its VJP returns nil": one.Apply(x), "test_nil_vjps: its VJP returns nil": two.Apply(x, x), "": half.Apply(x, x)} {
		if err := ad.Grad(y, x)[0].Err(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
