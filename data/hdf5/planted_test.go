// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written makes a file of one dataset.
func written(t *testing.T, v any, l Layout) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "f.h5")
	w, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	if err := w.Write("/x", v, l); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func numbersIn(name string) ([]int64, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := f.Dataset("/x")
	if err != nil {
		return nil, err
	}
	return d.Int64s()
}

// A chunk whose checksum is not that of its bytes is an error that says so; the checksum
// with the bytes of each half swapped, as an old library wrote it, is taken.
func TestChecksumsOfChunks(t *testing.T) {
	const first = 0x0123456789abcdef
	name := written(t, []int64{first, 2, 3, 4}, Layout{Chunk: []int{4}, Fletcher32: true})
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(sound, binary.LittleEndian.AppendUint64(nil, first))
	if at < 0 {
		t.Fatal("the chunk is not found")
	}
	for i := range 36 { // 32 bytes of data, 4 of the checksum
		bad := bytes.Clone(sound)
		bad[at+i] ^= 0x40
		if err := os.WriteFile(name, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := numbersIn(name); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("byte %d is changed: %x, %v", i, got, err)
		}
	}
	old := bytes.Clone(sound)
	sum := old[at+32 : at+36]
	sum[0], sum[1], sum[2], sum[3] = sum[1], sum[0], sum[3], sum[2]
	if err := os.WriteFile(name, old, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := numbersIn(name); err != nil || len(got) != 4 || got[0] != first {
		t.Errorf("checksum as of HDF5 1.6.2: %x, %v", got, err)
	}
	if _, err := checkFletcher([]byte{1, 2, 3}); err == nil {
		t.Error("3 bytes have a checksum")
	}
	if got, err := checkFletcher(make([]byte, 4)); err != nil || len(got) != 0 {
		t.Errorf("the checksum of nothing: %v, %v", got, err)
	}
}

// A chunk is on the edge if it sticks out of the dataset, not if it ends with it.
func TestChunksOnTheEdge(t *testing.T) {
	for _, c := range []struct {
		dims, chunk, at []uint64
		want            bool
	}{
		{[]uint64{8}, []uint64{4}, []uint64{1}, false},
		{[]uint64{9}, []uint64{4}, []uint64{1}, false},
		{[]uint64{9}, []uint64{4}, []uint64{2}, true},
		{[]uint64{7}, []uint64{4}, []uint64{1}, true},
		{[]uint64{8, 5}, []uint64{4, 5}, []uint64{0, 0}, false},
		{[]uint64{8, 5}, []uint64{4, 3}, []uint64{0, 1}, true},
		{[]uint64{3}, []uint64{4}, []uint64{0}, true},
	} {
		s := &chunked{d: &Dataset{Array: Array{dims: c.dims}}, chunk: c.chunk}
		if got := s.onEdge(c.at); got != c.want {
			t.Errorf("chunk %v of %v in %v: on the edge %t, want %t", c.at, c.chunk, c.dims, got, c.want)
		}
	}
}

// A file has its name when it is whole: until then, and after Discard, what stood there
// before still does, and nothing else lies in the folder.
func TestFilesAppearWhole(t *testing.T) {
	name := written(t, []int64{1}, Layout{})
	for _, commit := range []bool{false, true} {
		w, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write("/x", []int64{1, 2}, Layout{}); err != nil {
			t.Fatal(err)
		}
		if got, err := numbersIn(name); err != nil || len(got) != 1 {
			t.Errorf("before Close: %v, %v", got, err)
		}
		want := 1
		if commit {
			want = 2
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		w.Discard()
		if got, err := numbersIn(name); err != nil || len(got) != want {
			t.Errorf("after Discard, closed %t: %v, %v", commit, got, err)
		}
		if all, err := os.ReadDir(filepath.Dir(name)); err != nil || len(all) != 1 {
			t.Errorf("left behind: %v, %v", all, err)
		}
	}
}

// What visit returns ends the walk and is returned.
func TestWalkReturnsTheErrorOfVisit(t *testing.T) {
	f, err := Open(written(t, []int64{1}, Layout{}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mine := errors.New("enough")
	if err := f.Walk(func(string, bool) error { return mine }); !errors.Is(err, mine) {
		t.Errorf("the walk returns %v", err)
	}
}

// An attribute and its name have 60000 bytes together, and not one more.
func TestLargestAttribute(t *testing.T) {
	for _, extra := range []int{0, 1} {
		w, err := Create(filepath.Join(t.TempDir(), "f.h5"))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Discard()
		if err := w.Write("/x", []int64{1}, Layout{}); err != nil {
			t.Fatal(err)
		}
		name := strings.Repeat("n", 1000+extra)
		if err := w.Attr("/x", name, make([]int8, 59000)); (err != nil) != (extra > 0) {
			t.Errorf("59000 bytes called by %d letters: %v", len(name), err)
		}
	}
}

// Attribute messages have versions 1 to 3; any other is an error that says so.
func TestVersionsOfAttributes(t *testing.T) {
	f, err := Open(written(t, []int64{1}, Layout{}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, version := range []byte{0, 4, 255} {
		message := append([]byte{version}, make([]byte, 100)...)
		if _, err := f.parseAttribute(message, 0, "/x"); err == nil || !strings.Contains(err.Error(), "want 1 to 3") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}
