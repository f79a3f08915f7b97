// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// only has a format alone registered until the test ends.
func only(t *testing.T, f Format) {
	before := slices.Clone(registered)
	t.Cleanup(func() { registered = before })
	registered = nil
	Register(f)
}

// tiny is an arm of two templates.
func tiny(arm string) *Library {
	points, _ := tensor.From([]float64{1, 2}, 1, 2)
	spectra, _ := tensor.From([]float64{1, 2, 3, 4}, 2, 2)
	return &Library{Setup: arm, Lam: []float64{5000, 5001}, ParNames: []string{"teff"}, Points: points, Spectra: spectra}
}

// Formats that are incomplete or whose name is taken are refused.
func TestRegisterRefuses(t *testing.T) {
	whole := Format{Name: "mine", Holds: func(string) bool { return false }, Open: func(string) (*Contents, error) { return nil, nil }}
	only(t, whole)
	for want, f := range map[string]Format{
		`"" is incomplete: set Name, Holds, Open`:                {},
		`there is a format "mine" of template libraries already`: whole,
		`there is a format "open"`:                               {Name: OpenFormat, Holds: whole.Holds, Open: whole.Open},
	} {
		func() {
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, want) {
					t.Errorf("want %q: %s", want, said)
				}
			}()
			Register(f)
		}()
	}
}

// A format of others is asked before those of the package, and what it returns is checked.
func TestOpenLibrary(t *testing.T) {
	var contents *Contents
	var list []*Library
	only(t, Format{Name: "mine", Holds: func(path string) bool { return path == "x.mine" }, Open: func(string) (*Contents, error) { return contents, nil }})
	if _, err := OpenLibrary("x.mine"); err == nil || !strings.Contains(err.Error(), `Open of the format "mine" returned no Contents`) {
		t.Error(err)
	}
	contents = &Contents{Arms: func() ([]string, error) { return []string{"b"}, nil }, Read: func([]string) ([]*Library, error) { return list, nil }}
	for want, l := range map[string][]*Library{
		`Read of the format "mine" returned 0 arms, but 1 were asked for`: {},
		`Read of the format "mine" returned another arm or none`:          {tiny("r")},
		"too few wavelengths": {{Setup: "b"}},
		"":                    {tiny("b")},
	} {
		list = l
		c, err := OpenLibrary("x.mine")
		if err != nil || c.Format != "mine" {
			t.Fatal(c, err)
		}
		if _, err := c.Read([]string{"b"}); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if c, err := OpenLibrary(t.TempDir()); err != nil || c.Format != FolderFormat || c.Whole {
		t.Error(c, err)
	}
}
