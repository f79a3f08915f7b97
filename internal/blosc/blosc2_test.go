// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// frame2 is a golden frame and what is in it.
type frame2 struct{ Frame, Values []byte }

func frames2(t testing.TB) map[string]frame2 {
	t.Helper()
	b, err := os.ReadFile("testdata/blosc2.json")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]frame2{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Frames that Blosc2 made hold what went in, also where a chunk has one value that it does not store. Those of the HDF5 filter are tested
// in data/hdf5.
func TestBlosc2Goldens(t *testing.T) {
	for name, f := range frames2(t) {
		got, err := DecodeFrame(f.Frame, len(f.Values))
		if err != nil || !bytes.Equal(got, f.Values) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if _, err := DecodeFrame(f.Frame, len(f.Values)-1); err == nil {
			t.Errorf("%s: more bytes than allowed", name)
		}
	}
}

// Frames cut off or changed end in errors or other numbers, not in panics, and take no more memory than is allowed.
func TestDamagedBlosc2(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range frames2(t) {
		for n := range f.Frame {
			DecodeFrame(f.Frame[:n], len(f.Values))
		}
		for range 2000 {
			c := bytes.Clone(f.Frame)
			for range 1 + r.IntN(3) {
				c[r.IntN(len(c))] = byte(r.Uint32())
			}
			if b, err := DecodeFrame(c, len(f.Values)); err == nil && len(b) > len(f.Values) {
				t.Fatalf("%d bytes, at most %d are allowed", len(b), len(f.Values))
			}
		}
	}
}

// A frame that announces 2^62 bytes is refused before memory is taken for it.
func TestHugeBlosc2(t *testing.T) {
	f := frames2(t)["zeros"]
	f.Frame[30], f.Frame[58] = 0x40, 0x7f
	if _, err := DecodeFrame(f.Frame, math.MaxInt32); err == nil || !strings.Contains(err.Error(), "want one chunk") {
		t.Error(err)
	}
}

func FuzzBlosc2(f *testing.F) {
	for _, g := range frames2(f) {
		f.Add(g.Frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) { DecodeFrame(b, 1<<16) })
}
