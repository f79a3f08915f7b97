// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/lib"
)

// devices opens so many pretend devices.
func devices(t testing.TB, p *pretend.Library, n int) []*Device {
	t.Helper()
	p.Set("devices", n)
	sys := newSystem()
	all := make([]*Device, n)
	for i := range all {
		all[i] = systemDevice(t, p, sys, i, Settings{})
	}
	return all
}

func TestPeerAccess(t *testing.T) {
	p := pretend.LookPath(t)
	d := devices(t, p, 2)
	if can, err := d[0].CanAccessPeer(d[1]); !can || err != nil {
		t.Errorf("got %v, %v", can, err)
	}
	if can, err := d[0].CanAccessPeer(d[0]); can || err != nil {
		t.Errorf("a device is its own peer: %v, %v", can, err)
	}
	for range 2 { // the second time the driver says that it is enabled already
		if err := d[0].EnablePeer(d[1]); err != nil {
			t.Error(err)
		}
	}
	if err := d[0].EnablePeer(d[0]); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	p.Set("peers", 0)
	if err := d[1].EnablePeer(d[0]); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	p.Set("peers", 1)
	p.Fail("cuCtxEnablePeerAccess", 0, 1, int32(drv.OutOfMemory))
	if err := d[1].EnablePeer(d[0]); !errors.Is(err, drv.OutOfMemory) {
		t.Errorf("got %v", err)
	}
}

// Copies between devices give the same with and without peer access, in chunks if they are large, and
// come between what both devices do before and after.
func TestCopiesWithAndWithoutPeerAccess(t *testing.T) {
	for seed := range 6 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := pretend.LookPath(t)
			p.Set("seed", seed)
			p.Set("peers", seed%2)
			d := devices(t, p, 2)
			n := 2*chunkBytes/4 + 1001
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(i % 10007)
			}
			origin, src, dst := alloc(t, d[0], x, 4*n), alloc(t, d[0], nil, 4*n), alloc(t, d[1], nil, 4*n)
			defer free(origin, src, dst)
			p.Set("mode", pretend.Lazy)
			if err := d[0].Default().Copy(src, 0, origin, 0, 4*n); err != nil {
				t.Fatal(err)
			}
			if err := d[1].Default().Copy(dst, 4, src, 8, 4*n-8); err != nil {
				t.Fatal(err)
			}
			if err := d[0].Default().Fill(src, 0, 4*n, 0xFF); err != nil {
				t.Fatal(err)
			}
			p.Set("mode", pretend.Random)
			got := floats(t, d[1].Default(), dst, n)
			for i := 1; i < n-1; i++ {
				if got[i] != x[i+1] {
					t.Fatalf("number %d is %g, want %g", i, got[i], x[i+1])
				}
			}
			if direct := p.Get("cuMemcpyPeerAsync") > 0; direct != (seed%2 == 1) {
				t.Errorf("a direct copy: %v", direct)
			}
		})
	}
}

// A staged copy that fails half-way leaves the staging area usable.
func TestStagedCopyFails(t *testing.T) {
	p := pretend.LookPath(t)
	p.Set("peers", 0)
	d := devices(t, p, 2)
	src, dst := alloc(t, d[0], []float32{5}, 4), alloc(t, d[1], nil, 4)
	defer free(src, dst)
	for range maxChunks + 1 {
		p.Fail("cuMemcpyHtoDAsync_v2", 0, 1, int32(drv.InvalidValue))
		if err := d[1].Default().Copy(dst, 0, src, 0, 4); !errors.Is(err, drv.InvalidValue) {
			t.Fatalf("got %v", err)
		}
	}
	if err := d[1].Default().Copy(dst, 0, src, 0, 4); err != nil {
		t.Fatal(err)
	}
	if got := floats(t, d[1].Default(), dst, 1); got[0] != 5 {
		t.Errorf("got %v", got)
	}
}

// The kinds of groups: NCCL, the ring with peer access, and the ring without.
var groupKinds = []struct {
	name  string
	nccl  bool
	peers int
}{{"NCCL", true, 1}, {"ring", false, 1}, {"staged ring", false, 0}}

// Sums over devices: the same bits on all devices and in every run, near the exact sum, for lengths
// below and above the number of devices.
func TestAllReduce(t *testing.T) {
	for _, kind := range groupKinds {
		for _, size := range []int{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("%s/%d", kind.name, size), func(t *testing.T) {
				bits := map[int][]float64{}
				for seed := range 3 {
					p := pretend.LookPath(t)
					if kind.nccl {
						p.Libraries(t)
					}
					t.Run("", func(t *testing.T) {
						p.Set("seed", seed)
						p.Set("peers", kind.peers)
						d := devices(t, p, size)
						g, err := NewGroup(d, GroupSettings{})
						if err != nil {
							t.Fatal(err)
						}
						defer g.Close()
						if uses := strings.Contains(g.String(), "NCCL 2.27.3"); uses != kind.nccl {
							t.Errorf("the group is %v", g)
						}
						for _, n := range []int{0, 1, 2, 3, 5, 1000} {
							bits[n] = reduceOnce(t, p, g, n, bits[n])
						}
					})
				}
			})
		}
	}
}

// reduceOnce sums random numbers of all devices and compares with the exact sum and with an earlier run.
func reduceOnce(t *testing.T, p *pretend.Library, g *Group, n int, before []float64) []float64 {
	t.Helper()
	typ := Type(n % 2)
	want := make([]float64, n)
	var parts []Part
	for i, d := range g.devices {
		x := random(n, uint64(i+1))
		for k, v := range x {
			if typ == Float32 {
				v = float64(float32(v))
			}
			want[k] += v
		}
		b := upload(t, d, typ, append([]float64{77}, append(x, 88)...))
		defer b.Free()
		parts = append(parts, b.At(typ.Size()))
	}
	p.Set("mode", pretend.Lazy)
	if err := g.AllReduce(typ, n, parts...); err != nil {
		t.Fatal(err)
	}
	kept := make([]*Buffer, len(parts))
	for i, d := range g.devices { // work that comes later does not disturb the sums of others
		size := (n + 2) * typ.Size()
		kept[i] = alloc(t, d, nil, size)
		defer kept[i].Free()
		if err := errors.Join(d.Default().Copy(kept[i], 0, parts[i].Buffer, 0, size), d.Default().Fill(parts[i].Buffer, 0, size, 0xFF)); err != nil {
			t.Fatal(err)
		}
	}
	p.Set("mode", pretend.Random)
	var first []float64
	for i, d := range g.devices {
		got := download(t, d.Default(), typ, kept[i], n+2)
		if got[0] != 77 || got[n+1] != 88 {
			t.Errorf("device %d: what is beside the array is now %g and %g", i, got[0], got[n+1])
		}
		agrees(t, fmt.Sprintf("device %d of %d numbers", i, n), got[1:n+1], want, tolerance(typ))
		if first == nil {
			first = got
		}
		same(t, "another device", got, first)
	}
	if before != nil {
		same(t, "another run", first, before)
	}
	return first
}

func TestBroadcast(t *testing.T) {
	for _, kind := range groupKinds {
		t.Run(kind.name, func(t *testing.T) {
			p := pretend.LookPath(t)
			if kind.nccl {
				p.Libraries(t)
			}
			p.Set("peers", kind.peers)
			d := devices(t, p, 3)
			g, err := NewGroup(d, GroupSettings{})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			var parts []Part
			for i := range d {
				b := upload(t, d[i], Float64, random(100, uint64(i)))
				defer b.Free()
				parts = append(parts, b.At(0))
			}
			if err := g.Broadcast(1, Float64, 90, parts...); err != nil {
				t.Fatal(err)
			}
			for i := range d {
				got := download(t, d[i].Default(), Float64, parts[i].Buffer, 100)
				same(t, "the root's", got[:90], random(100, 1)[:90])
				same(t, "the rest", got[90:], random(100, uint64(i))[90:])
			}
		})
	}
}

func TestGroupArguments(t *testing.T) {
	p := pretend.LookPath(t)
	d := devices(t, p, 2)
	if _, err := NewGroup(nil, GroupSettings{}); !errors.Is(err, ErrArgument) {
		t.Errorf("no devices: %v", err)
	}
	if _, err := NewGroup([]*Device{d[0], d[0]}, GroupSettings{}); !errors.Is(err, ErrArgument) {
		t.Errorf("a device twice: %v", err)
	}
	g, err := NewGroup(d, GroupSettings{})
	if err != nil {
		t.Fatal(err)
	}
	a, b := alloc(t, d[0], nil, 64), alloc(t, d[1], nil, 64)
	defer free(a, b)
	for name, err := range map[string]error{
		"too few arrays": g.AllReduce(Float32, 4, a.At(0)),
		"too short":      g.AllReduce(Float32, 17, a.At(0), b.At(0)),
		"wrong device":   g.AllReduce(Float32, 4, b.At(0), a.At(0)),
		"odd offset":     g.AllReduce(Float32, 4, a.At(2), b.At(0)),
		"negative":       g.AllReduce(Float32, -1, a.At(0), b.At(0)),
		"no such root":   g.Broadcast(2, Float32, 4, a.At(0), b.At(0)),
		"no buffer":      g.Broadcast(0, Float32, 4, a.At(0), Part{}),
		"in a capture": func() error {
			_, err := d[0].Capture(func(*Stream) error { return g.AllReduce(Float32, 4, a.At(0), b.At(0)) })
			return err
		}(),
		"in a capture, io": func() error {
			_, err := d[1].Capture(func(*Stream) error { return g.Broadcast(0, Float32, 4, a.At(0), b.At(0)) })
			return err
		}(),
	} {
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// NCCL that is found and does not start is replaced by the ring, which says why; one that fails later is
// an error.
func TestGroupWithoutWorkingNCCL(t *testing.T) {
	p := pretend.LookPath(t)
	p.Libraries(t)
	d := devices(t, p, 2)
	p.Fail("ncclCommInitAll", 0, 1, 2)
	g, err := NewGroup(d, GroupSettings{})
	if err != nil || !strings.Contains(g.String(), "ncclSystemError") {
		t.Fatalf("got %v, %v", g, err)
	}
	reduceOnce(t, p, g, 100, nil)
	if g, err = NewGroup(d, GroupSettings{NoNCCL: true}); err != nil || p.Get("ncclAllReduce") != 0 || !strings.Contains(g.String(), "NoNCCL") {
		t.Fatalf("got %v, %v", g, err)
	}
	if g, err = NewGroup(d, GroupSettings{}); err != nil {
		t.Fatal(err)
	}
	a, b := alloc(t, d[0], nil, 64), alloc(t, d[1], nil, 64)
	defer free(a, b)
	p.Fail("ncclGroupEnd", 0, 1, 1)
	var e *lib.Error
	if err := g.AllReduce(Float32, 4, a.At(0), b.At(0)); !errors.As(err, &e) || e.Name() != "ncclUnhandledCudaError" {
		t.Errorf("got %v", err)
	}
	reduceOnce(t, p, g, 100, nil)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := g.AllReduce(Float32, 4, a.At(0), b.At(0)); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// The identity of a group goes to the library by value, all 128 bytes of it.
func TestGroupIdentityByValue(t *testing.T) {
	p := pretend.LookPath(t)
	p.Libraries(t)
	d := devices(t, p, 2)
	n, err := lib.OpenNCCL()
	if err != nil {
		t.Fatal(err)
	}
	id, err := n.UniqueID()
	if err != nil {
		t.Fatal(err)
	}
	comms := new([2]lib.Handle)
	var pin runtime.Pinner
	pin.Pin(comms)
	defer pin.Unpin()
	join := func(id lib.UniqueID) error {
		all := n.GroupStart()
		for i := range d {
			all = errors.Join(all, d[i].do(func() error { return n.InitRank(&comms[i], 2, id, i) }))
		}
		return errors.Join(all, n.GroupEnd())
	}
	if err := d[0].do(func() error { return join(id) }); err != nil || comms[0] == 0 || comms[1] == 0 {
		t.Fatalf("got %v, %v", comms, err)
	}
	for _, c := range comms {
		if err := n.Destroy(c); err != nil {
			t.Error(err)
		}
	}
	id[unsafe.Sizeof(id)-1]++
	if err := d[0].do(func() error { return n.InitRank(&comms[0], 2, id, 0) }); err == nil {
		t.Error("an identity whose last byte is wrong is accepted")
	}
}
