// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package language

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// clauseSentences are sentences with relative clauses, and what they say: dependencies
// as head dependent role. Of a clause the reference reads its verb and the subject of
// that; determiners, adjectives and objects within are read here in the same way as
// those outside.
var clauseSentences = map[string]string{
	"dogs that cats chase , run":                                   "run dogs SUBJ; dogs chase DEP-VERB; chase cats SUBJ",
	"the dogs that people love , chase cats":                       "chase dogs SUBJ; chase cats OBJ; dogs the DET; dogs love DEP-VERB; love people SUBJ",
	"dogs that run, bite cats":                                     "bite dogs SUBJ; bite cats OBJ; dogs run DEP-VERB; run dogs SUBJ",
	"the mice that big cats bite, run":                             "run mice SUBJ; mice the DET; mice bite DEP-VERB; bite cats SUBJ; cats big ADJ",
	"the dogs that the cats chase, run":                            "run dogs SUBJ; dogs the DET; dogs chase DEP-VERB; chase cats SUBJ; cats the DET",
	"the dogs that a cats chase, run":                              "run dogs SUBJ; dogs the DET; dogs chase DEP-VERB; chase cats SUBJ; cats a DET",
	"the big dogs that the bad cats chase, run":                    "run dogs SUBJ; dogs the DET; dogs big ADJ; dogs chase DEP-VERB; chase cats SUBJ; cats the DET; cats bad ADJ",
	"big dogs that big cats chase, love mice":                      "love dogs SUBJ; love mice OBJ; dogs big ADJ; dogs chase DEP-VERB; chase cats SUBJ; cats big ADJ",
	"dogs that chase the cats, run":                                "run dogs SUBJ; dogs chase DEP-VERB; chase dogs SUBJ; chase cats OBJ; cats the DET",
	"people chase dogs that cats love,":                            "chase people SUBJ; chase dogs OBJ; dogs love DEP-VERB; love cats SUBJ",
	"people chase the dogs that the cats love,":                    "chase people SUBJ; chase dogs OBJ; dogs the DET; dogs love DEP-VERB; love cats SUBJ; cats the DET",
	"people saw the mice that bad cats bite,":                      "saw people SUBJ; saw mice OBJ; mice the DET; mice bite DEP-VERB; bite cats SUBJ; cats bad ADJ",
	"dogs that cats chase, love mice that people saw,":             "love dogs SUBJ; love mice OBJ; dogs chase DEP-VERB; chase cats SUBJ; mice saw DEP-VERB; saw people SUBJ",
	"dogs that the big cats chase, love mice that bad people saw,": "love dogs SUBJ; love mice OBJ; dogs chase DEP-VERB; chase cats SUBJ; cats the DET; cats big ADJ; mice saw DEP-VERB; saw people SUBJ; people bad ADJ",
	"the dogs that are big, chase the cats":                        "chase dogs SUBJ; chase cats OBJ; cats the DET; dogs the DET; dogs are DEP-VERB; are dogs SUBJ; are big ADJ",
	"cats that people love, bite the big mice":                     "bite cats SUBJ; bite mice OBJ; mice the DET; mice big ADJ; cats love DEP-VERB; love people SUBJ",
	"people chase dogs that love the cats,":                        "chase people SUBJ; chase dogs OBJ; dogs love DEP-VERB; love cats OBJ; cats the DET",
	"dogs that bad cats of people chase, run":                      "run dogs SUBJ; dogs chase DEP-VERB; chase cats SUBJ; cats bad ADJ; cats people PREP_P; people of PREP",
}

func dependencies(text string) (list []Dependency) {
	for _, d := range strings.Split(text, "; ") {
		f := strings.Fields(d)
		list = append(list, Dependency{f[0], f[1], f[2]})
	}
	return list
}

// Nothing of a clause is lost. Of 18 sentences each of a hundred brains read alone 97 or
// more whole (see TestClausesInManyBrains): all of five fail less than once in 1e7.
func TestClauses(t *testing.T) {
	g := grammarOf(t, "english_recursive")
	for sentence, text := range clauseSentences {
		for seed := range uint64(2) {
			got, err := newParser(t, g, seed).Parse(sentence)
			if want := dependencies(text); err != nil || !slices.Equal(sorted(got), sorted(want)) {
				t.Errorf("%s, seed %d: %v, want %v: %v", sentence, seed, got, want, err)
			}
		}
	}
}

// Words for which the grammar has no place are named, with why; hearing them again would
// not help.
func TestWordsWithoutAPlace(t *testing.T) {
	gs := grammars(t)
	for _, c := range []struct{ grammar, sentence, lost, why, parse string }{
		{"english", "the big bad dogs run", "2 big", `"bad" took its place in ADJ`, "run dogs SUBJ; dogs the DET; dogs bad ADJ"},
		{"english", "dogs run cats", "3 cats", "no area was open to it", "run dogs SUBJ"},
		{"english_recursive", "dogs that the big bad cats chase, run", "4 big", `"bad" took its place in ADJ`,
			"run dogs SUBJ; dogs chase DEP-VERB; chase cats SUBJ; cats the DET; cats bad ADJ"},
		{"english", "the man of the woman of people saw dogs", "6 of, 7 people", "nothing that is read leads to it in PREP_P",
			"saw man SUBJ; saw dogs OBJ; man the DET; man woman PREP_P; woman the DET; woman of PREP"},
		{"english_recursive", "dogs that big cats, run", "3 big, 4 cats", "nothing that is read leads to it in SUBJ", "run dogs SUBJ"},
	} {
		got, err := newParser(t, gs[c.grammar], 7).Parse(c.sentence)
		var e *LostError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, want a LostError", c.sentence, err)
			continue
		}
		var lost []string
		for _, w := range e.Words {
			lost = append(lost, fmt.Sprint(w.Number, " ", w.Word))
		}
		if strings.Join(lost, ", ") != c.lost || !strings.Contains(err.Error(), c.why) || e.Seed != 7 || e.Brains != 1 {
			t.Errorf("%s: %v: want %s, as %s, after one brain of seed 7", c.sentence, err, c.lost, c.why)
		}
		if want := dependencies(c.parse); !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("%s: %v, want %v", c.sentence, got, want)
		}
	}
}

// Brains too small to keep words apart lose some, and every time that a parse is not
// whole, and only then, an error says so and names what the parse lacks or has wrong.
func TestLossesAreTold(t *testing.T) {
	g := *grammarOf(t, "english_recursive")
	g.Parameters.N = 1500
	whole, told := 0, 0
	for _, sentence := range []string{"the mice that big cats bite, run", "dogs that cats chase, love mice that people saw,", "the man saw the woman"} {
		want := dependencies("saw man SUBJ; saw woman OBJ; man the DET; woman the DET")
		if text, ok := clauseSentences[sentence]; ok {
			want = dependencies(text)
		}
		for seed := range uint64(20) {
			p := newParser(t, &g, seed)
			p.Tries = 2
			got, err := p.Parse(sentence)
			if err == nil {
				if whole++; !slices.Equal(sorted(got), sorted(want)) {
					t.Errorf("%s, seed %d: no error for %v", sentence, seed, got)
				}
				continue
			}
			told++
			var e *LostError
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Brains != 2 || e.Seed != seed || !strings.Contains(err.Error(), "Parser.Tries above 2") {
				t.Errorf("%v: want 2 brains of seed %d", err, seed)
			}
			for _, d := range append(slices.Clone(want), got...) {
				missing, wrong := !slices.Contains(got, d), !slices.Contains(want, d)
				if missing != slices.Contains(e.Missing, d) || wrong != slices.Contains(e.Wrong, d) {
					t.Errorf("%s, seed %d: %v of %v: missing %v, wrong %v", sentence, seed, d, got, e.Missing, e.Wrong)
				}
			}
			for _, w := range e.Words {
				if !strings.Contains(err.Error(), fmt.Sprintf("word %d, %q", w.Number, w.Word)) {
					t.Errorf("%v: want word %d in it", err, w.Number)
				}
			}
		}
	}
	t.Logf("%d parses are whole, %d told of losses", whole, told)
	if whole < 6 || told < 6 {
		t.Errorf("%d parses are whole and %d are not: want some of both", whole, told)
	}
}
