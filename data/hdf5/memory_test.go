// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// allocated returns the bytes that do allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Finding all there is in a damaged file allocates a bounded multiple of its
// size, whatever the bytes claim.
func TestMemoryIsBounded(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.h5")
	r := rand.New(rand.NewPCG(3, 4))
	worst := 0.0
	for range 100 {
		b, err := os.ReadFile(names[r.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			b[r.IntN(len(b))] = []byte{0, 1, 255, byte(r.Uint32())}[r.IntN(4)]
		}
		n := allocated(func() {
			f := &File{name: "damaged", r: bytes.NewReader(b), size: int64(len(b)), MaxBytes: 1 << 20, anySum: true}
			if f.superblock() != nil {
				return
			}
			f.Walk(func(p string, group bool) error {
				f.Attrs(p)
				f.Dataset(p)
				return nil
			})
		})
		worst = max(worst, float64(n)/float64(len(b)))
	}
	t.Logf("at most %.1f times the size of the file", worst)
	if worst > 64 {
		t.Errorf("allocated %.1f times the size of a file, want at most 64", worst)
	}
}

// A dataset that claims more than its file can hold is refused before anything
// is allocated.
func TestHugeClaims(t *testing.T) {
	dir := t.TempDir()
	for name, l := range map[string]Layout{
		"contiguous": {Shape: []int{2, 3}},
		"chunked":    {Shape: []int{2, 3}, Chunk: []int{2, 3}, Gzip: 1},
	} {
		file := filepath.Join(dir, name)
		w, _ := Create(file)
		w.Write("/x", []float64{1, 2, 3, 4, 5, 6}, l)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(file)
		dims := le(le([]byte{1, 2, 0, 0, 0, 0, 0, 0}, 8, 2), 8, 3)
		at := bytes.Index(b, dims)
		if at < 0 {
			t.Fatal("no dataspace")
		}
		copy(b[at+8:], le(le(nil, 8, 1<<20), 8, 1<<20))
		n := allocated(func() {
			f, err := Read(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			d, err := f.Dataset("/x")
			if err == nil {
				_, err = d.Float64s()
			}
			if err == nil {
				t.Errorf("%s: read %v", name, d)
			} else {
				t.Log(err)
			}
		})
		if n > 1<<20 {
			t.Errorf("%s: allocated %d bytes", name, n)
		}
	}
}

// Many goroutines read one File.
func TestConcurrentReads(t *testing.T) {
	f := open(t, "testdata/latest.h5")
	keys, err := f.Keys("/layout")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		for _, k := range keys {
			wait.Go(func() {
				if v, err := get(t, f, "/layout/"+k).Float64s(); err != nil {
					t.Errorf("%s: %d, %v", k, len(v), err)
				}
				if _, err := get(t, f, "/text/vlen").Strings(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
}

func BenchmarkRead(b *testing.B) {
	const rows, cols = 2048, 2048
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = float32(i%1000) / 8
	}
	for name, l := range map[string]Layout{"contiguous": {}, "gzip": {Gzip: 4, Shuffle: true}} {
		l.Shape = []int{rows, cols}
		file := filepath.Join(b.TempDir(), name)
		w, _ := Create(file)
		w.Write("/x", data, l)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		f := open(b, file)
		for kind, read := range map[string]func(*Dataset) error{
			"float32": func(d *Dataset) error { _, err := d.Float32s(); return err },
			"float64": func(d *Dataset) error { _, err := d.Float64s(); return err },
		} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(4 * rows * cols)
				for b.Loop() {
					if err := read(get(b, f, "/x")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
