// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filterSeeds are files made with h5py by testdata/make_filters.py.
var filterSeeds = []string{"szip", "scale", "nbit"}

// What szip, n-bit and scale-offset packed is what the HDF5 library reads back,
// which each file holds too.
func TestPackedNumbers(t *testing.T) {
	dirs := []string{"testdata"}
	if p := python(); p != "" && !testing.Short() {
		dir := t.TempDir()
		if out, err := exec.Command(p, "testdata/make_filters.py", dir, "big").CombinedOutput(); err != nil {
			t.Fatalf("make_filters.py: %v\n%s", err, out)
		}
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, name := range filterSeeds {
			t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) { checkPacked(t, open(t, filepath.Join(dir, name+".h5"))) })
		}
	}
}

func checkPacked(t *testing.T, f *File) {
	t.Helper()
	keys, err := f.Keys("/packed")
	if err != nil || len(keys) < 15 {
		t.Fatal(keys, err)
	}
	for _, k := range keys {
		d := get(t, f, "/packed/"+k)
		plain := get(t, f, "/plain/"+k)
		if d.Type().Class == Compound {
			for _, m := range d.Type().Members {
				comparePacked(t, d.Field(m.Name), plain.Field(m.Name))
			}
			continue
		}
		comparePacked(t, &d.Array, &plain.Array)
		if len(d.dims) == 2 && d.Type().Class != ArrayOf {
			comparePacked(t, d.Slab([]int{2, 1}, []int{2, 4}), plain.Slab([]int{2, 1}, []int{2, 4}))
		}
	}
}

// comparePacked compares values; unused bits need not be equal.
func comparePacked(t *testing.T, got, want *Array) {
	t.Helper()
	a, err := got.Bytes()
	b, err2 := want.Bytes()
	if err == nil && err2 == nil && bytes.Equal(a, b) {
		return
	}
	if got.Type().isNumber() || got.Type().Class == ArrayOf {
		x, err3 := got.Float64s()
		y, err4 := want.Float64s()
		if err3 == nil && err4 == nil && slices.Equal(x, y) {
			return
		}
		t.Errorf("%s %s: %v, %v, %v\n%v\n%v", got.Path(), got.Type(), err, err3, err4, x[:min(len(x), 40)], y[:min(len(y), 40)])
		return
	}
	t.Errorf("%s %s: %v, %v, %x, %x", got.Path(), got.Type(), err, err2, a, b)
}

// Packed chunks that end early or claim more than there is are errors.
func TestDamagedFilters(t *testing.T) {
	for _, name := range filterSeeds {
		b, err := os.ReadFile("testdata/" + name + ".h5")
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(b); n += 997 {
			readAll(b[:n])
		}
	}
}

// Parameters that no writer makes are errors, before anything is allocated.
func TestFilterParameters(t *testing.T) {
	zeros := make([]byte, 100)
	for _, c := range []struct {
		id     int
		values []uint32
		b      []byte
		want   string
	}{
		{filterNbit, nil, zeros, "0 parameters"},
		{filterNbit, []uint32{8, 0, 10, 1, 4, 0, 33, 0}, zeros, "33 bits at bit 0 does not fit 4 bytes"},
		{filterNbit, []uint32{8, 0, 10, 1, 4, 0}, zeros, "end too early"},
		{filterNbit, []uint32{8, 0, 1 << 30, 1, 4, 0, 8, 0}, zeros, "do not make a chunk of 80"},
		{filterNbit, []uint32{8, 0, 20, 1, 4, 0, 8, 0}, zeros[:19], "20 elements of 8 bits do not fit 19 bytes"},
		{filterNbit, []uint32{9, 0, 10, 2, 7, 1, 4, 0, 8, 0}, zeros, "an array has 7 bytes, which is not a multiple of its elements' 4"},
		{filterNbit, []uint32{9, 0, 10, 3, 4, 1, 2, 4, 3}, zeros, "a member of 3 bytes at byte 2 does not fit a compound of 4"},
		{filterNbit, slices.Concat([]uint32{9, 0, 10}, slices.Repeat([]uint32{2, 4}, 30)), zeros, "nested more than"},
		{filterNbit, []uint32{5, 0, 10, 5, 4}, zeros, "kind 5"},
		{filterNbit, []uint32{5, 0, 10, 4, 0}, zeros, "type has 0 bytes"},
		{filterScale, []uint32{2, 0, 20, 0, 4}, zeros, "5 parameters"},
		{filterScale, []uint32{1, 0, 20, 1, 4, 0, 0, 0}, zeros, "not supported"},
		{filterScale, []uint32{0, 0, 20, 0, 4, 0, 0, 0}, zeros, "scaled by method 0"},
		{filterScale, []uint32{2, 0, 20, 0, 3, 0, 0, 0}, zeros, "class 0 and 3 bytes"},
		{filterScale, []uint32{2, 0, 1 << 31, 0, 4, 0, 0, 0}, zeros, "do not make a chunk of 80"},
		{filterScale, []uint32{2, 0, 20, 0, 4, 0, 0, 0}, zeros[:20], "20 bytes, want at least 21"},
		{filterScale, []uint32{2, 0, 20, 0, 4, 0, 0, 0}, append([]byte{33}, zeros...), "20 numbers of 33 bits"},
		{filterScale, []uint32{2, 0, 20, 0, 4, 0, 0, 0}, append([]byte{32}, zeros[:99]...), "20 numbers of 32 bits do not fit 79 bytes"},
		{filterSzip, []uint32{32, 8, 8}, zeros, "3 parameters"},
		{filterSzip, []uint32{32, 7, 8, 80}, zeros, "blocks of 7"},
		{filterSzip, []uint32{32, 8, 25, 80}, zeros, "25 bits"},
		{filterSzip, []uint32{32, 8, 8, 0}, zeros, "lines of 0"},
		{filterSzip, []uint32{32, 8, 8, 80}, zeros[:3], "too few to contain a length"},
		{filterSzip, []uint32{32, 8, 8, 80}, append([]byte{0, 0, 0, 1}, zeros...), "given as 16777216 bytes"},
		{filterSzip, []uint32{32, 8, 16, 80}, append([]byte{79, 0, 0, 0}, zeros...), "given as 79 bytes"},
		{filterSzip, []uint32{32, 8, 8, 80}, []byte{80, 0, 0, 0, 0xff}, "data end too early"},
		{filterSzip, []uint32{4, 8, 8, 80}, slices.Concat([]byte{80, 0, 0, 0, 0x20}, zeros, []byte{0xff}), "does not fit 8 bits"},
		{filterSzip, []uint32{4, 8, 8, 80}, slices.Concat([]byte{80, 0, 0, 0, 0x10}, make([]byte, 5680), []byte{0xff}), "does not fit 8 bits"},
	} {
		var u unpacker
		size := uint64(80)
		n := allocated(func() {
			_, err := u.run(c.b, []filter{{c.id, c.values}}, 0, size)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("filter %d %v: %v, want %q", c.id, c.values, err, c.want)
			}
		})
		if n > 1<<16 {
			t.Errorf("filter %d %v: allocated %d bytes", c.id, c.values, n)
		}
	}
}
