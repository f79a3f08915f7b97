// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

// Scan is the attribute of a step that runs a program again and again. The inputs of the program are the
// carries, an element of each stacked input, and what all steps share; its outputs are the next carries and
// the results.
type Scan struct {
	Body    *Program
	Steps   int
	Reverse bool // whether it runs from the last element of the inputs to the first
	Carries int
	Inputs  int
	Results int
	// Count is the carry with the number of steps to run, and Until the one that ends the run before a step once it is 0; -1 for
	// none. Of carries of several lanes the largest number counts, and the run ends when all are 0. Results of steps
	// that are not run are 0.
	Count, Until int
	// Number is the input that is not stacked but is the number of the step, its place in the stacked ones; -1 for none.
	Number int
}

// Place returns the element of the inputs that step t of so many reads.
func (s *Scan) Place(t, steps int) int {
	if s.Reverse {
		return steps - 1 - t
	}
	return t
}

// inside returns the program that a job runs, or nil.
func (j *Job) inside() *Program {
	if j.Step != nil {
		if s, ok := j.Step.Obj.(*Scan); ok {
			return s.Body
		}
	}
	return nil
}
