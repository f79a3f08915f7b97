// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"fmt"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Models that are not whole, or whose name is taken, are refused where they are made.
func TestRegisterRefuses(t *testing.T) {
	whole := Model{Name: "mine", Formula: "a", Of: "delay", Params: []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}}, Mean: func(p []*ad.Node, x *ad.Node) *ad.Node { return p[0] }}
	for want, change := range map[string]func(m *Model){
		"incomplete":                  func(m *Model) { m.Mean = nil },
		"want delay or q":             func(m *Model) { m.Of = "time" },
		`already is a model "single"`: func(m *Model) { m.Name = "single" },
		"starts at 3 within":          func(m *Model) { m.Params = []Param{{Name: "a", Start: 3, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		"no prior that can be used":   func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2}} },
		"use letters, digits":         func(m *Model) { m.Name = "my model" },
		"parameter 1":                 func(m *Model) { m.Params = append(m.Params, m.Params[0]) },
	} {
		m := whole
		change(&m)
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("want %q: %s", want, r)
				}
			}()
			Register(m)
		}()
	}
}
