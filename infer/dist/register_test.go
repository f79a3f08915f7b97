// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// Definitions that are not whole, or whose name is taken, are refused where they are made.
func TestRegisterRefuses(t *testing.T) {
	whole := dist.Family{Name: "mine", Params: []string{"mu"}, Want: []dist.Support{dist.Real}, Make: func(p ...any) dist.Dist { return dist.Normal(p[0], 1) }, At: [][]float64{{0}}}
	for want, change := range map[string]func(f *dist.Family){
		`"mine" is incomplete: set Make`:                    func(f *dist.Family) { f.Make = nil },
		"set Make, At with":                                 func(f *dist.Family) { f.Make, f.At = nil, nil },
		`"My_Normal" cannot have this name: use lower case`: func(f *dist.Family) { f.Name = "My_Normal" },
		`"a b" cannot have`:                                 func(f *dist.Family) { f.Name = "a b" },
		`"1a" cannot have`:                                  func(f *dist.Family) { f.Name = "1a" },
		`"λ" cannot have`:                                   func(f *dist.Family) { f.Name = "λ" },
		"its Make panics at the parameters [0]: runtime error: index out of range": func(f *dist.Family) { f.Make = func(p ...any) dist.Dist { return dist.Normal(p[0], p[1]) } },
		"At has [0 1]: want 1 numbers":                                             func(f *dist.Family) { f.At = [][]float64{{0, 1}} },
		"At has mu = NaN: want a finite number":                                    func(f *dist.Family) { f.At = [][]float64{{math.NaN()}} },
		"At has mu = -1: want a finite number above 0":                             func(f *dist.Family) { f.Want, f.At = []dist.Support{dist.Positive}, [][]float64{{-1}} },
		"without LogProbOf at the parameters [0]": func(f *dist.Family) {
			f.Make = func(p ...any) dist.Dist { return dist.Dist{Name: "mine", Params: dist.Nodes(p...)} }
		},
		`"normal" already`:   func(f *dist.Family) { f.Name = "normal" },
		`"invgamma" already`: func(f *dist.Family) { f.Name = "invgamma" },
		"Want for each":      func(f *dist.Family) { f.Want = nil },
		`"" is incomplete`:   func(f *dist.Family) { f.Name = "" },
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
