// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package nemo holds areas of neurons that learn sequences, classes and finite
// automata: explicit areas in float64 that are told step by step what fires into them.
//
// An [Area] fires its K neurons of largest input. What fires into it comes through a
// [Matrix] of synapses, which [Wiring] draws and which strengthen where neurons fire
// one after the other. Fields of an area change how winners are chosen: bias, fatigue,
// thresholds; [Compete] lets areas inhibit each other.
//
//	area, err := nemo.NewArea(1000, 30, 0.1)
//	wires := nemo.Wiring{P: 0.25, Seed: 1}
//	area.Recurrent, err = wires.Matrix("area>area", 1000, 1000)
//	in, err := wires.Matrix("stimulus>area", 1000, 1000)
//	err = area.Step(true, nemo.Firing{Through: in, Neurons: nemo.Block(0, 30)})
//
// Several learners are built from areas: [Sequence], which recalls a sequence from its first item,
// [Machine], a finite automaton, [Automaton], a probabilistic one that emits symbols, [Coin] and
// [LearnedCoin], which choose by chance, and [Classifier].
//
// Weights have no bound: normalise them now and then where learning goes on for
// thousands of steps.
//
// References: Dabagia, Papadimitriou and Vempala, COLT 2022 (arXiv:2110.03171), and
// Computation with sequences of assemblies, Neural Computation 37 (2025) 193,
// doi:10.1162/neco_a_01720.
package nemo
