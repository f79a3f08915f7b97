// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// Kinds of pictures that are not whole, or whose name is taken or cannot be typed, are refused.
func TestRegisterRefuses(t *testing.T) {
	whole := Kind{Name: "mine", About: "a", Draw: func(Draws, ...string) (*Figure, error) { return nil, nil }}
	for want, change := range map[string]func(k *Kind){
		`"mine" is incomplete: set About, Draw`: func(k *Kind) { k.About, k.Draw = "", nil },
		"is incomplete: set Name":               func(k *Kind) { k.Name = "" },
		`"trace" already`:                       func(k *Kind) { k.Name = "trace" },
		`called "a b": use letters`:             func(k *Kind) { k.Name = "a b" },
		`called "--x": use letters`:             func(k *Kind) { k.Name = "--x" },
	} {
		k := whole
		change(&k)
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("want %q: %s", want, said)
				}
			}()
			Register(k)
		}()
	}
}

// A picture of one's own that returns nothing to draw is an error that names it.
func TestPicturesThatShowNothing(t *testing.T) {
	before := slices.Clone(kinds)
	defer func() { kinds = before }()
	for want, draw := range map[string]func() (*Figure, error){
		`the kind of picture "mine": Draw returned no Figure and no error`: func() (*Figure, error) { return nil, nil },
		`the kind of picture "mine": Draw returned an empty Figure`:        func() (*Figure, error) { return &Figure{}, nil },
		"empty Figure: make one with FromPlots and at least one plot":      func() (*Figure, error) { return FromPlots("t", "n"), nil },
		"whose plot 1 is nil": func() (*Figure, error) { return FromPlots("t", "n", plot.New(), nil), nil },
		"a Figure of 0 by ":   func() (*Figure, error) { f := FromPlots("t", "n", plot.New()); f.Width = 0; return f, nil },
		`the kind of picture "mine": there is nothing to draw`: func() (*Figure, error) { return nil, errors.New("there is nothing to draw") },
	} {
		kinds = slices.Clone(before)
		Register(Kind{Name: "mine", About: "a", Draw: func(Draws, ...string) (*Figure, error) { return draw() }})
		if f, err := kinds[len(kinds)-1].Draw(Draws{}); err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v, %v", want, f, err)
		}
	}
	kinds = slices.Clone(before)
	Register(Kind{Name: "mine", About: "a", Draw: func(Draws, ...string) (*Figure, error) { return FromPlots("t", "n", plot.New()), nil }})
	if f, err := kinds[len(kinds)-1].Draw(Draws{}); err != nil || f == nil {
		t.Error(err)
	}
}

// A picture of one's own is not asked for quantities that do not exist, and gets the elements of arrays.
func TestNamesOfRegisteredKinds(t *testing.T) {
	before := slices.Clone(kinds)
	defer func() { kinds = before }()
	var got []string
	calls := 0
	Register(Kind{Name: "mine", About: "a", Draw: func(d Draws, names ...string) (*Figure, error) {
		got = names
		calls++
		return FromPlots("t", "n", plot.New()), nil
	}})
	draw := kinds[len(kinds)-1].Draw
	d := Draws{Names: []string{"mu", "theta[0]", "theta[1]"}, X: [][][]float64{{{1}}, {{2}}, {{3}}}}
	const want = `viz: the kind of picture "mine": there is no quantity "nu": choose from mu`
	if f, err := draw(d, "mu", "nu"); f != nil || err == nil || !strings.HasPrefix(err.Error(), want) || calls > 0 {
		t.Errorf("%v, %v, %d calls", f, err, calls)
	}
	if _, err := draw(d, "theta", "mu"); err != nil || !slices.Equal(got, []string{"theta[0]", "theta[1]", "mu"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := draw(d); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
