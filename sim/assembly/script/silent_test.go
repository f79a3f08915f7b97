// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// Steps that need areas to fire which do not are errors with line and column, never
// measures of 0; areas that fire in the course of a step are none.
func TestSilentSteps(t *testing.T) {
	for steps, says := range map[string]string{
		"- project: S>A A>B B>C":                                              "",
		"- {associate: C, stimuli: [S, T], areas: [A, B]}":                    "",
		"- {measure: n, active: A}\n- {measure: w, support: A}":               "",
		"- {project: S>A}\n- {project: A>B}\n- {measure: o, overlap: [A, A]}": "",
		"- project: A>B": "15:3: project: assembly: fibre A>B: area A does not fire",
		"- {form: A, stimulus: S}\n- {merge: C, stimuli: [S, zero], areas: [A, B]}":                         "16:4: merge: assembly: fibre zero>B: stimulus zero has no neurons",
		"- {associate: C, stimuli: [S, zero], areas: [A, B], steps: 3}":                                     "area B does not fire",
		"- {form: A, stimulus: zero}":                                                                       "stimulus zero has no neurons",
		"- {reciprocal: [A, B]}":                                                                            "reciprocal: assembly: fibre A>B: area A does not fire",
		"- {project_into: B, from: A, stimulus: zero}":                                                      "area A does not fire",
		"- {complete: A, part: 0.5}":                                                                        "15:4: complete: assembly: winners of area A: area A does not fire, and never has",
		"- {form: A, stimulus: S}\n- {clear: A}\n- {complete: A, part: 0.5}":                                "17:4: complete: assembly: winners of area A: area A does not fire now; ",
		"- {form: A, stimulus: S}\n- {complete: A, part: 0.01}":                                             "a fraction 0.01 of the 20 winners of area A is less than one neuron",
		"- {remember: x, area: A}":                                                                          "remember: assembly: winners of area A",
		"- {form: A, stimulus: S}\n- {remember: x, area: A}\n- {clear: A}\n- {measure: o, overlap: [A, x]}": "18:4: measure: assembly: winners of area A",
		"- {measure: d, density: A}":                                                                        "density of area A: area A does not fire",
		"- {measure: d, weight: A}":                                                                         "area A does not fire",
		"- {measure: d, density: A>C}":                                                                      "density of A>C cannot be measured, as there are no neurons or synapses yet",
		"- {measure: d, weight: E>A}":                                                                       "weight of E>A cannot be measured, as there are no neurons or synapses",
		"- {measure: b, block: E}":                                                                          "block of area E: area E does not fire",
		"- {fix: A}\n- {form: A, stimulus: S}":                                                              "the area is fixed while it does not fire",
		"- {inhibit: A}\n- {form: A, stimulus: S}":                                                          "16:4: form: it needs the fibres S>A, but they or their areas are inhibited",
		"- {form: A, stimulus: S}\n- {inhibit: A>A}\n- {complete: A, part: 0.5}":                            "complete: it needs the fibres A>A, but they or their areas are inhibited",
		"- {inhibit: A}\n- {project: S>A}\n- {measure: o, overlap: [A, A]}":                                 "measure: assembly: winners of area A",
		"- branch: [{project: A>A}]":                                                                        "15:13: project: assembly: fibre A>A",
	} {
		for _, mode := range modes {
			text := strings.Replace(fmt.Sprintf(head, mode), "T: 20}", "T: 20, zero: 0}", 1) + "run:\n" + steps + "\n"
			s, err := Parse("s.yaml", []byte(text))
			if err != nil {
				t.Fatalf("%s: %v", steps, err)
			}
			if mode == "exact" && strings.Contains(says, "no neurons or synapses") {
				continue // all synapses are there from the beginning
			}
			r, err := s.Run(t.Context(), Settings{})
			if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%s\n%s: %v, want %q", steps, mode, err, says)
			}
			if err != nil && len(r.Measures) > 0 {
				t.Errorf("%s: measured %+v", steps, r.Measures)
			}
			var silent *assembly.SilentError
			if errors.As(err, &silent) != (strings.Contains(says, "assembly:") || strings.Contains(says, "not fire") || strings.Contains(says, "zero has no")) {
				t.Errorf("%s: an error of type %T", steps, err)
			}
		}
	}
}

const dying = `
p: 0.1
stimuli: {S: 20}
areas: {A: {n: 400, k: 20, policy: threshold, threshold: 5, explicit: true}}
run:
- {project: S>A}
- {remember: before, area: A}
- {project: A>A, steps: 6}
- {measure: n, active: A}
- {measure: o, overlap: [A, before]}
- {remember: after, area: A}
- {measure: p, overlap: [after, before]}
- {project: A>A}
`

// Where silence is an outcome of the steps it is measured, also by a run that was
// interrupted after the area fell silent.
func TestDyingOut(t *testing.T) {
	start := func(o Settings) *Run {
		s, err := Parse("s.yaml", []byte(dying))
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want, err := start(Settings{}).Go(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n", "o", "p"} {
		if v := want.value(name); len(v) != 1 || v[0] != 0 {
			t.Errorf("%s is %v, want 0", name, v)
		}
	}
	for stop := 1; stop < 8; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		r := start(Settings{Progress: func(p Progress) {
			if p.Done == stop {
				cancel()
			}
		}})
		if _, err := r.Go(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := r.Save(&file); err != nil {
			t.Fatal(err)
		}
		again, err := r.script.Resume(&file, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Go(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("stopped after %d: %v, %+v", stop, err, got)
		}
	}
}

// Steps over fibres that are all inhibited do nothing, and a warning says where, once.
func TestWarnings(t *testing.T) {
	r := carryOut(t, parse(t, "exact", `run:
- {project: S>A}
- {inhibit: A}
- repeat: 3
  steps:
  - {project: S>A A>A, steps: 2}
  - branch: [{project: A>B}]
  - {project: S>A T>B}
`))
	var got []string
	for _, w := range r.Warnings {
		got = append(got, fmt.Sprintf("%d:%d %s", w.Line, w.Column, w.What))
	}
	if len(got) != 2 || !strings.HasPrefix(got[0], "19:6 project: the fibres S>A A>A or their areas are inhibited") || !strings.HasPrefix(got[1], "20:15 project: the fibres A>B or") {
		t.Errorf("warnings %q", got)
	}
}
