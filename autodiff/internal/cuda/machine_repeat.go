// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"slices"

	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// together is the number of runs of a recurrence that are launched as one graph.
const together = 8

// Repeat runs the program so many times, and after each copies arrays, the first of a pair from the second. Inputs are sent
// before the first run and outputs fetched after the last.
func (m *Machine[T]) Repeat(times int, carried [][2]int) error {
	narrower := slices.ContainsFunc(carried, func(c [2]int) bool { return m.source.Narrow[c[0]] != m.source.Narrow[c[1]] })
	if times == 1 || narrower || len(m.plan.hosted) > 0 || m.source.Fails || m.arena == nil || len(m.remote) > 0 {
		return m.repeatSingly(times, carried)
	}
	if err := m.begin(); err != nil {
		return err
	}
	if m.runs == 0 { // what capturing cannot do, as making the workspaces of libraries
		if err := m.once(m.on, carried); err != nil {
			return err
		}
		m.runs, times = 1, times-1
	}
	for ; times >= together && m.captured(&m.several, together, carried); times -= together {
		if err := m.several.Launch(m.on); err != nil {
			return err
		}
	}
	for ; times > 0; times-- {
		err := error(nil)
		if m.captured(&m.one, 1, carried) {
			err = m.one.Launch(m.on)
		} else {
			err = m.once(m.on, carried)
		}
		if err != nil {
			return err
		}
		m.runs++
	}
	for _, c := range carried {
		if err := m.arrived(c[0]); err != nil {
			return err
		}
	}
	if err := m.finish(); err != nil {
		return err
	}
	return m.fetchHeld()
}

// once launches one run and its copies.
func (m *Machine[T]) once(s *device.Stream, carried [][2]int) error {
	if err := m.launchAll(s); err != nil {
		return err
	}
	for _, c := range carried {
		if err := m.copyOn(s, c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}

// captured makes a graph of some runs, unless it is there, and reports whether there is one.
func (m *Machine[T]) captured(graph **device.Graph, runs int, carried [][2]int) bool {
	if *graph != nil {
		return true
	}
	if m.uncaptured || m.waits || m.launches()*runs > mostCaptured {
		return false
	}
	g, err := m.d.Capture(func(s *device.Stream) error {
		for range runs {
			if err := m.once(s, carried); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // a launch without a graph says what is wrong
		m.uncaptured = errors.Is(err, device.ErrUnsupported) || errors.Is(err, drv.OutOfMemory)
		return false
	}
	*graph = g
	return true
}

// repeatSingly is Repeat by single runs.
func (m *Machine[T]) repeatSingly(times int, carried [][2]int) error {
	for range times {
		if err := m.Run(); err != nil {
			return err
		}
		for _, c := range carried {
			if err := m.Carry(c[0], c[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Carry copies an array to an input, on the device if it is there alone.
func (m *Machine[T]) Carry(to, from int) error {
	if m.arena == nil || !m.away(from) || m.source.Narrow[to] != m.source.Narrow[from] {
		if m.arena != nil && m.away(from) {
			if err := m.fetch(from); err != nil {
				return err
			}
		}
		copy(m.host.Reals(to), m.host.Reals(from))
		m.changed[to] = true
		delete(m.ahead, to)
		return nil
	}
	if err := m.copyOn(m.on, to, from); err != nil {
		return err
	}
	return m.arrived(to)
}

// copyOn copies an array to an input on the device.
func (m *Machine[T]) copyOn(s *device.Stream, to, from int) error {
	at, of := m.own(to), m.read(from)
	return s.Copy(at.Buffer, at.Offset, of.Buffer, of.Offset, m.bytes(to))
}

// arrived notes that an input was written on the device. It is fetched if somebody holds its elements, or if steps on the processor read it.
func (m *Machine[T]) arrived(to int) error {
	m.changed[to], m.ahead[to] = false, true
	if m.held[to] || slices.Contains(m.plan.inputs, to) {
		delete(m.ahead, to)
		return m.fetch(to)
	}
	return nil
}

// StorePart sets some elements of an array and sends them, unless the next run sends all.
func (m *Machine[T]) StorePart(buf, from int, data []float64) error {
	to := m.host.Reals(buf)[from : from+len(data)]
	for i, v := range data {
		to[i] = T(v)
	}
	if m.arena == nil || m.held[buf] || m.changed[buf] {
		return nil // the next run sends all
	}
	at := m.own(buf)
	if !m.source.Narrow[buf] {
		return m.on.CopyIn(context.Background(), at.Buffer, at.Offset+m.width(buf)*from, to)
	}
	short := m.brief(len(to))
	shorten(short, to, m.options.Storage)
	return m.on.CopyIn(context.Background(), at.Buffer, at.Offset+m.width(buf)*from, short)
}
