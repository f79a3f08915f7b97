// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// What the plugins of the HDF5 library packed is what went in.
func TestPlugins(t *testing.T) {
	for _, file := range []string{"testdata/plugin.h5", "testdata/blosc2.h5"} {
		t.Run(file, func(t *testing.T) { samePacked(t, file) })
	}
}

func samePacked(t *testing.T, file string) {
	f := open(t, file)
	names, err := f.Keys("/packed")
	if err != nil || len(names) < 17 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		keys, err := f.Keys("/packed/" + name)
		if err != nil || len(keys) < 6 { // of each, one at least with several blocks
			t.Fatal(keys, err)
		}
		for _, k := range keys {
			d := get(t, f, "/packed/"+name+"/"+k)
			if want, _, _ := strings.Cut(name, "_"); !slices.Contains(d.Filters(), want) {
				t.Errorf("%s has filters %v", d, d.Filters())
			}
			comparePacked(t, &d.Array, &get(t, f, "/plain/"+k).Array)
		}
	}
}

// Damaged chunks of plugins end in errors or other numbers, within bounds of memory.
func TestDamagedPlugins(t *testing.T) {
	for _, file := range []string{"testdata/plugin.h5", "testdata/blosc2.h5"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		readDamaged(b)
	}
}

func readDamaged(b []byte) {
	for n := 0; n < len(b); n += 4999 {
		readAll(b[:n])
	}
	r := rand.New(rand.NewPCG(8, 1))
	for range 30 {
		c := bytes.Clone(b)
		for range 200 {
			c[2000+r.IntN(len(c)-2000)] = byte(r.Uint32())
		}
		readAll(c)
	}
}

func TestPluginParameters(t *testing.T) {
	head := func(all, block uint32, rest ...byte) []byte {
		return append([]byte{0, 0, 0, 0, byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all), byte(block >> 24), byte(block >> 16), byte(block >> 8), byte(block)}, rest...)
	}
	for _, c := range []struct {
		id     int
		values []uint32
		b      []byte
		want   string
	}{
		{filterLZ4, nil, make([]byte, 11), "too few to contain the sizes of blocks"},
		{filterLZ4, nil, head(1<<30, 64), "1073741824 bytes in blocks of 64, want at most 80"},
		{filterLZ4, nil, head(80, 0), "in blocks of 0"},
		{filterLZ4, nil, head(80, 80, 0, 0, 0, 9, 1), "end too early"},
		{filterLZ4, nil, head(80, 80, 0, 0, 0, 2, 0x10, 7), "block at byte 0"},
		{filterBitshuffle, nil, make([]byte, 80), "size of elements"},
		{filterBitshuffle, []uint32{0, 3, 4, 12}, make([]byte, 80), "have 12 elements"},
		{filterBitshuffle, []uint32{0, 3, 4, 0, 2}, head(80, 8), "blocks have 2 elements"},
		{filterBitshuffle, []uint32{0, 3, 4, 0, 9}, head(80, 64), "method 9"},
		{filterBitshuffle, []uint32{0, 3, 4, 0, 2}, head(80, 64, 0, 0, 0, 1), "end too early"},
		{filterBlosc, nil, make([]byte, 9), "the Blosc frame has 9 bytes"},
		{filterZstd, nil, make([]byte, 9), "zstd"},
		{filterBzip2, nil, make([]byte, 9), "bzip2"},
	} {
		var u unpacker
		n := allocated(func() {
			if _, err := u.run(c.b, []filter{{c.id, c.values}}, 0, 80); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("filter %d %v: %v, want %q", c.id, c.values, err, c.want)
			}
		})
		if n > 1<<20 {
			t.Errorf("filter %d %v: allocated %d bytes", c.id, c.values, n)
		}
	}
}
