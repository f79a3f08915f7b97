// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"fmt"
	"regexp"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
)

// Function is a function that programs may call without defining it.
type Function struct {
	// Name is that of the function. A density ends in _lpdf or _lpmf, has the value first, and may stand after ~.
	Name string
	// Args and Result are types of the language, such as real, vector, matrix, int or vector[], an array of vectors.
	Args   []string
	Result string
	// Node makes the graph of a call. Its result has the axes of Result: none for real.
	Node func(in []*ad.Node) *ad.Node
}

// functionName matches names that the language allows.
var functionName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// Register adds a function to the language. It is meant for init functions, and panics if the definition is incomplete or the name is taken.
func Register(f Function) {
	switch {
	case !functionName.MatchString(f.Name):
		panic(fmt.Sprintf("stan: %q cannot name a function: use letters, digits and underscores, and begin with a letter", f.Name))
	case library.Find(f.Name) != nil:
		panic(fmt.Sprintf("stan: a function called %q exists already: choose another name", f.Name))
	case f.Node == nil:
		panic(fmt.Sprintf("stan: the function %q was given nil as the Go function that makes its node: pass one", f.Name))
	case len(f.Args) == 0:
		panic(fmt.Sprintf("stan: the function %q has no arguments: give it at least one", f.Name))
	}
	var args []typing.Type
	for _, a := range f.Args {
		args = append(args, typing.Parse(a))
	}
	library.Own(f.Name, args, typing.Parse(f.Result), f.Node)
}
