// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

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
// Areas are simulated in one of three modes, and results should say in which:
//
//   - exact (the default): a fixed random graph. Connections are drawn from counters
//     when a neuron first fires; only weights that have changed are stored, so that a
//     million neurons take megabytes.
//   - lazy (Area.Lazy): only neurons that fired are stored, and new ones are drawn from their
//     distribution given that they lost all steps before. Results have the distribution of those
//     of exact areas, and take the time of the supports, not of the areas. Once a third of
//     its neurons has fired, an area stores all of them.
//   - lazy with Settings.Lazy = Normal: as in the reference implementation, which forgets that
//     neurons have lost and draws inputs from a truncated normal distribution. Supports come out
//     some 4 to 90 % too large, most in small or sparse areas.
//
// An operation that needs an area to fire returns a [*SilentError], and not an empty result, if the
// area does not fire and nothing in the plan makes it fire; areas that fire from a threshold, or
// that have rivals, may fall silent as an outcome. [Brain.Continue] runs steps whatever fires.
//
// A [Brain] can be copied, saved and loaded, and then goes on in the same way; areas and fibres can
// be inhibited, fatigued and normalised; Profile measures what steps cost.
//
// Reference: Papadimitriou et al., PNAS 117 (2020) 14464,
// doi:10.1073/pnas.2001893117.
package assembly
