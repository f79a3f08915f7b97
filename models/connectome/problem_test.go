package connectome

import (
	"context"
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
		"fires 200 of 100":                 {`"k": 8`, `"k": 200`},
		`did you mean classification?`:     {`"name": "classification"`, `"name": "clasification"`},
		"probability 1.5":                  {`"p": 0.2`, `"p": 1.5`},
		`fibre from "T"`:                   {`"from": "S"`, `"from": "T"`},
		"3 classes of 40 neurons among 60": {`"active": 20`, `"active": 40`},
		"unknown field":                    {`"steps"`, `"stepz"`},
		"0 <= off < on":                    {`"off": 0.05`, `"off": 0.7`},
		"want one of the two":              {`"seed": 3`, `"data": "x.npz"`},
	} {
		_, err := ParseProblem([]byte(strings.Replace(classes, change[0], change[1], 1)))
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
