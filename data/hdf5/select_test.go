// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// maskOf marks the elements of a set in an array of shape dims and checks that
// numbers and positions belong to each other.
func maskOf(t *testing.T, e *elementSet, dims, low, high []uint64) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	err := e.within(low, high, func(at []uint64, number, n uint64) error {
		for k := range n {
			p := slices.Clone(at)
			p[len(p)-1] += k
			out[string(bytesOf(p))] = number + k
			q := make([]uint64, len(p))
			if run := e.locate(number+k, q); !slices.Equal(p, q) || run < n-k {
				t.Fatalf("element %d is at %v, located at %v in a run of %d, want %d", number+k, p, q, run, n-k)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func bytesOf(at []uint64) []byte {
	b := make([]byte, len(at))
	for i, x := range at {
		b[i] = byte(x)
	}
	return b
}

// Sets of elements of slabs and of boxes are numbered in C order, in any
// window.
func TestElementSets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	dims := []uint64{5, 6, 7}
	for round := range 300 {
		mask := map[string]bool{}
		var e *elementSet
		if round%2 == 0 {
			e = randomSlabs(r, dims, mask)
		} else {
			e = randomBoxes(t, r, dims, mask)
		}
		low, high := make([]uint64, 3), make([]uint64, 3)
		for i, n := range dims {
			low[i] = r.Uint64N(n)
			high[i] = low[i] + 1 + r.Uint64N(n-low[i])
		}
		got := maskOf(t, e, dims, low, high)
		number, inside := uint64(0), 0
		odometer(dims, func(at []uint64, _ uint64) error {
			key := string(bytesOf(at))
			in := mask[key]
			for i, x := range at {
				in = in && x >= low[i] && x < high[i]
			}
			n, ok := got[key]
			if ok != in || ok && n != number {
				t.Fatalf("round %d: %v is element %d, %t, want %d, %t", round, at, n, ok, number, in)
			}
			if in {
				inside++
			}
			if mask[key] {
				number++
			}
			return nil
		})
		if e.n != number || len(got) != inside {
			t.Fatalf("round %d: %d elements, %d in the window, want %d and %d", round, e.n, len(got), number, inside)
		}
	}
}

func randomSlabs(r *rand.Rand, dims []uint64, mask map[string]bool) *elementSet {
	axes := make([]slab, len(dims))
	for i, n := range dims {
		s := slab{start: r.Uint64N(n), block: 1 + r.Uint64N(3)}
		s.stride = s.block + r.Uint64N(2)
		for s.n = 0; s.start+s.n/s.block*s.stride+s.n%s.block < n && r.Uint64N(12) > 0; {
			s.n++
		}
		axes[i] = s
	}
	odometer(dims, func(at []uint64, _ uint64) error {
		in := true
		for i, x := range at {
			s := axes[i]
			in = in && s.below(x+1) == s.below(x)+1
		}
		mask[string(bytesOf(at))] = in
		return nil
	})
	return setOf(axes)
}

// randomBoxes makes single elements and joins some of them to boxes.
func randomBoxes(t *testing.T, r *rand.Rand, dims []uint64, mask map[string]bool) *elementSet {
	var boxes []box
	for range 12 {
		b := box{make([]uint64, 3), make([]uint64, 3)}
		for i, n := range dims {
			b.low[i] = r.Uint64N(n)
			b.high[i] = b.low[i] + 1 + r.Uint64N(n-b.low[i])
		}
		var keys []string
		free := true
		count := []uint64{b.high[0] - b.low[0], b.high[1] - b.low[1], b.high[2] - b.low[2]}
		odometer(count, func(at []uint64, _ uint64) error {
			key := string(bytesOf([]uint64{at[0] + b.low[0], at[1] + b.low[1], at[2] + b.low[2]}))
			keys, free = append(keys, key), free && !mask[key]
			return nil
		})
		if !free {
			continue
		}
		for _, k := range keys {
			mask[k] = true
		}
		boxes = append(boxes, b)
	}
	left := 1 << 20
	l, ok := levelOf(boxes, 0, &left)
	if !ok {
		t.Fatal(boxes)
	}
	return &elementSet{top: l, n: l.n}
}

// Selections that no writer makes are errors.
func TestSelectionErrors(t *testing.T) {
	f := &File{name: "f", offsetSize: 8, lengthSize: 8}
	words := func(width int, v ...uint64) []byte {
		var b []byte
		for _, x := range v {
			b = le(b, width, x)
		}
		return b
	}
	v2 := func(rank uint64, v ...uint64) []byte {
		b := append(words(4, 2, 2), 1)
		b = append(b, words(4, 0, rank)...)
		return append(b, words(8, v...)...)
	}
	v1 := func(n uint64, v ...uint64) []byte { return words(4, append([]uint64{2, 1, 0, 0, 1, n}, v...)...) }
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{words(4, 1, 1, 0, 0), "consists of single points"},
		{words(4, 4, 1, 0, 0), "kind 4"},
		{words(4, 2, 4, 0, 0), "version 4"},
		{v2(0), ", 0 axes"},
		{v2(33), ", 33 axes"},
		{v2(1, 0, 0, 2, 1), "one every 0"},
		{v2(1, 0, 1, 2, 2), "2 blocks of 2 elements, one every 1"},
		{v2(1, 1<<48, 1, 1, 1), "begins at 281474976710656"},
		{v2(1, 0, 1<<40, 1<<20, 1), "1048576 blocks"},
		{v2(1, 0, undef, undef, 1), "unlimited"},
		{v2(1, 0, 1, undef, undef), "unlimited"},
		{v2(1, 0, 1, 2, undef), "unlimited"},
		{v2(2, 0, 1, undef, 1, 0, 1, undef, 1), "unlimited along the axes 0 and 1"},
		{v1(9, 0, 0), "9 blocks"},
		{v1(1, 3, 2), "from 3 to 2"},
		{v1(2, 0, 3, 3, 5), "overlap"},
	} {
		_, err := f.selection(f.cursor(c.b), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("% x: %v, want %q", c.b, err, c.want)
		}
	}
	s, err := f.selection(f.cursor(v2(1, 3, 1, 1, 5)), 0)
	if err != nil || s.end(0) != 8 || s.of(nil).n != 5 {
		t.Error(s, err)
	}
}

func TestBlockNames(t *testing.T) {
	for name, want := range map[string]string{"a.h5": "a.h5", "f_%b.h5": "f_7.h5", "%b%%b%b": "7%b7", "100%%": "100%", "%%%b": "%7"} {
		if got, many, ok := blockName(name, 7); got != want || !ok || many != strings.Contains(got, "7") {
			t.Errorf("%q: %q, %t, %t", name, got, many, ok)
		}
	}
	for _, name := range []string{"%", "%d", "%%%", "a%b%c"} {
		if _, _, ok := blockName(name, 7); ok {
			t.Errorf("%q is fine", name)
		}
	}
}
