// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Every refusal says where, and what was meant.
func TestMistakesInSteps(t *testing.T) {
	for step, says := range map[string]string{
		"{projct: S>A}":                                      `16:4: there is no step "projct": did you mean project?`,
		"{project: S>A, step: 2}":                            `no key of project "step": did you mean steps?`,
		"{project: S>X}":                                     `no area "X"`,
		"{project: A>S}":                                     "leads to a stimulus",
		"{project: S}":                                       `fibre "S" is not of the form from>to`,
		"{project: S>A S>A}":                                 "fibre S>A appears twice",
		"{project: []}":                                      "no fibres",
		"{project: [[S>A]]}":                                 "a fibre is a list",
		"{project: S>A, steps: 0}":                           "steps of project is 0: want 1 to 10000000",
		"{project: S>A, steps: 1.5}":                         "want a whole number",
		"{project: S>A, steps: many}":                        `steps of project is "many": want a number`,
		"{project: S>A, form: B}":                            "step does both project and form",
		"{form: A}":                                          "form lacks stimulus",
		"{form: A, stimulus: B}":                             "B is an area, but a stimulus is needed",
		"{form: S, stimulus: S}":                             "S is a stimulus, but an area is needed",
		"{form: A, stimulus: SS}":                            `no stimulus "SS": did you mean S?`,
		"{project_into: A, from: A, stimulus: S}":            "project_into names area A twice",
		"{reciprocal: [A]}":                                  "want a list of two",
		"{reciprocal: [A, A]}":                               "area A twice",
		"{merge: A, stimuli: [S, T], areas: [A, B]}":         "area A twice",
		"{associate: C, stimuli: S, areas: [A, B]}":          "stimuli of associate: want a list of two",
		"{complete: A, part: 2}":                             "part is 2: want 0 to 1",
		"{complete: A, part: 0.5, seed: -1}":                 "the seed is",
		"{complete: A, part: 0.5, as: A}":                    "cannot be called A",
		"{separate: B, from: A, first: 0-19, second: 1-20}":  "area A is lazy",
		"{separate: B, from: E, first: 0-19, second: 1-300}": "want a range within 0-199",
		"{separate: B, from: E, first: x, second: 1-20}":     `no assembly "x" is remembered here`,
		"{separate: B, from: E, first: [1, 1], second: [2]}": "2 neurons of E are named, but only 1 are different",
		"{separate: B, from: E, first: [200], second: [2]}":  "a neuron of E is 200: want 0 to 199",
		"{fix: Q}":                            `no area "Q"`,
		"{learn: maybe}":                      "want true or false, on or off",
		"{inhibit: A, index: -1}":             "index is -1",
		"{inhibit: A>Q}":                      `no area "Q"`,
		"{rivals: A}":                         "must be a list of at least two areas",
		"{rivals: [A, A]}":                    "area A twice",
		"{set: A, winners: [a]}":              `a neuron of A is "a"`,
		"{activate: E, block: 10}":            "block of E is 10: want 0 to 9",
		"{normalize: S>A}":                    "area A is lazy",
		"{remember: A, area: A}":              "cannot be called A",
		"{remember: x>y, area: A}":            "want a name without >",
		"{measure: x}":                        "measure names no quantity: want one of overlap",
		"{measure: x, support: A, active: A}": "measures both support and active",
		"{measure: x, overlap: A}":            "overlap must be a list of two",
		"{measure: x, overlap: [A, B]}":       "neurons of A with neurons of B",
		"{measure: x, overlap: [A, y]}":       `no assembly "y"`,
		"{measure: x, weight: S>A}":           "from a stimulus",
		"{measure: x, density: A>A B>B}":      "2 fibres: want one",
		"{do: nothing}":                       `no procedure "nothing": did you mean`,
		"{do: noting}":                        "needs a: give it after with",
		"{do: noting, with: {b: A}}":          `no key of the parameters of noting "b"`,
		"{do: noting, with: {a: Q}}":          `no area "Q": did you mean A? (called from 16:4)`,
		"{do: plain, with: {a: Q}}":           "takes no parameters",
		"{repeat: -1, steps: []}":             "repeat is -1",
		"{repeat: 2}":                         "repeat lacks steps",
		"{repeat: 2, steps: {}}":              "want a list of steps",
		"{repeat: 1e6, steps: [{repeat: 1e6, steps: [{project: S>A}]}]}":      "the script grows to more than",
		"{repeat: 1e6, steps: [{repeat: 1e6, steps: []}]}":                    "the script grows to more than",
		"{branch: [{remember: x, area: A}]}\n- {measure: o, overlap: [A, x]}": `no assembly "x" is remembered here`,
		"{branch: 3}":                     "a branch is \"3\": want a list of steps",
		"{fix: $a}":                       "no parameter $a here",
		"{save: ../x}":                    `the snapshot cannot be called "../x"`,
		"form":                            `a step is "form": want keys and values`,
		"{}":                              "a step is a mapping",
		"{form: A, form: B, stimulus: S}": "step does both form and form",
	} {
		text := fmt.Sprintf(head, "lazy-exact") + "procedures: {noting: {with: a, steps: [{fix: $a}]}, plain: [{fix: A}]}\nrun:\n- " + step + "\n"
		_, err := Parse("s.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "s.yaml:1") {
			t.Errorf("%s:\n%v\nwant %q in it", step, err, says)
		}
	}
}

func TestMistakesInTheHeader(t *testing.T) {
	const run = "\nrun: [{project: S>A}]"
	const good = "p: 0.1\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9}}"
	for text, says := range map[string]string{
		"":                           "the script is empty",
		"[":                          "s.yaml:1: ",
		"a: [\nb: }":                 "did not find expected node content",
		"3":                          `a script is "3"`,
		"{}":                         "p is missing",
		good:                         "run is missing",
		good + "\nrum: []":           `4:1: there is no key of a script "rum": did you mean run?`,
		good + "\np: 1" + run:        `"p" twice`,
		good + "\nmode: exakt" + run: "did you mean exact?",
		"p: 0.1\nareas: {A: {n: 90, k: 9}}\nrun: [{form: A, stimulus: S}]": `no stimulus "S": there are none yet: add it first`,
		good + "\nactivity: loud" + run:                                    "want one of sticky, silent",
		good + "\nseed: 1.5" + run:                                         "the seed is",
		good + "\nmax_weight: -1" + run:                                    "max_weight is -1: want 0 or more",
		good + "\nthreads: .nan" + run:                                     "threads is .nan",
		good + "\nwinners: [B]" + run:                                      `no area "B": did you mean A?`,
		good + "\nwinners: 7" + run:                                        "winners is \"7\"",
		good + "\nfibres: {A>B: {}}" + run:                                 `no area "B"`,
		good + "\nfibres: {A>A: {q: 1}}" + run:                             `no key of fibre A>A "q"`,
		good + "\nfibers: {A>A: {q: 1}}" + run:                             `no key of fibre A>A "q"`,

		good + "\nfibres: {A>A: {p: 0.2}}\nfibers: {A>A: {p: 0.1}}" + run:                             "fibers repeats fibres",
		good + "\nfibres: {A>A: {p: 2}}" + run:                                                        "p of fibre A>A is 2: want 0 to 1",
		good + "\nfibres: {A>A: {rule: additive}}" + run:                                              "learns additively towards MaxWeight",
		good + "\nfibres: {A>A: {rule: anti-hebb, beta: 2}}" + run:                                    "weakens by 2",
		good + "\nprocedures: {a: [{do: b}], b: [{repeat: 2, steps: [{do: c}]}], c: [{do: a}]}" + run: "circle: a > b > c > a",
		good + "\nprocedures: {a: [{do: a}]}" + run:                                                   "circle: a > a",
		good + "\nprocedures: {a: {with: x}}" + run:                                                   "procedure a has no steps",
		good + "\nprocedures: {a: {with: [x, x], steps: []}}" + run:                                   "parameter x appears twice",
		good + "\nprocedures: {a: {with: [x-y], steps: []}}" + run:                                    "want letters",
		good + "\nrun: &x [{project: S>A}, *x]":                                                       "alias *x",
		good + run + "\n---\na: 1":                                                                    "a second document",
		"p: 2\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9}}" + run:                                      "p is 2: want 0 to 1",
		"p: .1\nstimuli: {S: -1}\nareas: {A: {n: 90, k: 9}}" + run:                                    "the size of stimulus S is -1",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 91}}" + run:                                    "3:23: area A: k = 91 is more than n = 90",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 90}}" + run:                                           "area A has no k",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 0, k: 1}}" + run:                                      "n of area A is 0",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 3e9, k: 1}}" + run:                                    "want 1 to 2147483647",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9, bta: 1}}" + run:                             "did you mean beta?",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9, rule: hob}}" + run:                          "did you mean hebb?",
		"p: .1\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9, policy: relative, threshold: 2}}" + run:     "relative threshold of area A is 2",
		"p: .1\nstimuli: {S: 9}\nareas: {S: {n: 90, k: 9}}" + run:                                     "another area or stimulus of this name",
		"p: .1\nstimuli: {S: 9}\nareas: {A>B: {n: 90, k: 9}}" + run:                                   "want a name without",
		"p: .1\nmode: exact\nstimuli: {S: 9}\nareas: {A: {n: 90, k: 9, explicit: false}}" + run:       "not explicit, but in mode exact",
		"p: .1\nstimuli: {S: 9}\nareas: 4" + run:                                                      "areas is \"4\": want keys and values",
	} {
		_, err := Parse("s.yaml", []byte(text))
		var all *Mistakes
		if !errors.As(err, &all) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s:\n%v\nwant %q in it", text, err, says)
		}
	}
}

// All mistakes come at once, in the order of the lines, and no more than can be read.
func TestAllMistakesAtOnce(t *testing.T) {
	_, err := Parse("s.yaml", []byte("p: 7\nstimuli: {S: 9}\nareas: {A: {n: 1, k: 9}}\nrun:\n- {form: B, stimulus: S}\n- {fx: A}\n- {learn: 3}\n"))
	var all *Mistakes
	if !errors.As(err, &all) || len(all.List) != 5 {
		t.Fatalf("%v", err)
	}
	for i, line := range []int{1, 3, 5, 6, 7} {
		if all.List[i].Line != line {
			t.Errorf("mistake %d is of line %d, want %d", i, all.List[i].Line, line)
		}
	}
	// What follows from a mistake is none of its own; a circle hides nothing else.
	_, err = Parse("s.yaml", []byte("p: 1\nareas: {A: {n: 9, k: 3}}\nprocedures: {a: [{do: a}]}\nrun:\n- {remember: x, area: B}\n- {measure: m, overlap: [x, y]}\n- {do: a}\n- {fix: C}\n"))
	if errors.As(err, &all); len(all.List) != 3 || all.List[2].Line != 8 {
		t.Errorf("%v", err)
	}
	_, err = Parse("s.yaml", []byte("p: 1\nareas: {A: {n: 1, k: 1}}\nrun:\n"+strings.Repeat("- {fix: B}\n", 1000)))
	if errors.As(err, &all); len(all.List) != mostMistakes {
		t.Errorf("%d mistakes, want %d", len(all.List), mostMistakes)
	}
}

// Reference has every kind of step.
func TestReference(t *testing.T) {
	text := Reference()
	for name := range kinds {
		if !strings.Contains("\n"+text, "\n"+name+": ") {
			t.Errorf("%s is not in the reference", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(fmt.Sprintf(head, "exact") + long)
	f.Add("p: 1\nareas: {A: {n: 9, k: 3}}\nprocedures: {a: {with: [x], steps: [{fix: $x}]}}\nrun: [{do: a, with: {x: A}}, {repeat: 3, as: i, steps: [{set: A, winners: [$i]}]}]")
	f.Add("run: &a [*a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("s.yaml", []byte(text))
		if (s == nil) == (err == nil) {
			t.Errorf("%v and %v", s, err)
		}
	})
}
