// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

const classes = `{"stimuli": [{"name": "S", "n": 60}], "areas": [{"name": "A", "n": 100, "k": 8}],
 "fibres": [{"from": "S", "to": "A", "p": 0.2, "learn": ["weights", "gain"]}, {"from": "A", "to": "A", "p": 0.1}],
 "steps": 2, "seed": 3, "task": {"classes": 3, "active": 20, "on": 0.5, "off": 0.05, "train": 150, "test": 200},
 "losses": [{"name": "classification"}, {"name": "weights", "weight": 0.01}], "updates": 120, "batch": 16}`

// A problem trains past the untrained circuit and past Hebb's rule.
func TestProblem(t *testing.T) {
	p, err := ParseProblem([]byte(classes))
	if err != nil {
		t.Fatal(err)
	}
	trainee, err := p.Build(Examples{}, Examples{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	out, err := Train(ctx, trainee.Circuit, trainee.Train, trainee.Settings)
	if err != nil {
		t.Fatal(err)
	}
	before, err := trainee.Circuit.Evaluate(ctx, trainee.Circuit.Start(), trainee.Test, trainee.Readout)
	if err != nil {
		t.Fatal(err)
	}
	hebb, err := Hebbian(ctx, trainee.Circuit, trainee.Train, trainee.Readout, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	ruled, err := hebb.Evaluate(ctx, hebb.Start(), trainee.Test, trainee.Readout)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("accuracy %.3f, untrained %.3f, Hebb %.3f; overlap %.3f, %.3f, %.3f", out.Metrics.Accuracy, before.Accuracy, ruled.Accuracy, out.Metrics.Overlap, before.Overlap, ruled.Overlap)
	if out.Metrics.Accuracy < 0.95 || out.Metrics.Accuracy <= ruled.Accuracy || ruled.Accuracy <= before.Accuracy || out.Metrics.Overlap <= before.Overlap+0.3 {
		t.Error("training does not stand out")
	}
}

func TestBadProblems(t *testing.T) {
	for want, change := range map[string][2]string{
		"fire 200 of its 100":                           {`"k": 8`, `"k": 200`},
		`did you mean classification?`:                  {`"name": "classification"`, `"name": "clasification"`},
		"probability 1.5":                               {`"p": 0.2`, `"p": 1.5`},
		`source of a fibre is "T"`:                      {`"from": "S"`, `"from": "T"`},
		"3 classes of 40 neurons among the 60":          {`"active": 20`, `"active": 40`},
		"line 3, column 2: there is no field \"stepz\"": {`"steps"`, `"stepz"`},
		"0 <= off < on":                                 {`"off": 0.05`, `"off": 0.7`},
		"only one of the two":                           {`"seed": 3`, `"data": "x.npz"`},
		"fire -1 of its 100":                            {`"k": 8`, `"k": -1`},
		"fire 0 of its 100":                             {`"k": 8`, `"k": 0`},
		"S has 0 neurons":                               {`"n": 60`, `"n": 0`},
		"-1 updates":                                    {`"updates": 120`, `"updates": -1`},
		"batches of -1":                                 {`"batch": 16`, `"batch": -1`},
		"0 steps":                                       {`"steps": 2`, `"steps": 0`},
		"no fibres":                                     {`"fibres": [{"from": "S", "to": "A", "p": 0.2, "learn": ["weights", "gain"]}, {"from": "A", "to": "A", "p": 0.1}]`, `"fibres": []`},
		"both fibres and fibers":                        {`"seed": 3`, `"fibers": [{"from": "A", "to": "A", "p": 0.1}]`},
		"max_weight is -1":                              {`"seed": 3`, `"max_weight": -1`},
		"hebb -1":                                       {`"seed": 3`, `"hebb": -1`},
		"do not combine none":                           {`["weights", "gain"]`, `["none", "weights"]`},
		"name each only once":                           {`["weights", "gain"]`, `["gain", "gain"]`},
		`stimulus cannot be called "../x"`:              {`"name": "S"`, `"name": "../x"`},
		`area cannot be called ".A"`:                    {`"name": "A"`, `"name": ".A"`},
		"want none below 0":                             {`"weight": 0.01`, `"weight": -0.01`},
		"loss stability has 1 step:":                    {`"name": "classification"`, `"name": "stability"`},
		"more text after the end":                       {`"batch": 16}`, `"batch": 16} {}`},
	} {
		text := classes
		if strings.Contains(want, "has 1 step:") {
			text = strings.Replace(classes, `"steps": 2`, `"steps": 1`, 1)
		}
		_, err := ParseProblem([]byte(strings.Replace(text, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p, err := ParseProblem([]byte(strings.Replace(classes, `"n": 100`, `"n": 20`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Build(Examples{}, Examples{}); err == nil || !strings.Contains(err.Error(), "do not fit") {
		t.Error(err)
	}
}

// changed is the document of classes with a key set anew.
func changed(t *testing.T, more string) []byte {
	t.Helper()
	var document, set map[string]json.RawMessage
	for text, into := range map[string]*map[string]json.RawMessage{classes: &document, "{" + more + "}": &set} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	maps.Copy(document, set)
	b, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What only the built problem shows is refused before training too.
func TestBadBuilds(t *testing.T) {
	for want, more := range map[string]string{
		"learning rate is -1":        `"lr": -1`,
		"temperatures go from -1":    `"warm": -1`,
		`precision is "16"`:          `"precision": "16"`,
		"contains neuron 100":        `"readout": {"assemblies": [[1, 2], [3], [100]]}`,
		"contains neuron 1 twice":    `"readout": {"assemblies": [[1, 1, 1], [2], [3]]}`,
		"training examples":          `"readout": {"assemblies": [[1], [2]]}`,
		"fibre S>A appears twice":    `"fibres": [{"from": "S", "to": "A", "p": 0.2}, {"from": "S", "to": "A", "p": 0.2}]`,
		"every fibre has FixWeights": `"fibres": [{"from": "S", "to": "A", "p": 0.2, "learn": ["none"]}]`,
		`name "S" of an area`:        `"stimuli": [{"name": "S", "n": 60}, {"name": "S", "n": 60}]`,
		"gain -1":                    `"fibres": [{"from": "S", "to": "A", "p": 0.2, "gain": -1}]`,
	} {
		p, err := ParseProblem(changed(t, more))
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		if _, err := p.Build(Examples{}, Examples{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	d := demo(1, 5, 5)
	if _, err := Hebbian(context.Background(), d.circuit, d.train, d.readout, -1); err == nil || !strings.Contains(err.Error(), "rule is -1") {
		t.Error(err)
	}
}
