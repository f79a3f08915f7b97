// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
)

// mirror holds, of a program that runs elsewhere, those arrays that are asked for: inputs and outputs,
// which lie one after another, and each array of the steps that run here.
type mirror[T Real] struct {
	edge []T // inputs and outputs
	ints []int64
	own  map[int][]T
	ws   *kernels.Workspace
}

// NewMirror makes a machine that runs single steps of a program, and has memory for those arrays alone
// that these steps use or that are asked for.
func NewMirror[T Real](p *compiler.Program, o Settings) *Machine[T] {
	return &Machine[T]{p: p, o: o, mirror: &mirror[T]{own: map[int][]T{}}, jobs: make([]machineJob[T], len(p.Jobs))}
}

func (m *mirror[T]) array(p *compiler.Program, buf int) []T {
	b := p.Buffers[buf]
	if b.Kind.Edge() {
		return m.between(p)[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
	}
	if m.own[buf] == nil {
		a := aligned[T](b.Size)
		if b.Kind == compiler.ConstBuf {
			for i, v := range b.Value.Data {
				a[i] = T(v)
			}
		}
		m.own[buf] = a
	}
	return m.own[buf]
}

// between returns the inputs and outputs.
func (m *mirror[T]) between(p *compiler.Program) []T {
	if m.edge == nil {
		m.edge = aligned[T](p.Edge())
	}
	return m.edge
}

func (m *mirror[T]) indices(p *compiler.Program, buf int) []int64 {
	if m.ints == nil {
		m.ints = make([]int64, p.Ints)
		for _, b := range p.Buffers {
			if b.Kind == compiler.IntBuf && b.Value.Op == nil {
				copy(m.ints[b.Offset:], b.Value.Ints)
			}
		}
	}
	b := p.Buffers[buf]
	return m.ints[b.Offset : b.Offset+b.Size : b.Offset+b.Size]
}

func (m *mirror[T]) workspace() *kernels.Workspace {
	if m.ws == nil {
		m.ws = &kernels.Workspace{}
	}
	return m.ws
}
