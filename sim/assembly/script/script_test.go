// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// head declares what most tests need.
const head = `
seed: 3
p: 0.1
mode: %s
winners: [A]
stimuli: {S: 20, T: 20}
areas:
  A: {n: 400, k: 20}
  B: {n: 400, k: 20, beta: 0.1}
  C: {n: 400, k: 20}
  E: {n: 200, k: 20, explicit: true}
fibres:
  A>C: {beta: 0.2, rule: hebb, p: 0.2}
`

func parse(t *testing.T, mode, rest string) *Script {
	t.Helper()
	s, err := Parse("s.yaml", []byte(fmt.Sprintf(head, mode)+rest))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func carryOut(t *testing.T, s *Script) *Result {
	t.Helper()
	r, err := s.Run(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// value returns the measures of a name.
func (r *Result) value(name string) (v []float64) {
	for _, m := range r.Measures {
		if m.Name == name {
			v = append(v, m.Value)
		}
	}
	return v
}

// Operations give what the brain's own give, neuron for neuron.
func TestOperationsAreThoseOfTheBrain(t *testing.T) {
	first, second := make([]int32, 20), make([]int32, 20)
	for i := range first {
		first[i], second[i] = int32(i), int32(i+10)
	}
	for _, mode := range modes {
		for name, c := range map[string]struct {
			steps string
			do    func(b *assembly.Brain) error
			area  string
		}{
			"form": {"- {form: A, stimulus: S, steps: 9}", func(b *assembly.Brain) error { _, err := b.Form("S", "A", 9); return err }, "A"},
			"project_into": {"- {project_into: B, from: A, stimulus: S, steps: 6}", func(b *assembly.Brain) error {
				_, err := b.ProjectInto("S", "A", "B", 6)
				return err
			}, "B"},
			"reciprocal": {"- {form: A, stimulus: S, steps: 3}\n- {reciprocal: [A, B], steps: 5}\n- project: B>A", func(b *assembly.Brain) error {
				_, err := b.Form("S", "A", 3)
				_, err2 := b.Reciprocal("A", "B", 5)
				p, err3 := b.Plan("B>A")
				_, err4 := b.Project(p, 1)
				return errors.Join(err, err2, err3, err4)
			}, "A"},
			"associate": {"- {associate: C, stimuli: [S, T], areas: [A, B], steps: 5}", func(b *assembly.Brain) error {
				_, err := b.Associate("S", "A", "T", "B", "C", 5)
				return err
			}, "C"},
			"merge": {"- {merge: C, stimuli: [S, T], areas: [A, B], steps: 5}", func(b *assembly.Brain) error {
				_, err := b.Merge("S", "A", "T", "B", "C", 5)
				return err
			}, "C"},
			"complete": {"- {form: A, stimulus: S, steps: 9}\n- {complete: A, part: 0.4, steps: 3, seed: 8, as: c}", func(b *assembly.Brain) error {
				_, err := b.Form("S", "A", 9)
				_, err2 := b.Complete("A", 0.4, 3, 8)
				return errors.Join(err, err2)
			}, "A"},
			"separate": {"- {separate: B, from: E, first: 0-19, second: 10-29, steps: 4}", func(b *assembly.Brain) error {
				_, err := b.Separate("E", "B", first, second, 4)
				return err
			}, "B"},
		} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				s := parse(t, mode, "run:\n"+c.steps+"\n- {remember: x, area: "+c.area+"}\n")
				run, err := s.Start(Settings{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := run.Go(t.Context()); err != nil {
					t.Fatal(err)
				}
				b, err := s.Brain()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.do(b); err != nil {
					t.Fatal(err)
				}
				want, _ := b.Winners(c.area)
				got, _ := run.Brain().Winners(c.area)
				if !slices.Equal(got, want) || len(got) != 20 {
					t.Errorf("winners %v, want %v", got, want)
				}
				if r := run.Result(); r.Mode != mode || r.Seed != 3 {
					t.Errorf("the result is of mode %s, seed %d", r.Mode, r.Seed)
				}
			})
		}
	}
}

// Every kind of step does what it says.
func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		steps string
		want  map[string]float64
	}{
		"repeat counts":  {"- {repeat: 3, as: i, steps: [{activate: E, block: $i}, {measure: b$i, block: E}]}", map[string]float64{"b0": 0, "b1": 1, "b2": 2}},
		"set":            {"- {set: E, winners: [5, 3, 1]}\n- {measure: n, active: E}", map[string]float64{"n": 3}},
		"set a range":    {"- {set: E, winners: 20-39}\n- {measure: b, block: E}", map[string]float64{"b": 1}},
		"set assembly":   {"- {activate: E, block: 2}\n- {remember: x, area: E}\n- {clear: E}\n- {measure: none, active: E}\n- {set: E, winners: x}\n- {measure: o, overlap: [E, x]}", map[string]float64{"none": 0, "o": 1}},
		"overlap of two": {"- {set: E, winners: 0-19}\n- {remember: x, area: E}\n- {set: E, winners: 5-24}\n- {remember: y, area: E}\n- {measure: o, overlap: [x, y]}", map[string]float64{"o": 0.75}},
		"support":        {"- {project: S>A}\n- {measure: w, support: A}", map[string]float64{"w": 20}},
		"fix":            {"- {activate: E, block: 0}\n- {fix: [E]}\n- {project: S>E, steps: 4}\n- {measure: b, block: E}\n- {unfix: E}\n- {measure: s, support: E}", map[string]float64{"b": 0, "s": 0}},
		"learn off":      {"- {learn: off}\n- {form: A, stimulus: S}\n- {measure: w, weight: A}", map[string]float64{"w": 1}},
		"inhibit area":   {"- {inhibit: A, index: 2}\n- {project: S>A}\n- {measure: n, active: A}\n- {disinhibit: A, index: 2}\n- {project: S>A}\n- {measure: m, active: A}", map[string]float64{"n": 0, "m": 20}},
		"inhibit fibre":  {"- {inhibit: [S>A, B], index: 1}\n- {project: S>A}\n- {measure: n, active: A}\n- {disinhibit: [S>A, B], index: 1}\n- {project: S>A}\n- {measure: m, active: A}", map[string]float64{"n": 0, "m": 20}},
		"rivals":         {"- {set: E, winners: [0]}\n- {rivals: [A, E]}\n- {project: [S>A, T>A, E>E]}\n- {measure: a, active: A}\n- {measure: e, active: E}", map[string]float64{"a": 20, "e": 0}},
		"normalize":      {"- {normalize: S>E}\n- {project: S>E}\n- {measure: n, active: E}", map[string]float64{"n": 20}},
		"fibre density":  {"- {project: S>E}\n- {measure: w, weight: E>E}", map[string]float64{"w": 1}},
		"procedure":      {"- {do: both, with: {a: A, s: S, n: 2}}\n- {measure: w, active: A}", map[string]float64{"w": 20}},
		"nested":         {"- {do: outer}\n- {measure: w, active: B}", map[string]float64{"w": 20}},
	} {
		t.Run(name, func(t *testing.T) {
			s := parse(t, "lazy-exact", `
procedures:
  both: {with: [a, s, n], steps: [{project: "$s>$a", steps: $n}, {remember: "kept.$a", area: $a}]}
  outer: [{repeat: 2, steps: [{do: both, with: {a: B, s: T, n: 1}}]}]
run:
`+c.steps+"\n")
			r := carryOut(t, s)
			for name, want := range c.want {
				if v := r.value(name); len(v) != 1 || math.Abs(v[0]-want) > 1e-12 {
					t.Errorf("%s is %v, want %g", name, v, want)
				}
			}
		})
	}
}

// Rounds have every step and area, and winners where they are asked for.
func TestRounds(t *testing.T) {
	r := carryOut(t, parse(t, "exact", "run:\n- project: [S>A, T>B]\n- {project: A>C, steps: 2}\n"))
	var got []string
	for _, x := range r.Rounds {
		got = append(got, fmt.Sprintf("%d%s", x.Step, x.Area))
		if (x.Winners != nil) != (x.Area == "A") || x.Support < 20 || x.Kth < x.Next {
			t.Errorf("round %+v", x)
		}
	}
	if want := []string{"1A", "1B", "2C", "3C"}; !slices.Equal(got, want) {
		t.Errorf("rounds %v, want %v", got, want)
	}
}

const long = `run:
- {form: A, stimulus: S, steps: 6}
- {form: B, stimulus: T, steps: 6}
- repeat: 5
  steps:
  - {project: S>A T>B A>C B>C C>C, steps: 2}
  - branch:
    - {project: S>A A>C C>C, steps: 2}
    - {remember: x, area: C}
    - {project: T>B B>C C>C, steps: 2}
    - {remember: y, area: C}
    - {measure: o, overlap: [x, y]}
- {remember: c, area: C}
- {complete: A, part: 0.5, as: done}
- {measure: kept, overlap: [C, c]}
`

// A run that is interrupted after any step, saved, and resumed gives the same bits.
func TestResumeIsBitEqual(t *testing.T) {
	for _, mode := range modes {
		want := carryOut(t, parse(t, mode, long))
		total := parse(t, mode, long).Rounds
		if len(want.value("o")) != 5 || total != 12+5*6+5 {
			t.Fatalf("%d steps, measures %+v", total, want.Measures)
		}
		for stop := 1; stop <= total; stop++ {
			ctx, cancel := context.WithCancel(t.Context())
			run, err := parse(t, mode, long).Start(Settings{Progress: func(p Progress) {
				if p.Done == stop {
					cancel()
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = run.Go(ctx)
			cancel()
			if !errors.Is(err, context.Canceled) && stop < total {
				t.Fatalf("stopped after %d: %v", stop, err)
			}
			var file bytes.Buffer
			if err := run.Save(&file); err != nil {
				t.Fatal(err)
			}
			again, err := parse(t, mode, long).Resume(&file, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := again.Go(t.Context())
			if err != nil || !again.Done() {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("mode %s, stopped after %d of %d: results differ:\n%v\n%v", mode, stop, total, got, want)
			}
			if a, b := snapshot(t, again), snapshot(t, finished(t, mode)); !bytes.Equal(a, b) {
				t.Fatalf("mode %s, stopped after %d: brains differ", mode, stop)
			}
		}
	}
}

func finished(t *testing.T, mode string) *Run {
	r, err := parse(t, mode, long).Start(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func snapshot(t *testing.T, r *Run) []byte {
	var b bytes.Buffer
	if err := r.Brain().Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A checkpoint that is taken while a branch runs has nothing of it.
func TestSaveWithinBranch(t *testing.T) {
	want := carryOut(t, parse(t, "lazy-exact", long))
	var file bytes.Buffer
	var run *Run
	s := parse(t, "lazy-exact", long)
	run, err := s.Start(Settings{Progress: func(p Progress) {
		if p.Done == 17 && strings.HasPrefix(p.Step, "project") {
			if err := run.Save(&file); err != nil {
				t.Error(err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Go(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, err := s.Resume(&file, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Go(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, or results differ", err)
	}
}

func TestResumeRefuses(t *testing.T) {
	s := parse(t, "exact", "run: [{project: S>A, steps: 3}]\n")
	run, err := s.Start(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := run.Save(&b); err != nil {
		t.Fatal(err)
	}
	whole := b.Bytes()
	flipped := bytes.Clone(whole)
	flipped[40] ^= 1
	for name, file := range map[string][]byte{"empty": nil, "cut": whole[:30], "no brain": whole[:len(whole)-9], "flipped": flipped, "other": []byte("EURYALE-BRAIN 1\n and more of it")} {
		if _, err := s.Resume(bytes.NewReader(file), Settings{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	other := parse(t, "exact", "run: [{project: S>A, steps: 4}]\n")
	if _, err := other.Resume(bytes.NewReader(whole), Settings{}); err == nil || !strings.Contains(err.Error(), "another script") {
		t.Errorf("a checkpoint of another script: %v", err)
	}
}

// Snapshots that a script asks for are handed over, and errors of its steps say where.
func TestSaveAndErrors(t *testing.T) {
	var names []string
	s := parse(t, "lazy-exact", "run:\n- {form: A, stimulus: S, steps: 2}\n- save: formed\n- branch: [{save: inner}]\n")
	_, err := s.Run(t.Context(), Settings{Profile: true, Save: func(name string, b *assembly.Brain) error {
		names = append(names, name)
		return b.Save(&bytes.Buffer{})
	}})
	if err != nil || !slices.Equal(names, []string{"formed", "inner"}) {
		t.Errorf("%v, saved %v", err, names)
	}
	s = parse(t, "lazy-exact", "run:\n- {activate: A, block: 0}\n")
	if _, err := s.Run(t.Context(), Settings{}); err == nil || !strings.Contains(err.Error(), "s.yaml:15:4: activate: ") {
		t.Errorf("a lazy area that never fired: %v", err)
	}
}

// Fibres have what the script gives them, whatever the order of rule and plasticity.
func TestFibres(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
p: 0.1
max_weight: 9
stimuli: {S: 20}
areas: {A: {n: 300, k: 20, beta: 3, rule: willshaw, explicit: true}, B: {n: 300, k: 20, explicit: true}}
fibres:
  S>A: {rule: anti-hebb, beta: 0.5}
  A>B: {p: 0.3}
  B>A: {rule: additive}
winners: on
run:
- project: S>A
- {measure: density, density: A>B}
- {project: S>A A>B B>A, steps: 3}
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Start(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if got := run.At(); got != "step 0 of 4, project at 12:3" {
		t.Errorf("it stands at %s", got)
	}
	r, err := run.Go(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := run.At(); got != "the end of the script, after 4 steps" || !run.Done() {
		t.Errorf("it stands at %s", got)
	}
	// 90000 pairs: a standard deviation of 0.0015.
	if d := r.value("density")[0]; math.Abs(d-0.3) > 0.008 {
		t.Errorf("density %g, want 0.3", d)
	}
	if len(r.Rounds) != 1+3*2 || r.Rounds[6].Winners == nil {
		t.Errorf("%d rounds", len(r.Rounds))
	}
	// What stimuli lose by anti-Hebb halves with each step.
	first := r.Rounds[0].Winners[0]
	b, err := s.Brain()
	if err != nil {
		t.Fatal(err)
	}
	before, err := b.Weight("S", "A", 0, int(first))
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Plan("S>A")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Project(p, 1); err != nil {
		t.Fatal(err)
	}
	if after, _ := b.Weight("S", "A", 0, int(first)); after != before/2 {
		t.Errorf("the weight goes from %g to %g, want half", before, after)
	}
}

// Nearby assemblies have nearby projections, and the brain is as it was.
func TestPreserve(t *testing.T) {
	r := carryOut(t, parse(t, "exact", `run:
- {preserve: B, from: E, first: 0-19, second: 2-21, as: near}
- {preserve: B, from: E, first: 0-19, second: 60-79}
- {measure: n, active: E}
- {measure: mean, weight: E>E}
`))
	if v := r.value("near.before")[0]; v != 0.9 {
		t.Errorf("overlap %g before, want 0.9", v)
	}
	near, far := r.value("near.after")[0], r.value("preserve.after")[0]
	if !(near > far) || r.value("preserve.before")[0] != 0 || r.value("n")[0] != 0 {
		t.Errorf("overlaps %g and %g after: %+v", near, far, r.Measures)
	}
}

// Checkpoints that are whole but wrong are errors, not panics.
func FuzzResume(f *testing.F) {
	s, err := Parse("s.yaml", []byte("p: 1\nareas: {A: {n: 9, k: 3}}\nstimuli: {S: 2}\nrun: [{project: S>A, steps: 2}, {remember: x, area: A}, {project: A>A}]"))
	if err != nil {
		f.Fatal(err)
	}
	r, err := s.Start(Settings{})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := r.Go(context.Background()); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Save(&b); err != nil {
		f.Fatal(err)
	}
	var st standing
	in := bytes.NewReader(b.Bytes())
	if err := checkpoint.Read(in, fileKind, fileVersion, func(d *checkpoint.Decoder) { d.Value(&st) }); err != nil {
		f.Fatal(err)
	}
	brain := b.Bytes()[b.Len()-in.Len():]
	var whole checkpoint.Encoder
	whole.Value(st)
	f.Add(whole.Encoded())
	f.Fuzz(func(t *testing.T, body []byte) {
		var st standing
		d := checkpoint.Decode(body)
		if d.Value(&st); d.Err() != nil {
			return
		}
		var file bytes.Buffer
		if err := checkpoint.Write(&file, fileKind, fileVersion, func(e *checkpoint.Encoder) { e.Value(st) }); err != nil {
			t.Fatal(err)
		}
		file.Write(brain)
		if r, err := s.Resume(&file, Settings{}); err == nil {
			_, _ = r.Go(t.Context())
		}
	})
}
