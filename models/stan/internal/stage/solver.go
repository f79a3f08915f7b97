// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/types"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// solver is a function that calls a function of the program.
type solver struct {
	result func(args []types.Type) (types.Type, error)
	do     func(m *Machine, x *syntax.Call) (value.Value, error)
}

var solvers = map[string]solver{}

// Solver returns the type of the result of a function that takes another one.
func Solver(name string) (func(args []types.Type) (types.Type, error), bool) {
	s, ok := solvers[name]
	return s.result, ok
}

// Solvers lists the functions that take another one.
func Solvers() (names []string) {
	for n := range solvers {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
