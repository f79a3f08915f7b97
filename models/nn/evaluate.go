// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/tensor"
)

// Evaluation holds means over examples: each batch counts in proportion to the number of its
// examples.
type Evaluation struct {
	Loss   float64
	Values map[string]float64
}

// Evaluate computes the loss and the values of examples, without dropout and with running
// statistics.
func (n *Network) Evaluate(ctx context.Context, data Source) (*Evaluation, error) {
	out := &Evaluation{Values: map[string]float64{}}
	_, err := n.each(ctx, data, func(e *evaluation, part float64) {
		out.Loss += part * e.state.OutputFloat64(0)[0]
		for i, name := range e.names {
			out.Values[name] += part * e.state.OutputFloat64(1 + i)[0]
		}
	})
	return out, err
}

// Predict computes the Results of examples, each stacked along the first axis. The arrays of the
// last inputs, such as labels, may be missing if no result depends on them.
func (n *Network) Predict(ctx context.Context, data Source) (map[string]*tensor.Tensor, error) {
	if a, ok := data.(*arrays); ok && a.n > 0 && len(a.data) < len(n.inputs) {
		e, err := n.evaluation(min(n.settings.Batch, a.n))
		if err != nil {
			return nil, err
		}
		for i, x := range n.inputs[len(a.data):] {
			if e.needed[len(a.data)+i] {
				return nil, fmt.Errorf("nn: there are %d arrays for the %d inputs of the network, but its results depend on input %s too: give it an array", len(a.data), len(n.inputs), x.Name)
			}
		}
		data = firstArrays{a}
	}
	all, shapes := map[string][]float64{}, map[string][]int{}
	examples, err := n.each(ctx, data, func(e *evaluation, _ float64) {
		for i, name := range e.arrays {
			k := 1 + len(e.names) + i
			all[name] = append(all[name], e.state.OutputFloat64(k)...)
			shapes[name] = e.state.Program().OutputShape(k)
		}
	})
	if err != nil {
		return nil, err
	}
	out := map[string]*tensor.Tensor{}
	for name, v := range all {
		shapes[name][0] = examples
		if out[name], err = tensor.From(v, shapes[name]...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each computes batches of examples, the last of which may be smaller, and tells done what part of all they are. It returns the
// number of examples.
func (n *Network) each(ctx context.Context, data Source, done func(e *evaluation, part float64)) (examples int, err error) {
	if err := given.Args("nn", "ctx", ctx, "data", data); err != nil {
		return 0, err
	}
	examples = data.Len()
	if examples <= 0 {
		return 0, errors.New("nn: there are no examples to evaluate: give at least one")
	}
	var last *evaluation // has the parameters
	for first := 0; first < examples; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		count := min(n.settings.Batch, examples-first)
		e, err := n.evaluation(count)
		if err != nil {
			return 0, err
		}
		batch := make([]int, count)
		for i := range batch {
			batch[i] = first + i
		}
		if err := fill(e.state, data, batch, n.rows(count)); err != nil {
			return 0, err
		}
		if e != last {
			k := len(n.inputs)
			if err := errors.Join(e.state.SetInput(k, n.values), e.state.SetInput(k+1, n.running)); err != nil {
				return 0, err
			}
			last = e
		}
		if err := e.state.Run(); err != nil {
			return 0, err
		}
		done(e, float64(count)/float64(examples))
		first += count
	}
	return examples, nil
}
