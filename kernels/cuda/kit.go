// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
)

// Launch starts a kernel of the module on a stream, as Function.Launch does, without dynamic shared memory.
func (m *Module) Launch(s *Stream, kernel string, grid, block Dim, args ...any) error {
	f, err := m.Function(kernel)
	if err != nil {
		return err
	}
	return f.Launch(s, grid, block, 0, args...)
}

// Launcher starts kernels of a module on a stream until one fails, so that calls of Run may follow each other unchecked.
type Launcher struct {
	Module *Module
	Stream *Stream

	err error
}

// Run starts the kernel of that name with the given number of threads in a block. After an error it does nothing.
func (l *Launcher) Run(kernel string, grid Dim, threads int, args ...any) {
	if l.err == nil {
		l.err = l.Module.Launch(l.Stream, kernel, grid, Dim{X: threads}, args...)
	}
}

// Fail makes err what Done returns, unless that is an earlier one.
func (l *Launcher) Fail(err error) { l.err = cmp.Or(l.err, err) }

// Done returns the first error, and forgets it.
func (l *Launcher) Done() error {
	err := l.err
	l.err = nil
	return err
}

// Failed reports whether there is an error that Done would return.
func (l *Launcher) Failed() bool { return l.err != nil }

// Buffers are buffers of a device that are freed together. Each has at least 8 bytes, so that kernels get an address.
type Buffers struct {
	Device *Device

	all []*Buffer
}

// Take allocates bytes, whose contents are not defined. The tag is for reports about memory and for errors.
func (b *Buffers) Take(bytes int, tag string) (*Buffer, error) {
	v, err := b.Device.AllocTagged(max(bytes, 8), tag)
	if err != nil {
		return nil, fmt.Errorf("cuda: %d bytes for %s: %w", bytes, tag, err)
	}
	b.all = append(b.all, v)
	return v, nil
}

// Zeros allocates bytes, which are 0 for what follows on the stream.
func (b *Buffers) Zeros(s *Stream, bytes int, tag string) (*Buffer, error) {
	v, err := b.Take(bytes, tag)
	if err == nil {
		err = s.Fill(v, 0, v.Size(), 0)
	}
	return v, err
}

// Put allocates a copy of a slice, which is there for what follows on the stream.
func (b *Buffers) Put(ctx context.Context, s *Stream, slice any, tag string) (*Buffer, error) {
	v := reflect.ValueOf(slice)
	to, err := b.Take(v.Len()*int(v.Type().Elem().Size()), tag)
	if err == nil && v.Len() > 0 {
		err = s.CopyIn(ctx, to, 0, slice)
	}
	return to, err
}

// Free frees all of them.
func (b *Buffers) Free() {
	for _, v := range b.all {
		v.Free()
	}
	b.all = nil
}
