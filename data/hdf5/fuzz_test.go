// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// FuzzRead opens any bytes as a file and reads all of it. Nothing may panic,
// hang or allocate beyond the limits; errors are fine. Checksums are not
// checked, or hardly a change would get past them.
func FuzzRead(f *testing.F) {
	names, _ := filepath.Glob("testdata/tiny/*.h5")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { readAll(b) })
}

// readAll reads every object and attribute of a file.
func readAll(b []byte) {
	f := &File{name: "fuzz", r: bytes.NewReader(b), size: int64(len(b)), MaxBytes: 1 << 20, anySum: true, dir: "testdata/tiny"}
	f.tree, _ = filepath.Abs(f.dir)
	defer f.Close()
	if f.superblock() != nil {
		return
	}
	left := 100
	f.Walk(func(p string, group bool) error {
		attrs, _ := f.Attrs(p)
		for _, a := range attrs[:min(len(attrs), 20)] {
			readArray(&a.Array)
		}
		if left--; left < 0 {
			return os.ErrDeadlineExceeded
		}
		if group {
			links, _ := f.Links(p)
			for _, l := range links[:min(len(links), 5)] {
				f.Has(p + "/" + l.Name + "/x")
			}
			return nil
		}
		d, err := f.Dataset(p)
		if err != nil {
			return nil
		}
		_, _, _, _ = d.String(), d.Filters(), d.MaxShape(), d.Sources()
		readArray(&d.Array)
		if shape := d.Shape(); len(shape) == 1 && shape[0] > 1 {
			d.Slab([]int{1}, []int{shape[0] - 1}).Int64s()
		}
		return nil
	})
}

// FuzzPacked undoes one filter after another of any bytes.
func FuzzPacked(f *testing.F) {
	for _, name := range filterSeeds {
		eachChunk(f, open(f, "testdata/"+name+".h5"), func(s *chunked, b []byte) {
			last := s.d.filters[0]
			var values []byte
			for _, v := range last.values {
				values = le(values, 4, uint64(v))
			}
			f.Add(uint16(last.id), values, b)
		})
	}
	f.Fuzz(func(t *testing.T, id uint16, values, b []byte) {
		p := filter{id: int(id)}
		for ; len(values) >= 4; values = values[4:] {
			p.values = append(p.values, word(values))
		}
		var u unpacker
		if out, err := u.run(b, []filter{p}, 0, 480); err == nil && len(out) != 480 {
			t.Errorf("%d bytes", len(out))
		}
	})
}

// eachChunk visits the chunks of /packed as they are stored.
func eachChunk(t testing.TB, f *File, visit func(s *chunked, b []byte)) {
	keys, err := f.Keys("/packed")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		s := get(t, f, "/packed/"+k).store.(*chunked)
		list, err := s.load()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			b, err := f.bytes(c.addr, c.size)
			if err != nil {
				t.Fatal(err)
			}
			visit(s, b)
		}
	}
}

// FuzzMappings reads a virtual dataset with any list of mappings.
func FuzzMappings(f *testing.F) {
	file := open(f, "testdata/virtual/latest.h5")
	for _, name := range virtualSeeds {
		g := open(f, "testdata/virtual/"+name+".h5")
		keys, err := g.Keys("/")
		if err != nil {
			f.Fatal(err)
		}
		for _, k := range append(keys, "refused/self", "refused/link") {
			d, err := g.Dataset(k)
			if err != nil || d.Sources() == nil {
				continue
			}
			m, _ := d.head.first(msgLayout)
			c := g.cursor(m.data[2:])
			b, err := g.globalObject(c.addr(), c.u32())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, byte(len(d.dims)))
		}
	}
	file.MaxBytes, file.anySum = 1<<20, true
	f.Fuzz(func(t *testing.T, b []byte, rank byte) { readMappings(file, b, int(rank)) })
}

func readMappings(f *File, b []byte, rank int) {
	d := &Dataset{}
	d.file, d.path, d.typ = f, "fuzz", &Type{Class: Int, Size: 4, Signed: true, precision: 32}
	for i := range min(rank, 4) {
		d.dims, d.max = append(d.dims, uint64(9-2*i)), append(d.max, undef)
	}
	v := &virtual{File: f, d: d}
	d.store, d.more = v, v.more
	var err error
	if v.maps, err = f.mappings(b, 0); err != nil {
		return
	}
	for i := range v.maps {
		if v.check(&v.maps[i]) != nil {
			return
		}
	}
	if v.grow(d.trail()) != nil {
		return
	}
	d.read = func(dst []byte, offset, count []uint64) error { return d.readWithin(d.trail(), dst, offset, count) }
	d.Int32s()
	d.Float64s()
}

func readArray(a *Array) {
	a.Bytes()
	a.Float64s()
	a.Float32s()
	a.Int64s()
	a.Bools()
	a.Strings()
	a.Ragged()
	a.Complex128s()
	a.References()
	a.ReferenceLists()
	for _, m := range a.Type().Members[:min(len(a.Type().Members), 4)] {
		a.Field(m.Name).Float64s()
		a.Field(m.Name).Strings()
	}
}

// Every seed cut off at every length is an error or a smaller file, never a
// panic.
func TestCutOffFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/tiny/*.h5")
	if len(names) == 0 {
		t.Fatal("no seeds")
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(b); n += 97 {
			readAll(b[:n])
		}
	}
}

// Seeds with a few bytes changed neither panic nor hang.
func TestDamagedFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/tiny/*.h5")
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b, err := os.ReadFile(names[r.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] = []byte{0, 1, 255, byte(r.Uint32())}[r.IntN(4)]
		}
		readAll(b)
	}
}
