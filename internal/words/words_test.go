// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func all(t *testing.T) []source {
	t.Helper()
	list, err := sources(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 1000 {
		t.Fatalf("%d files of Go: they are not found any more", len(list))
	}
	return list
}

// A comment of an exported name says what the thing is to a reader who sees nothing else.
func TestCommentsAreNoFragments(t *testing.T) {
	n := 0
	for _, s := range all(t) {
		if !s.public() {
			continue
		}
		for _, c := range s.comments() {
			n++
			if why := c.fragment(); why != "" {
				t.Errorf("%s:%d: the comment of %s %s: %s", c.file, c.line, c.name, why, c.text)
			}
		}
	}
	if n < 5000 {
		t.Errorf("%d comments of exported names: they are not found any more", n)
	}
}

// Most errors answer by themselves what is wrong, where, with which numbers, and what to try; their callers complete the others.
func TestErrorsAnswerQuestions(t *testing.T) {
	counts, total := map[rune]int{}, 0
	for _, s := range all(t) {
		for _, e := range s.errors() {
			total++
			for _, letter := range e.score.String() {
				counts[letter]++
			}
		}
	}
	if total < 3000 {
		t.Errorf("%d errors: they are not found any more", total)
	}
	for letter, least := range map[rune]float64{'W': 0.97, 'P': 0.86, 'N': 0.79, 'R': 0.82} {
		if share := float64(counts[letter]) / float64(total); share < least {
			t.Errorf("%.3f of %d errors have %c, want %g: make errors lists them", share, total, letter, least)
		}
	}
}

func TestScores(t *testing.T) {
	for text, want := range map[string]string{
		"rsoxs: volume fractions sum to %g at voxel %v: want 1 within %g; see Morphology.Normalize": "WPNR",
		"validation failed": "W---",
		"the mask keeps no pixel, so that no bin would have any: undo a step": "W--R",
		"csv: line %d has %d values":                                          "WPN-",
		"%w: no kernel":                                                       "WP--",
	} {
		if got := scoreOf(text, false).String(); got != want {
			t.Errorf("%q scores %s: want %s", text, got, want)
		}
	}
}

func TestFragments(t *testing.T) {
	for text, want := range map[string]bool{
		"of the shard":          true,
		"km/s":                  true,
		"whether to stop":       true,
		"lengths of the axes":   false,
		"Shape holds the axes.": false,
		"path; \"\" for none":   true,
	} {
		if got := (comment{kind: "field", name: "T.Shape", text: text}).fragment() != ""; got != want {
			t.Errorf("%q is a fragment: %v, want %v", text, got, want)
		}
	}
}

// ofFields finds texts whose subject is a field of a struct in Go, such as Config.Rows or MaxBytes.
var ofFields = regexp.MustCompile(`^([a-z0-9]+: )?([A-Z][A-Za-z0-9]*\.[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*) (is|has|have|lacks|names|needs|cannot|must)\b`)

// forProgrammers are the folders whose errors of this kind only people meet who write Go, or that have a table of their own.
var forProgrammers = []string{"autodiff", "kernels", "tensor", "notebook", "cluster", "examples", "internal", "infer", "optim", "viz", "data/hdf5", "data/fits", "data/zarr", "data/netcdf", "data/frames", "data/arrow"}

// Errors that users of the command line meet speak of settings and things, not of fields of structs in Go.
func TestErrorsNameNoFields(t *testing.T) {
	for _, s := range all(t) {
		if slices.ContainsFunc(forProgrammers, func(dir string) bool { return strings.HasPrefix(s.path, dir+"/") }) {
			continue
		}
		for _, e := range s.errors() {
			if ofFields.MatchString(e.text) {
				t.Errorf("%s: %s: the subject is a field in Go: say what it is, or name the flag", e.line, e.text)
			}
		}
	}
}
