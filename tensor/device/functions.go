// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"

	gt "gorgonia.org/tensor"
)

// Relu computes max(x, 0) of every element, and NaN where x is NaN, on the device that holds the array.
// The options are those of tensor.Exp.
func Relu(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) { return apply("relu", a, opts) }

// Sigmoid computes 1 / (1 + exp(-x)) of every element, on the device that holds the array. The options
// are those of tensor.Exp.
func Sigmoid(a gt.Tensor, opts ...gt.FuncOpt) (gt.Tensor, error) { return apply("sigmoid", a, opts) }

// apply computes a map for which Gorgonia has no function.
func apply(name string, a gt.Tensor, opts []gt.FuncOpt) (gt.Tensor, error) {
	e, ok := a.Engine().(*Engine)
	if !ok {
		return nil, fmt.Errorf("%w: the array of shape %v belongs to engine %v: copy it with Engine.ToDevice", ErrNotHere, a.Shape(), a.Engine())
	}
	return e.unary(name, a, opts)
}
