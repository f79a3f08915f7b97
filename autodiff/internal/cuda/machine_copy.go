// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// send copies an array to the device, fetch one from it.
func (m *Machine[T]) send(buf int) error {
	if !m.source.Narrow[buf] || m.arena == nil {
		return m.copy(buf, m.on.CopyIn)
	}
	from := m.host.Reals(buf)
	to := m.brief(len(from))
	shorten(to, from, m.options.Storage)
	at := m.read(buf)
	return m.on.CopyIn(context.Background(), at.Buffer, at.Offset, to)
}

func (m *Machine[T]) fetch(buf int) error {
	if !m.source.Narrow[buf] || m.arena == nil {
		return m.copy(buf, m.copyOut)
	}
	to := m.host.Reals(buf)
	from := m.brief(len(to))
	at := m.read(buf)
	if err := m.on.CopyOut(context.Background(), from, at.Buffer, at.Offset); err != nil {
		return err
	}
	lengthen(to, from, m.options.Storage)
	return nil
}

func (m *Machine[T]) copyOut(ctx context.Context, from *device.Buffer, offset int, to any) error {
	return m.on.CopyOut(ctx, to, from, offset)
}

func (m *Machine[T]) copy(buf int, do func(ctx context.Context, on *device.Buffer, offset int, here any) error) error {
	if m.arena == nil {
		return nil
	}
	at := m.read(buf)
	if m.p.Buffers[buf].Kind == compiler.IntBuf {
		return do(context.Background(), at.Buffer, at.Offset, m.host.Indices(buf))
	}
	return do(context.Background(), at.Buffer, at.Offset, m.host.Reals(buf))
}

// brief is the memory in which narrow arrays are converted.
func (m *Machine[T]) brief(n int) []uint16 {
	if len(m.short) < n {
		m.short = make([]uint16, n)
	}
	return m.short[:n]
}

// own returns the memory of an array on the device.
func (m *Machine[T]) own(buf int) device.Part {
	if m.p.Buffers[buf].Kind == compiler.IntBuf {
		return m.ints.At(m.layout.at[buf])
	}
	return m.arena.At(m.layout.at[buf])
}

// memory returns the memory of an array, or that of partial results, to libraries.
func (m *Machine[T]) memory(buf int) device.Part {
	if buf == scratch {
		return m.part.At(0)
	}
	return m.read(buf)
}
