// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome_test

import (
	"context"
	"fmt"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/connectome"
	"github.com/euryale-dev/euryale/sim/assembly"
)

// Two stimuli are trained to make different assemblies fire.
func ExampleTrain() {
	edges := connectome.Connect(assembly.Fibre{From: "S", To: "A", P: 0.5, N: 40}, 10, nil)
	circuit := &connectome.Circuit{
		Stimuli: []connectome.Stimulus{{Name: "S", N: 10}},
		Areas:   []connectome.Area{{Name: "A", N: 40, K: 4}},
		Fibres:  []*connectome.Fibre{{From: "S", To: "A", Edges: edges}},
		Steps:   1,
	}
	examples := connectome.Examples{
		Stimuli: [][]float64{{1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}},
		Labels:  []int{0, 1},
	}
	readout := connectome.Readout{Area: "A", Assemblies: [][]int{{0, 1, 2, 3}, {10, 11, 12, 13}}}
	trained, err := connectome.Train(context.Background(), circuit, examples, connectome.TrainSettings{
		Losses: []connectome.Loss{readout.Classification(5)}, Readout: &readout, Steps: 100, Batch: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("accuracy %.1f, overlap %.1f\n", trained.Metrics.Accuracy, trained.Metrics.Overlap)
	// Output: accuracy 1.0, overlap 1.0
}

// Overlaps that grow over joint rounds give the distribution of association.
func ExampleFitAssociation() {
	data := connectome.Association{Rounds: []float64{10, 12, 14, 16, 18, 20}, Overlap: []int{25, 34, 46, 58, 68, 80}, K: 100}
	fit, err := connectome.FitAssociation(context.Background(), data, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("slope %.1f\n", fit.Summary().Row("b").Mean)
	// Output: slope 1.2
}
