// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Own makes a function that graphs compute known, with one signature.
func Own(name string, args []typing.Type, result typing.Type, node func(in []*ad.Node) *ad.Node) {
	o := typing.Overload{Result: func([]typing.Type) (typing.Type, bool) { return result, true }}
	for _, a := range args {
		o.Args = append(o.Args, []typing.Type{a})
	}
	functions[name] = &Function{Name: name, Overloads: []typing.Overload{o}, Do: func(c *Call) (value.Value, error) {
		in := make([]*ad.Node, len(c.Args))
		for i, a := range c.Args {
			in[i] = a.Node()
		}
		y := node(in)
		if y == nil {
			return value.Value{}, fmt.Errorf("the function %s returned nil: want a node", name)
		}
		if err := y.Err(); err != nil {
			return value.Value{}, fmt.Errorf("the function %s: %w", name, err)
		}
		if rank := result.Dims + result.Kind.Rank(); len(y.Shape()) != rank {
			return value.Value{}, fmt.Errorf("the function %s returned the shape %v: want %d axes, as %s has", name, y.Shape(), rank, result)
		}
		out := value.Of(result, y, y.Shape()...)
		if allKnown(c.Args...) {
			return evaluate(out)
		}
		return out, nil
	}, Graph: true}
}
