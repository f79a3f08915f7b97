// Package assembly simulates the assembly calculus: brain areas of which k neurons
// fire at a time, random connections between them that strengthen where neurons
// fire together, and the assemblies that form.
//
// A [Brain] has areas, stimuli and fibres between them. A [Plan] says which fibres
// are active in a step; [Brain.Project] runs steps and returns what happened.
//
//	b := assembly.New(assembly.Settings{P: 0.05, Seed: 1})
//	err := b.AddStimulus("s", 100)
//	err = b.AddArea(assembly.Area{Name: "A", N: 10000, K: 100, Beta: 0.05})
//	first, err := b.Plan("s>A")
//	again, err := b.Plan("s>A", "A>A")
//	_, err = b.Project(first, 1)
//	trace, err := b.Project(again, 24)
//
// All targets of a step read the winners of the step before. Winners are the k
// neurons of largest input; among equals the lower number wins. Every number is
// drawn from counters keyed by the seed and by the names of what is connected: the
// order in which areas are added changes nothing, nor does the number of threads.
//
// Reference: Papadimitriou et al., PNAS 117 (2020) 14464,
// doi:10.1073/pnas.2001893117.
package assembly
