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
	f := &File{name: "fuzz", r: bytes.NewReader(b), size: int64(len(b)), MaxBytes: 1 << 20, anySum: true}
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
		_, _, _ = d.String(), d.Filters(), d.MaxShape()
		readArray(&d.Array)
		if shape := d.Shape(); len(shape) == 1 && shape[0] > 1 {
			d.Slab([]int{1}, []int{shape[0] - 1}).Int64s()
		}
		return nil
	})
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
