// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"fmt"
	"maps"
	"slices"

	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// BindDevice lets an input be read from memory of the device; that of no buffer restores the array.
func (m *Machine[T]) BindDevice(buf int, from device.Part) error {
	if m.arena == nil {
		return fmt.Errorf("no part of the program runs on %v: use SetInput and Output instead", m.d)
	}
	before, was := m.remote[buf]
	if from.Buffer == nil {
		delete(m.remote, buf)
		m.changed[buf] = true
		if err := m.address(buf); err != nil {
			return m.undo(buf, before, was, err)
		}
		return nil
	}
	if err := from.Buffer.Device().Default().Use(from, m.bytes(buf)); err != nil {
		return err
	}
	if m.ahead[buf] {
		if err := m.fetch(buf); err != nil {
			return err
		}
		delete(m.ahead, buf)
	}
	m.remote[buf] = from
	if err := m.address(buf); err != nil {
		return m.undo(buf, before, was, err)
	}
	if m.bound[buf] {
		m.bound[buf] = false
		m.host.Bind(buf, nil)
	}
	return nil
}

// undo leaves an input where it was read from before a change that failed.
func (m *Machine[T]) undo(buf int, before device.Part, was bool, err error) error {
	if delete(m.remote, buf); was {
		m.remote[buf] = before
	}
	return err
}

// address puts the address of an array into the table that kernels read. What fails is done by the next run.
func (m *Machine[T]) address(buf int) error {
	m.moved[buf] = true
	at := m.read(buf)
	if m.calls && m.graph != nil { // which has the address
		if err := m.graph.Close(); err != nil {
			return err
		}
		m.graph = nil
	}
	from, to := len(m.addresses), 0
	for i, id := range m.source.Addresses {
		if id == buf {
			m.addresses[i] = uint64(at.Buffer.Uintptr()) + uint64(at.Offset)
			from, to = min(from, i), i+1
		}
	}
	err := error(nil)
	if from < to {
		err = m.on.CopyIn(context.Background(), m.table, 8*from, m.addresses[from:to])
	}
	if err == nil {
		delete(m.moved, buf)
	}
	return err
}

// read returns the memory that kernels read an array from.
func (m *Machine[T]) read(buf int) device.Part {
	if at, ok := m.remote[buf]; ok && m.direct(at) {
		return at
	}
	return m.own(buf)
}

// direct reports whether kernels can read an array where it is; others are copied. Kernels may read 16
// bytes at once, and must not write what they read: outputs of the same program are copied too.
func (m *Machine[T]) direct(at device.Part) bool {
	return at.Buffer.Device() == m.d && (at.Buffer.Uintptr()+uintptr(at.Offset))%16 == 0 && at.Buffer != m.arena && at.Buffer != m.ints
}

// bytes returns the size of an array.
func (m *Machine[T]) bytes(buf int) int { return m.width(buf) * m.p.Size(buf) }

func (m *Machine[T]) isRemote(buf int) bool {
	_, ok := m.remote[buf]
	return ok
}

// prepare tells the device which of its memory a run reads, copies what kernels cannot read where it is,
// and fetches what steps on the processor need.
func (m *Machine[T]) prepare() error {
	if err := m.follow(m.on, m.d.Default()); err != nil {
		return err
	}
	for buf := range m.moved {
		if err := m.address(buf); err != nil {
			return err
		}
	}
	for _, buf := range slices.Sorted(maps.Keys(m.remote)) {
		at := m.remote[buf]
		var err error
		if m.direct(at) {
			err = m.on.Use(at, m.bytes(buf))
		} else {
			own := m.own(buf)
			err = m.on.Copy(own.Buffer, own.Offset, at.Buffer, at.Offset, m.bytes(buf))
		}
		if err == nil && slices.Contains(m.plan.inputs, buf) {
			err = m.fetch(buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish sends what steps on the processor wrote and somebody reads on the device.
func (m *Machine[T]) finish() error {
	for b := range m.kept {
		if err := m.offer(b); err != nil {
			return err
		}
	}
	return m.follow(m.d.Default(), m.on)
}

// follow lets work that comes to a stream wait for what is on another, if arrays are shared with other
// work on the device: all of that is in the order of the default stream.
func (m *Machine[T]) follow(s, other *device.Stream) error {
	if len(m.remote) == 0 && len(m.kept) == 0 {
		return nil
	}
	return s.Follow(other)
}

// OutputDevice returns the memory of an array on the device.
func (m *Machine[T]) OutputDevice(buf int) (device.Part, error) {
	if m.arena == nil {
		return device.Part{}, fmt.Errorf("no part of the program runs on %v: use SetInput and Output instead", m.d)
	}
	m.kept[buf] = true
	if m.runs > 0 {
		if err := m.finish(); err != nil {
			return device.Part{}, err
		}
	}
	return m.read(buf), nil
}

// offer sends an array that a step on the processor wrote.
func (m *Machine[T]) offer(buf int) error {
	if m.plan.final[buf] == onProcessor {
		return m.send(buf)
	}
	return nil
}
