// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/models/connectome"
	nb "github.com/euryale-dev/euryale/notebook"
)

func classes(updates int) connectome.Problem {
	return connectome.Problem{
		Stimuli: []connectome.Stimulus{{Name: "S", N: 100}},
		Areas:   []connectome.Area{{Name: "A", N: 150, K: 10}},
		Fibres:  []connectome.ProblemFibre{{From: "S", To: "A", P: 0.1}, {From: "A", To: "A", P: 0.1}},
		Steps:   2, Seed: 1, Updates: updates,
		Task: &connectome.NoisyClasses{Classes: 3, Active: 20, On: 0.5, Off: 0.05, Train: 150, Test: 150},
	}
}

// A circuit is trained, compared with its baselines, saved, and its synapses are counted.
func TestCircuit(t *testing.T) {
	c := nb.NewCircuit("classes", classes(60))
	displays(t, "circuit", c, "150 training", "S>A", "weights")
	trained := c.Train()
	displays(t, "training", trained, "Hebbian", "60 updates")
	if trained.Test.Accuracy < trained.Baselines.Untrained.Accuracy || trained.Test.Accuracy < 0.9 {
		t.Errorf("%v", trained)
	}
	file := filepath.Join(t.TempDir(), "circuit.npz")
	trained.Save(file)
	if info, err := os.Stat(file); err != nil || info.Size() == 0 {
		t.Error(err)
	}
	m := trained.Synapses("S>A")
	total := 0
	for _, n := range m.Count {
		total += n
	}
	if total != len(trained.Fibre("S>A").Weight) || m.K != 100 || len(m.Count) != 150 {
		t.Errorf("%d synapses of %d", total, len(trained.Fibre("S>A").Weight))
	}
	post := nb.SampleAssembly(m, nb.Settings{Seed: 1, Chains: 2, Draws: 300, Warmup: 300})
	displays(t, "posterior", post, "p ")
	if p := post.Summary().Row("p"); p.Mean < 0.095 || p.Mean > 0.105 {
		t.Errorf("%+v", p)
	}
	fails(t, "no fibre \"A>B\": the fibres are S>A, A>A", func() { trained.Synapses("A>B") })
	fails(t, "has done all of its", func() { trained.Continue() })
	fails(t, "want one of p, beta", func() { nb.SampleAssembly(connectome.Measured{Fit: "q"}) })
	fails(t, "nowhere.json", func() { nb.OpenCircuit("nowhere.json") })
}

// Training that is interrupted and continued gives the parameters of training without a break.
func TestInterruptedTraining(t *testing.T) {
	screen := &output{}
	nb.Connect(screen)
	defer nb.Connect(nil)
	go func() {
		for range 10000 {
			screen.Lock()
			begun := slices.ContainsFunc(screen.shown["run 0"], func(s string) bool { return strings.Contains(s, "updates") })
			screen.Unlock()
			if begun && nb.Interrupt() {
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	c := nb.NewCircuit("classes", classes(200))
	part := c.Train()
	if !part.Interrupted || part.State.Step == 0 || part.State.Step >= 200 {
		t.Fatalf("interrupted %v after %d updates", part.Interrupted, part.State.Step)
	}
	displays(t, "part", part, "Continue goes on")
	nb.Connect(nil)
	if whole := c.Train(); !slices.Equal(part.Continue().State.Params, whole.State.Params) {
		t.Error("training that was interrupted ends elsewhere")
	}
}
