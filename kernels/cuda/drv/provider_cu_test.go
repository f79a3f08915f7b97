// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build cu && cgo

package drv

import (
	"bytes"
	"errors"
	"testing"
)

// Memory, copies, streams and events through gorgonia.org/cu, on whatever libcuda the program was linked
// with: a driver, or the pretend one.
func TestCU(t *testing.T) {
	d, err := OpenCU()
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.DeviceCount()
	if err != nil || n < 1 {
		t.Fatalf("%d devices: %v", n, err)
	}
	dev, err := d.Device(0)
	ctx, err1 := d.Retain(dev)
	if err := errors.Join(err, err1, d.Enter(ctx)); err != nil {
		t.Fatal(err)
	}
	defer d.Release(dev)
	defer d.Leave()
	if now, err := d.Current(); err != nil || now != ctx || ContextFromCU(ctx.ToCU()) != ctx {
		t.Errorf("context %x is current, want %x: %v", now, ctx, err)
	}
	if v, err := d.DeviceAttribute(MaxThreadsPerBlock, dev); err != nil || v < 512 {
		t.Errorf("%d threads of a block: %v", v, err)
	}
	s, err := d.StreamCreate(0)
	e, err1 := d.EventCreate(false)
	p, err2 := d.MemAlloc(1024)
	q, err3 := d.MemAlloc(1024)
	if err := errors.Join(err, err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	got, want := make([]byte, 1024), bytes.Repeat([]byte{7}, 1024)
	if err := errors.Join(d.SetBytesAsync(p, 7, 1024, s), d.CopyAsync(q, p, 1024, s), d.EventRecord(e, s), d.EventSynchronize(e), d.CopyOut(got, q)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %v: %v", got[:4], err)
	}
	if done, err := d.StreamQuery(s); err != nil || !done {
		t.Errorf("the stream is done: %v, %v", done, err)
	}
	if err := d.MemFree(p + 1); !errors.Is(err, InvalidValue) {
		t.Errorf("an address that was not allocated: %v", err)
	}
	if _, err := d.CaptureEnd(s); !errors.Is(err, ErrUnsupported) || d.Has(FeatureGraphs) {
		t.Errorf("graphs: %v", err)
	}
	if err := errors.Join(d.MemFree(p), d.MemFree(q), d.EventDestroy(e), d.StreamDestroy(s)); err != nil {
		t.Error(err)
	}
	if StreamFromCU(s.ToCU()) != s || DevicePtrFromCU(p.ToCU()) != p {
		t.Error("handles change on their way")
	}
}
