// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Scripts that would not fit into memory, or never end, are refused before they run,
// without taking either.
func TestTooLarge(t *testing.T) {
	const form = "\nrun: [{form: A, stimulus: S}]"
	for text, says := range map[string]string{
		"p: .01\nmode: exact\nstimuli: {S: 100}\nareas: {A: {n: 2e9, k: 5}}" + form:                                                "4:9: area A (n = 2000000000, k = 5) takes about ",
		"p: .01\nstimuli: {S: 100}\nareas: {A: {n: 2e9, k: 1e9}}" + form:                                                           "3:9: area A (n = 2000000000, k = 1000000000) takes about ",
		"p: .01\nareas: {A: {n: 1e9, k: 5}}\nrun: [{set: A, winners: 0-900000000}]":                                                "area A (n = 1000000000, k = 5) takes about 45 GB",
		"p: .01\nareas: {A: {n: 1e9, k: 5}}\nrun: [{repeat: 100000, steps: [{set: A, winners: 0-900000000}]}]":                     "area A (n = 1000000000, k = 5) takes about 45 GB",
		"p: .01\nstimuli: {S: 2e9}\nareas: {A: {n: 1e4, k: 5}}" + form:                                                             "the size of stimulus S is 2e9: want 0 to 100000000",
		"p: 1\nmode: exact\nstimuli: {S: 1e8}\nareas: {A: {n: 1e4, k: 5}}" + form:                                                  "has about 1e+12 synapses onto area A: want at most 1e+10",
		"p: .01\nmode: exact\nstimuli: {S: 1e8}\nareas: {A: {n: 1e4, k: 5}}\nfibres: {S>A: {p: 0.5}}\nrun: [{clear: A}]":           "has about 5e+11 synapses",
		"p: .01\nareas: {A: {n: 1e5, k: 1000, explicit: true}}\nmemory: 0.01\nrun: [{normalize: A>A}]":                             "memory is 0.01 GB",
		"p: .1\nmode: exact\nareas: {A: {n: 1e5, k: 10}, B: {n: 1e5, k: 10}}\nrun: [{measure: d, density: A>B}]":                   "area B",
		"p: .01\nstimuli: {S: 100}\nareas: {A: {n: 1e4, k: 5}}\nrun: [{repeat: 100, steps: [{form: A, stimulus: S, steps: 1e7}]}]": "of which the trace of 1000000000 steps 600 GB, all together 600 GB: memory is 8 GB: take fewer steps, or raise memory",
		"p: .01\nwinners: on\nstimuli: {S: 9}\nareas: {A: {n: 1e5, k: 1e4}}\nrun: [{form: A, stimulus: S, steps: 1e6}]":            "or keep no winners",
		"p: .01\nmemory: .1\nmode: exact\nareas: {A: {n: 2e6, k: 9}}\nrun: [{branch: [{branch: [{project: A>A}]}]}]":               "takes about 0.205 GB",
		"p: .01\nmemory: -1\nstimuli: {S: 100}\nareas: {A: {n: 1e4, k: 5}}" + form:                                                 "memory is -1: want 0",
		"p: .01\nareas: {A: {n: 1e4, k: 5}}\nrun: []":                                                                              "3:6: run has no steps: give it at least one",
		"p: .01\nareas: {A: {n: 1e4, k: 5}}\nrun: [{repeat: 0, steps: [{clear: A}]}]":                                              "run has no steps",
		"p: .01\nareas: {}\nrun: []": "2:8: there are no areas: give at least one",
		"p: .01\nmax_weight: .inf\nareas: {A: {n: 1e4, k: 5}}\nrun: [{clear: A}]":                                                   "max_weight is .inf: want a finite number",
		"p: .01\nbeta: .inf\nareas: {A: {n: 1e4, k: 5}}\nrun: [{clear: A}]":                                                         "beta is .inf: want a finite number",
		"p: .01\nareas: {A: {n: 1e4, k: 5, refraction: .inf}}\nrun: [{clear: A}]":                                                   "refraction of area A is .inf",
		"p: .01\nareas: {A: {n: 1e4, k: 5, threshold: -.inf}}\nrun: [{clear: A}]":                                                   "threshold of area A is -.inf",
		"p: .01\nareas: {A: {n: 1e4, k: 5, beta: 1e999}}\nrun: [{clear: A}]":                                                        "beta of area A",
		"p: .01\nstimuli: {S: 1}\nareas: {A: {n: 1e4, k: 5}}\nfibres: {S>A: {beta: .inf}}\nrun: [{clear: A}]":                       "beta of fibre S>A is .inf",
		"p: .01\nareas: {A: {n: 1e4, k: 5}}\nprocedures: {a: {with: x, steps: [{save: $x$x}]}}\nrun: [{do: a, with: {x: " + long600: "the text has more than 1000 characters",
	} {
		_, err := Parse("s.yaml", []byte(text))
		var all *Mistakes
		if !errors.As(err, &all) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.300s:\n%.500v\nwant %q in it", text, err, says)
		}
	}
}

var long600 = strings.Repeat("x", 600) + "}}]"

// Texts that double with every procedure stay short.
func TestTextsThatDouble(t *testing.T) {
	var b strings.Builder
	b.WriteString("p: 1\nareas: {A: {n: 9, k: 3}}\nprocedures:\n")
	const levels = 60
	for i := range levels {
		fmt.Fprintf(&b, "  a%d: {with: x, steps: [{do: a%d, with: {x: $x$x}}]}\n", i, i+1)
	}
	fmt.Fprintf(&b, "  a%d: {with: x, steps: [{clear: $x}]}\nrun: [{do: a0, with: {x: A}}]\n", levels)
	_, err := Parse("s.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "the text has more than 1000 characters") || len(err.Error()) > 20_000 {
		t.Errorf("%.500v", err)
	}
}

// What fits is let in, and memory raises the bound; what is kept counts too.
func TestFits(t *testing.T) {
	for _, text := range []string{
		"p: .001\nmode: exact\nstimuli: {S: 1000}\nareas: {A: {n: 1e7, k: 1000}}\nrun: [{form: A, stimulus: S}]",
		"p: .001\nstimuli: {S: 1000}\nareas: {A: {n: 2e9, k: 1000}}\nrun: [{form: A, stimulus: S, steps: 1e6}]",
		"p: .01\nmemory: 1000\nmode: exact\nareas: {A: {n: 2e9, k: 5}}\nrun: [{clear: A}]",
	} {
		if _, err := Parse("s.yaml", []byte(text)); err != nil {
			t.Error(err)
		}
	}
	s, err := Parse("s.yaml", []byte("p: .1\nmemory: 0.7\nstimuli: {S: 9}\nareas: {A: {n: 1e5, k: 1000}}\nrun: [{form: A, stimulus: S, steps: 1e6}]"))
	if err != nil {
		t.Fatal(err)
	}
	s.Winners["A"] = true
	if err := s.Fits(); err == nil || !strings.Contains(err.Error(), "the trace of 1000000 steps 8.6 GB") {
		t.Errorf("%v", err)
	}
	if _, err := s.Start(Settings{}); err == nil {
		t.Error("it starts")
	}
}

// Checkpoints write rounds in parts, and read them back.
func TestRoundsInParts(t *testing.T) {
	const text = "run: [{project: S>A, steps: 5000}, {project: A>B}]\n"
	s := parse(t, "lazy-exact", text)
	s.Winners = map[string]bool{}
	run, err := s.Start(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := run.Save(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	again, err := s.Resume(bytes.NewReader(whole), Settings{})
	if err != nil || !reflect.DeepEqual(again.Result(), run.Result()) || len(again.Result().Rounds) != 5001 {
		t.Fatalf("%v, or the results differ", err)
	}
	if _, err := s.Resume(bytes.NewReader(whole[:len(whole)/2]), Settings{}); err == nil {
		t.Error("half a checkpoint is taken")
	}
}
