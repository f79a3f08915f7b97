// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command connectome trains the synapses of an area to answer stimuli with assemblies of
// its own. It then infers plasticity and connection probability from an assembly that it
// watches form, as a posterior sampled by NUTS with the simulator inside.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/sim/assembly"
)

func main() {
	if err := train(os.Stdout); err != nil {
		log.Fatal(err)
	}
	if err := watch(os.Stdout, 24); err != nil {
		log.Fatal(err)
	}
}

// train prints how well hard assemblies classify noisy stimuli: without training, after
// Hebb's rule with a teacher, and after training.
func train(w io.Writer) error {
	ctx := context.Background()
	problem := connectome.Problem{
		Stimuli: []connectome.Stimulus{{Name: "S", N: 200}},
		Areas:   []connectome.Area{{Name: "A", N: 300, K: 15}},
		Fibres:  []connectome.ProblemFibre{{From: "S", To: "A", P: 0.1}, {From: "A", To: "A", P: 0.1}},
		Steps:   3, Seed: 1,
		Task: &connectome.NoisyClasses{Classes: 5, Active: 20, On: 0.5, Off: 0.05, Train: 500, Test: 1000},
	}
	t, err := problem.Build(connectome.Examples{}, connectome.Examples{})
	if err != nil {
		return err
	}
	out, err := connectome.Train(ctx, t.Circuit, t.Train, t.Settings)
	if err != nil {
		return err
	}
	hebb, err := connectome.Hebbian(ctx, t.Circuit, t.Train, t.Readout, 0.02)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-10s %8s %8s\n", "", "accuracy", "overlap")
	for _, row := range []struct {
		name string
		c    *connectome.Circuit
		x    []float64
	}{{"untrained", t.Circuit, t.Circuit.Start()}, {"Hebbian", hebb, hebb.Start()}, {"trained", t.Circuit, out.Params}} {
		m, err := row.c.Evaluate(ctx, row.x, t.Test, t.Readout)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%-10s %8.3f %8.3f\n", row.name, m.Accuracy, m.Overlap)
	}
	return nil
}

// The true values that watch should recover.
const (
	neurons, k = 1000, 30
	p, beta    = 0.1, 0.15
)

// watch lets an assembly form, counts the neurons that keep firing from step to step, and
// samples the posterior given these counts. graphs is the number of graphs simulated at
// each point of the emulator's surface.
func watch(w io.Writer, graphs int) error {
	ctx := context.Background()
	overlap, err := form()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nneurons that fire on, of %d: %v\n", k, overlap)
	simulator, err := connectome.Simulator{N: neurons, K: k, Steps: len(overlap) + 1}.Emulated(ctx, graphs)
	if err != nil {
		return err
	}
	fit, err := connectome.FitSimulator(ctx, simulator, overlap, infer.Settings{Seed: 1, TargetAccept: 0.9})
	if err != nil {
		return err
	}
	s := fit.Summary()
	for _, row := range []struct {
		name  string
		truth float64
	}{{"beta", beta}, {"kp", k * p}} {
		r := s.Row(row.name)
		fmt.Fprintf(w, "%-4s %.2f +- %.2f, truth %.2f; R-hat %.2f\n", row.name, r.Mean, r.SD, row.truth, r.RHat)
	}
	model, err := fit.CheckModel(infer.CheckSettings{})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, fit.Diagnose().Verdict())
	fmt.Fprintln(w, model.Summary())
	return nil
}

// form projects a stimulus into an area and returns the overlaps between successive
// steps.
func form() (overlap []int, err error) {
	b := assembly.New(assembly.Settings{P: p, Seed: 7})
	if err := b.AddStimulus("S", k); err != nil {
		return nil, err
	}
	if err := b.AddArea(assembly.Area{Name: "A", N: neurons, K: k, Beta: beta}); err != nil {
		return nil, err
	}
	trace, err := b.Form("S", "A", 10)
	if err != nil {
		return nil, err
	}
	for _, step := range trace[1:] {
		overlap = append(overlap, step[0].Kept)
	}
	return overlap, nil
}
