// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const smallest = `{"stimuli": [{"name": "S", "n": 12}], "areas": [{"name": "A", "n": 20, "k": 3}],
 "fibres": [{"from": "S", "to": "A", "p": 0.5}], "steps": 1, "seed": 4, "updates": 6, "batch": 4,
 "readout": {"area": "A", "assemblies": []},
 "task": {"classes": 2, "active": 5, "on": 0.6, "off": 0.05, "train": 20, "test": 10}}`

func built(t *testing.T, text string) *Trainee {
	t.Helper()
	p, err := ParseProblem([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Build(Examples{}, Examples{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A checkpoint is the state, for this problem only, and no byte of it may change.
func TestCheckpoint(t *testing.T) {
	a := built(t, smallest)
	out, err := Train(context.Background(), a.Circuit, a.Train, a.Settings)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.SaveState(&file, out.TrainState); err != nil {
		t.Fatal(err)
	}
	again := built(t, smallest)
	got, err := again.LoadState(bytes.NewReader(file.Bytes()))
	if err != nil || !reflect.DeepEqual(got.Params, out.Params) || got.Step != 6 || !reflect.DeepEqual(got.Loss, out.Loss) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range file.Len() {
		b := bytes.Clone(file.Bytes())
		b[i] ^= 1
		if _, err := again.LoadState(bytes.NewReader(b)); !errors.As(err, new(*FormatError)) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := again.LoadState(bytes.NewReader(b[:i])); !errors.As(err, new(*FormatError)) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	other := built(t, strings.Replace(smallest, `"seed": 4`, `"seed": 5`, 1))
	if _, err := other.LoadState(&file); !errors.As(err, new(*FormatError)) || !strings.Contains(err.Error(), "not those") {
		t.Errorf("another problem: %v", err)
	}
}

// A checksum that fits does not make a state fit.
func TestCheckpointStates(t *testing.T) {
	a := built(t, smallest)
	a.Settings.Steps = 3
	out, err := Train(context.Background(), a.Circuit, a.Train, a.Settings)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s *TrainState){
		"parameters":  func(s *TrainState) { s.Params = s.Params[1:] },
		"4 updates":   func(s *TrainState) { s.Step = 4 },
		"-1 updates":  func(s *TrainState) { s.Step = -1 },
		"2 losses":    func(s *TrainState) { s.Loss = s.Loss[1:] },
		"of Adam":     func(s *TrainState) { s.Adam.Step = 1 },
		"in memory 0": func(s *TrainState) { s.Adam.Buffers[0] = nil },
	} {
		s := out.TrainState.clone()
		change(&s)
		var file bytes.Buffer
		if err := a.SaveState(&file, s); err != nil {
			t.Fatal(err)
		}
		if _, err := a.LoadState(&file); !errors.As(err, new(*FormatError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		set := a.Settings
		set.Resume = &s
		if _, err := Train(context.Background(), a.Circuit, a.Train, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Train: %v, want %q", err, want)
		}
	}
}
