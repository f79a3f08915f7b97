// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package script runs experiments with assemblies that are written down as YAML.
//
// A [Script] has areas, stimuli and fibres, procedures, and a list of steps; a [Run] carries it out
// on a brain and keeps every round and every named measure. A run that is interrupted can be saved,
// and then goes on, to the last bit, as it would have.
//
//	s, err := script.Parse("project.yaml", []byte(`
//	p: 0.01
//	stimuli: {S: 100}
//	areas: {A: {n: 10000, k: 100, beta: 0.05}}
//	run:
//	  - {form: A, stimulus: S, steps: 25}
//	  - {remember: formed, area: A}
//	  - {complete: A, part: 0.5, as: completed}
//	`))
//	result, err := s.Run(ctx, script.Settings{})
//	fmt.Println(result.Measures) // [{completed overlap 30 ...}]
//
// [Reference] lists all steps. Parse reports all mistakes at once, each with line, column and the
// nearest name that is known.
package script
