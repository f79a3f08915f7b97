// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
