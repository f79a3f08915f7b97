// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command assemblies draws the figures of the papers on the assembly calculus: how an
// assembly forms, how two come to overlap, how a part recalls the whole, and how two form
// a third. The scripts in the same folder do the same with euryale sim assembly.
//
// References: Papadimitriou et al., PNAS 117 (2020) 14464, doi:10.1073/pnas.2001893117;
// Mitropolsky, Collins and Papadimitriou, TACL 9 (2021) 1374, doi:10.1162/tacl_a_00432.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/sim/assembly"
	"github.com/euryale-dev/euryale/viz"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := report(os.Stdout, dir, size{n: 1e5, k: 317, p: 0.01, steps: 100}); err != nil {
		log.Fatal(err)
	}
}

// size holds the size of the areas and the number of steps for which assemblies form.
type size struct {
	n, k  int
	p     float64 // probability of a synapse where assemblies form
	steps int
}

// dense is the probability of a synapse where assemblies are associated and completed.
// With a probability of 0.01 they fall apart without their stimulus.
const dense = 0.05

// report draws the figures into a folder and prints the results that they show.
func report(w io.Writer, dir string, s size) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		draw func(io.Writer, size) (*viz.Figure, error)
	}{{"support", support}, {"association", association}, {"completion", completion}, {"merge", merge}} {
		fmt.Fprintf(w, "%s\n", x.name)
		f, err := x.draw(w, s)
		if err != nil {
			return err
		}
		f.DPI = 100
		if err := os.WriteFile(filepath.Join(dir, x.name+".png"), f.PNG(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// brain makes a brain with stimuli and lazy areas that all have the same size.
func (s size) brain(set assembly.Settings, beta float64, stimuli, areas []string) (*assembly.Brain, error) {
	b := assembly.New(set)
	for _, x := range stimuli {
		if err := b.AddStimulus(x, s.k); err != nil {
			return nil, err
		}
	}
	for _, x := range areas {
		if err := b.AddArea(assembly.Area{Name: x, N: s.n, K: s.k, Beta: beta, Lazy: true}); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// project runs a number of steps with the given fibres.
func project(b *assembly.Brain, steps int, fibres string) ([][]assembly.Round, error) {
	p, err := b.Plan(fibres)
	if err != nil {
		return nil, err
	}
	return b.Project(p, steps)
}
