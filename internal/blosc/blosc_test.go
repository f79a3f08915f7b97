// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"
)

// frames are the golden frames of testdata, and what is in all of them.
func frames(t testing.TB) (map[string][]byte, []byte) {
	t.Helper()
	b, err := os.ReadFile("testdata/blosc.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Frames map[string]string }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for name, text := range file.Frames {
		if out[name], err = base64.StdEncoding.DecodeString(text); err != nil {
			t.Fatal(err)
		}
	}
	var want []byte
	for i := range 4000 {
		want = binary.LittleEndian.AppendUint32(want, uint32(i*i%97))
	}
	return out, want
}

func TestBloscGoldens(t *testing.T) {
	all, want := frames(t)
	if len(all) != 25 {
		t.Errorf("%d frames", len(all))
	}
	for name, b := range all {
		got, err := Decode(b, len(want))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if _, err := Decode(b, len(want)-1); err == nil {
			t.Errorf("%s: more bytes than allowed", name)
		}
	}
}

// Frames cut off or changed end in errors or other numbers, not in panics.
func TestDamagedBlosc(t *testing.T) {
	all, want := frames(t)
	r := rand.New(rand.NewPCG(3, 3))
	for _, b := range all {
		for n := range min(len(b), 400) {
			Decode(b[:n], len(want))
		}
		for range 300 {
			c := bytes.Clone(b)
			for range 1 + r.IntN(3) {
				c[r.IntN(min(len(c), 200))] = byte(r.Uint32())
			}
			Decode(c, len(want))
		}
	}
}

func FuzzBlosc(f *testing.F) {
	all, want := frames(f)
	for _, b := range all {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { Decode(b, 4*len(want)) })
}
