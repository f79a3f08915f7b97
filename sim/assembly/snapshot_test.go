// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/checkpoint"
)

// everything makes a brain that uses all that a snapshot holds.
func everything(t testing.TB) *Brain {
	b := New(Settings{P: 0.05, Seed: 3, MaxWeight: 50})
	check(t, b.AddStimulus("S", 40))
	check(t, b.AddArea(Area{Name: "A", N: 3000, K: 40, Beta: 0.1, Lazy: true}))
	check(t, b.AddArea(Area{Name: "B", N: 1000, K: 30, Beta: 0.1, Column: Column{Latency: 3, LatencyStrength: 0.5}}))
	check(t, b.AddArea(Area{Name: "C", N: 800, K: 20, Beta: 0.1, Rule: Additive, Column: Column{Refraction: 0.01}}))
	check(t, b.SetP("A", "B", 0.2))
	check(t, b.Normalize("B", "C"))
	check(t, b.Inhibit("C", 7))
	check(t, b.Disinhibit("C", 7))
	check(t, b.InhibitFibre("A", "C", 1))
	check(t, b.Rivals("B", "C"))
	goOn(t, b, 6)
	return b
}

func goOn(t testing.TB, b *Brain, steps int) []Round {
	p, err := b.Plan("S>A A>A A>B B>A B>B B>C C>C A>C S>C")
	check(t, err)
	trace, err := b.Project(p, steps)
	check(t, err)
	return trace[len(trace)-1]
}

func same(a, b []Round) bool {
	return slices.EqualFunc(a, b, func(x, y Round) bool {
		return slices.Equal(x.Winners, y.Winners) && x.Input == y.Input && x.Support == y.Support && x.First == y.First
	})
}

func TestSnapshotGoesOnAlike(t *testing.T) {
	b := everything(t)
	var file bytes.Buffer
	check(t, b.Save(&file))
	c, err := Load(bytes.NewReader(file.Bytes()), nil)
	check(t, err)
	var again bytes.Buffer
	check(t, c.Save(&again))
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("what is loaded is saved otherwise")
	}
	d := b.Clone()
	if x, y, z := goOn(t, b, 7), goOn(t, c, 7), goOn(t, d, 7); !same(x, y) || !same(x, z) {
		t.Errorf("brain %v, loaded %v, copy %v", x, y, z)
	}
}

// A snapshot cut short or with a byte changed is refused, and says where.
func TestSnapshotRefusals(t *testing.T) {
	var file bytes.Buffer
	check(t, everything(t).Save(&file))
	whole := file.Bytes()
	for _, n := range []int{0, 5, 16, 19, len(whole) / 2, len(whole) - 1} {
		if _, err := Load(bytes.NewReader(whole[:n]), nil); !errors.As(err, new(*FormatError)) {
			t.Errorf("%d bytes of %d: %v", n, len(whole), err)
		}
	}
	for at := 0; at < len(whole); at += 997 {
		bad := slices.Clone(whole)
		bad[at] ^= 0x10
		if _, err := Load(bytes.NewReader(bad), nil); !errors.As(err, new(*FormatError)) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
}

// FuzzLoad changes the contents under a checksum that fits.
func FuzzLoad(f *testing.F) {
	b := New(Settings{P: 0.2, Seed: 1})
	check(f, b.AddStimulus("S", 5))
	check(f, b.AddArea(Area{Name: "A", N: 50, K: 5, Beta: 0.1, Lazy: true}))
	check(f, b.AddArea(Area{Name: "B", N: 30, K: 5, Beta: 0.1}))
	p, err := b.Plan("S>A A>A A>B B>B")
	check(f, err)
	_, err = b.Project(p, 3)
	check(f, err)
	var file bytes.Buffer
	check(f, b.Save(&file))
	var contents []byte
	check(f, checkpoint.Read(bytes.NewReader(file.Bytes()), fileKind, fileVersion, func(d *checkpoint.Decoder) { contents = d.Rest() }))
	f.Add(contents)
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &source{Decoder: checkpoint.Decode(data), size: len(data)}
		if b, err := s.brain(nil); err == nil {
			var again bytes.Buffer
			check(t, b.Save(&again))
		}
	})
}
