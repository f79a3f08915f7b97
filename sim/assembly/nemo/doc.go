// Package nemo holds areas of neurons that learn sequences, classes and finite
// automata: dense areas in float64 that are told step by step what fires into them.
//
//	area := nemo.NewArea(1000, 30, 0.1)
//	in := area.From(matrix)
//	area.Step(true, nemo.Firing{in, stimulus})
//
// References: Dabagia, Papadimitriou and Vempala, COLT 2022 (arXiv:2110.03171), and
// Computation with sequences of assemblies, Neural Computation 37 (2025) 193,
// doi:10.1162/neco_a_01720.
package nemo
