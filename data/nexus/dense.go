// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !page

package nexus

import "gorgonia.org/tensor"

// Dense returns the matrix as a Gorgonia tensor that shares its memory.
func (m *Matrix) Dense() *tensor.Dense {
	return tensor.New(tensor.WithShape(m.Rows, m.Cols), tensor.WithBacking(m.Data))
}
