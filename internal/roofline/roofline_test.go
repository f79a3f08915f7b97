// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package roofline

import (
	"math"
	"strings"
	"testing"
)

func h100(t *testing.T) Card {
	t.Helper()
	c, err := Find("NVIDIA H100 80GB HBM3")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A sum of arrays that fill memory takes the time of its bytes.
func TestMemoryBoundsLargeCopies(t *testing.T) {
	c := h100(t)
	l := Launch{Grid: 4096, Block: 256}
	l.Work.Use(1, 1<<30, false)
	l.Work.Use(2, 1<<30, true)
	l.Work.Sectors, l.Work.Accesses = 2<<25, 2<<26
	e := c.Predict(l, false)
	if want := float64(2<<30) / 2.96e12; math.Abs(e.Seconds/want-1) > 0.01 || e.Bound != "memory" {
		t.Errorf("got %g s bound by %s, want %g s", e.Seconds, e.Bound, want)
	}
	l.Times = 3
	if three := c.Predict(l, false); math.Abs(three.Seconds-3*e.Seconds) > 1e-12 {
		t.Errorf("three launches take %g s, one %g s", three.Seconds, e.Seconds)
	}
}

// The busiest unit bounds a kernel, and one block uses one multiprocessor.
func TestUnitsBound(t *testing.T) {
	c := h100(t)
	full := Launch{Grid: 132, Block: 1024, Work: Work{Float64: 1e9}}
	e := c.Predict(full, true)
	if want := 1e9/(64*132*c.Clock*issueShare) + gap; math.Abs(e.Seconds/want-1) > 0.05 || !strings.Contains(e.Bound+" float64 units", "float64 units") {
		t.Errorf("got %g s bound by %s, want %g s", e.Seconds, e.Bound, want)
	}
	one := full
	one.Grid = 1
	if alone := c.Predict(one, true); alone.Seconds < 100*e.Seconds {
		t.Errorf("one block takes %g s, 132 take %g s", alone.Seconds, e.Seconds)
	}
	l4, _ := Find("l4")
	if slow := l4.Predict(full, true); slow.Seconds < 30*e.Seconds {
		t.Errorf("an L4, with 2 float64 units, takes %g s, an H100 %g s", slow.Seconds, e.Seconds)
	}
}

// What threads wait for is hidden by other blocks of a multiprocessor as far as it holds them.
func TestOccupancyHidesWaiting(t *testing.T) {
	c := h100(t)
	l := Launch{Grid: 132 * 64, Block: 256, Work: Work{Trips: 100, Serial: 1000}}
	many := c.Predict(l, true)
	if many.Occupancy != 8 || many.Bound != "latency" {
		t.Errorf("got %+v, want 8 blocks of 256 threads", many)
	}
	l.Shared = 100 << 10
	few := c.Predict(l, true)
	if few.Occupancy != 2 || math.Abs((few.Seconds-gap)/(many.Seconds-gap)-4) > 0.01 {
		t.Errorf("two blocks of shared memory take %g s, eight %g s", few.Seconds, many.Seconds)
	}
	l.Shared, l.Registers = 0, 128
	if e := c.Predict(l, true); e.Occupancy != 2 {
		t.Errorf("with 128 registers a multiprocessor holds %d blocks, want 2", e.Occupancy)
	}
	l.Registers, l.Resident = 0, 4
	if e := c.Predict(l, true); e.Occupancy != 4 {
		t.Errorf("a multiprocessor holds %d blocks, want the 4 that were asked for", e.Occupancy)
	}
}

// A program that runs again and again takes the host's time or the device's, and finds small arrays in the cache.
func TestProgramsOverlapTheHost(t *testing.T) {
	c := h100(t)
	l := Launch{Grid: 1, Block: 32}
	l.Work.Use(1, 1000, false)
	if s, each := c.Program([]Launch{l, l}, 5e-6); s != 5e-6 || len(each) != 2 || each[0].Bound != "launch" {
		t.Errorf("got %g s, %+v", s, each)
	}
	if !c.Cached([]Launch{l, l}) {
		t.Error("a kilobyte does not stay in the cache")
	}
	l.Work.Use(2, 50e6, true)
	if c.Cached([]Launch{l}) {
		t.Error("fifty megabytes stay in the cache")
	}
}

func TestPatterns(t *testing.T) {
	strided := func(step int) (list []int) {
		for k := range 32 {
			list = append(list, k*step)
		}
		return list
	}
	for _, x := range []struct{ step, bytes, sectors, lines, turns int }{{4, 4, 4, 1, 1}, {0, 4, 1, 1, 1}, {8, 4, 8, 2, 2}, {128, 4, 32, 32, 32}, {16, 16, 16, 4, 4}, {8, 8, 8, 2, 2}, {132, 4, 32, 32, 1}, {32, 8, 32, 8, 8}} {
		s, l := Pattern(strided(x.step), x.bytes)
		if b := Banks(strided(x.step), x.bytes); s != x.sectors || l != x.lines || b != x.turns {
			t.Errorf("%d bytes, %d apart: %d sectors, %d lines, %d turns of shared memory, want %+v", x.bytes, x.step, s, l, b, x)
		}
	}
}

func TestUnknownCard(t *testing.T) {
	for _, name := range []string{"NVIDIA H100 PCIe", "NVIDIA A100-PCIE-40GB", "NVIDIA H100 NVL", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "H100 A100"} {
		if c, err := Find(name); err == nil {
			t.Errorf("%s is taken for an %s", name, c.Name)
		}
	}
	if _, err := Find("H20"); err == nil || !strings.Contains(err.Error(), "H100, H200, A100, L4") {
		t.Error(err)
	}
}

// Work adds up; an array that is used twice is one.
func TestWorkAddsUp(t *testing.T) {
	var w Work
	w.Use(1, 10, false)
	w.Add(Work{Arrays: []Array{{1, 20, false}, {1, 20, true}}, Sectors: 2, Float32: 3, Trips: 1, Unknown: "loops"})
	if w = w.Times(2); w.Bytes() != 40 || w.Sectors != 4 || w.Float32 != 6 || w.Trips != 1 || w.Unknown != "loops" {
		t.Errorf("got %+v", w)
	}
}

// Sizes that no card has give some time, and no panic.
func TestAbsurdSizes(t *testing.T) {
	most := int(^uint(0) >> 1)
	for _, l := range []Launch{{}, {Grid: -1, Block: -1, Registers: -5, Shared: -1, Resident: -1}, {Grid: most, Block: most, Registers: most, Shared: most, Resident: most, Times: most},
		{Block: 1, Resident: 1 << 20}, {Block: 2048, Registers: 1}} {
		for _, name := range Names() {
			c, _ := Find(name)
			if e := c.Predict(l, false); !(e.Seconds > 0) || math.IsInf(e.Seconds, 0) || e.Occupancy < 1 {
				t.Errorf("%s: %+v gives %+v", name, l, e)
			}
		}
	}
}

// A figure takes its kernels and the bus, at once or one after the other, and at least what the host needs.
func TestFigures(t *testing.T) {
	c := h100(t)
	do := func() ([]Launch, error) {
		return []Launch{Stream("copy", 4096, 256, Array{1, 1 << 30, false}, Array{2, 1 << 30, true})}, nil
	}
	for _, f := range []struct {
		of    Figure
		want  float64
		bound string
	}{{Figure{Do: do, Bus: 53.9e6}, 0.000726 + 0.001, "bus"}, {Figure{Do: do, Bus: 53.9e6, Along: true}, 0.001, "bus"}, {Figure{Do: do}, 0.000726, "copy: memory"}, {Figure{Do: do, Share: 0.5}, 0.000363, "copy: memory"},
		{Figure{Do: do, Calls: 1000}, 0.0037, "host"}} {
		if s, err := c.Figure(f.of); err != nil || math.Abs(s.Seconds/f.want-1) > 0.01 || s.Bound != f.bound {
			t.Errorf("%+v takes %g s (%v), bound by %s", f.of, s.Seconds, err, s.Bound)
		}
	}
}
