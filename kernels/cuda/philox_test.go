// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/tensor"
)

// philoxCase is a block of the generator, or a stream of its numbers.
type philoxCase struct {
	ID      string
	Op      string
	Counter [4]uint32
	Key     [2]uint32
	Output  [4]uint32
	Attrs   map[string]any
	U32     []uint32
	Uniform []float64
	Normal  []float64
	Keep    []bool `json:"dropout_keep_0.7"`
}

func philoxCases(t *testing.T) []philoxCase {
	var f struct{ Cases []philoxCase }
	golden.JSON(t, &f, "cuda", "rng_philox.json")
	return f.Cases
}

// The reference's blocks whose fourth counter word is 0 are those that a draw can ask for; the others
// are compared with the generator of package tensor, which is checked against them in turn.
func TestPhiloxBlocksAgreeWithReference(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	out := alloc(t, d, nil, 16)
	defer out.Free()
	blocks := 0
	for _, c := range philoxCases(t) {
		if c.Op != "philox4x32-10" {
			continue
		}
		blocks++
		if got := tensor.Philox(c.Counter, c.Key); got != c.Output {
			t.Errorf("%s: the processor gives %v, want %v", c.ID, got, c.Output)
		}
		c.Counter[3] = 0
		want := tensor.Philox(c.Counter, c.Key)
		g := Philox{Seed: uint64(c.Key[0]) | uint64(c.Key[1])<<32, Offset: uint64(c.Counter[0]) | uint64(c.Counter[1])<<32, Subsequence: c.Counter[2]}
		if err := g.Bits(d.Default(), out, 4); err != nil {
			t.Fatal(err)
		}
		var got [4]uint32
		if err := d.CopyOut(background, got[:], out, 0); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: the device gives %v, want %v", c.ID, got, want)
		}
	}
	if blocks == 0 {
		t.Error("the reference has no blocks")
	}
}

func TestPhiloxStreamsAgreeWithReference(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	streams := 0
	for _, c := range philoxCases(t) {
		if c.Op != "philox_stream" {
			continue
		}
		streams++
		checkStream(t, d, c, philoxOf(t, c))
	}
	if streams == 0 {
		t.Error("the reference has no streams")
	}
}

// philoxOf returns the generator at the start of a stream of the reference.
func philoxOf(t *testing.T, c philoxCase) Philox {
	t.Helper()
	seed, err1 := strconv.ParseUint(c.Attrs["seed"].(string), 10, 64)
	offset, err2 := strconv.ParseUint(c.Attrs["offset_blocks"].(string), 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return Philox{Seed: seed, Offset: offset}
}

func checkStream(t *testing.T, d *Device, c philoxCase, g Philox) {
	n, s := len(c.U32), d.Default()
	b := alloc(t, d, nil, 8*n)
	defer b.Free()
	words := make([]uint32, n)
	bits := g
	if err := errors.Join(bits.Bits(s, b, n), d.CopyOut(background, words, b, 0)); err != nil {
		t.Fatal(err)
	}
	if bits.Offset != g.Offset+uint64(n+3)/4 {
		t.Errorf("%s: %d numbers advance the offset by %d", c.ID, n, bits.Offset-g.Offset)
	}
	uniform, normal := g, g
	if err := uniform.Uniform32(s, b, n); err != nil {
		t.Fatal(err)
	}
	u := floats(t, s, b, n)
	if err := normal.Normal32(s, b, n); err != nil {
		t.Fatal(err)
	}
	z := floats(t, s, b, n)
	u64, z64 := make([]float64, n), make([]float64, n)
	uniform, normal = g, g
	if err := errors.Join(uniform.Uniform64(s, b, n), d.CopyOut(background, u64, b, 0), normal.Normal64(s, b, n), d.CopyOut(background, z64, b, 0)); err != nil {
		t.Fatal(err)
	}
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	x := alloc(t, d, ones, 4*n)
	defer x.Free()
	drop := g
	if err := drop.Dropout32(s, b, x, n, 0.7); err != nil {
		t.Fatal(err)
	}
	kept := floats(t, s, b, n)
	for i := range n {
		if words[i] != c.U32[i] || float64(u[i]) != c.Uniform[i] || u64[i] != c.Uniform[i] {
			t.Errorf("%s: number %d is %d, uniform %g and %g; want %d, %g", c.ID, i, words[i], u[i], u64[i], c.U32[i], c.Uniform[i])
		}
		if (kept[i] != 0) != c.Keep[i] || c.Keep[i] && kept[i] != 1/float32(0.7) {
			t.Errorf("%s: dropout of number %d gives %g, want it kept: %v", c.ID, i, kept[i], c.Keep[i])
		}
		if i >= len(c.Normal) {
			continue // the reference has whole pairs
		}
		if w := c.Normal[i]; math.Abs(float64(z[i])-w) > 4e-7*math.Abs(w) || math.Abs(z64[i]-w) > 4e-16*max(1, math.Abs(w)) {
			t.Errorf("%s: normal number %d is %g and %g, want %g", c.ID, i, z[i], z64[i], w)
		}
	}
}

// The numbers do not depend on length, grid, or how a draw is cut.
func TestPhiloxLengths(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	for _, n := range lengths {
		checkPhiloxLength(t, d, n)
	}
	b := alloc(t, d, nil, 4)
	defer b.Free()
	g := Philox{}
	s := d.Default()
	if err := g.Dropout32(s, b, b, 1, 0); err == nil {
		t.Error("dropout that keeps nothing was accepted")
	}
	if err := g.Bits(s, b, 2); err == nil || g.Offset != 0 {
		t.Errorf("a draw beyond the buffer: %v, and the offset is %d", err, g.Offset)
	}
}

func checkPhiloxLength(t *testing.T, d *Device, n int) {
	t.Helper()
	s := d.Default()
	b := alloc(t, d, nil, 4*n)
	g := Philox{Seed: 7, Offset: 1 << 33, Subsequence: 5}
	if err := g.Bits(s, b, n); err != nil {
		t.Fatal(err)
	}
	got := make([]uint32, n)
	if err := d.CopyOut(background, got, b, 0); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if n > 1000 && i%997 != 0 && i != n-1 {
			continue
		}
		block := uint64(1)<<33 + uint64(i/4)
		if want := tensor.Philox([4]uint32{uint32(block), uint32(block >> 32), 5, 0}, [2]uint32{7, 0})[i%4]; got[i] != want {
			t.Fatalf("word %d of %d is %d, want %d", i, n, got[i], want)
		}
	}
	b.Free()
}
