// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// Definitions that are not whole, or whose name is taken, are refused where they are made.
func TestRegisterRefuses(t *testing.T) {
	whole := dist.Family{Name: "mine", Params: []string{"mu"}, Want: []dist.Support{dist.Real}, Make: func(p ...any) dist.Dist { return dist.Normal(p[0], 1) }, At: [][]float64{{0}}}
	for want, change := range map[string]func(f *dist.Family){
		`"mine" is incomplete`:   func(f *dist.Family) { f.Make = nil },
		"set Name, Make":         func(f *dist.Family) { f.At = nil },
		"use lower case without": func(f *dist.Family) { f.Name = "My_Normal" },
		`"normal" already`:       func(f *dist.Family) { f.Name = "normal" },
		`"invgamma" already`:     func(f *dist.Family) { f.Name = "invgamma" },
		"Want for each":          func(f *dist.Family) { f.Want = nil },
		`"" is incomplete`:       func(f *dist.Family) { f.Name = "" },
	} {
		f := whole
		change(&f)
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("want %q: %s", want, r)
				}
			}()
			dist.Register(f)
		}()
	}
}
