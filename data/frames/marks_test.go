// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Marks of pixels without a count, by the type of the numbers and by what stands in the frames, in HDF5 files and plain ones.
func TestMarks(t *testing.T) {
	const n, pixels = 9, 12
	gap := func(at int) bool { return at == 3 || at == 7 }
	for name, c := range map[string]struct {
		typ   string
		value func(frame, pixel int) float64
		bad   int // in the first frame
	}{
		"uint8 gaps":             {"u1", func(f, p int) float64 { return pick(gap(p), 255, float64((f*p)%5)) }, 2},
		"uint8 gaps, saturated":  {"u1", func(f, p int) float64 { return pick(gap(p) || f == 0 && p == 1, 255, float64((f*p)%5)) }, 3},
		"uint8 counts":           {"u1", func(f, p int) float64 { return pick(p == f, 255, float64((f*p)%250)) }, 0},
		"int32 gaps":             {"<i4", func(f, p int) float64 { return pick(gap(p), -1-float64(p%2), float64((f*p)%5)) }, 2},
		"int32 minus background": {"<i4", func(f, p int) float64 { return pick(gap(p), -1, float64((f*p)%9)-4) }, 0},
		"int32 counts":           {"<i4", func(f, p int) float64 { return float64((f * p) % 5) }, 0},
		"uint16 gaps":            {"<u2", func(f, p int) float64 { return pick(gap(p), 65535, float64((f*p)%5)) }, 2},
	} {
		var u8 []uint8
		var u16 []uint16
		var i32 []int32
		for f := range n {
			for p := range pixels {
				v := c.value(f, p)
				u8, u16, i32 = append(u8, uint8(int(v))), append(u16, uint16(int(v))), append(i32, int32(v))
			}
		}
		var bytes []byte
		var data any = u8
		switch bytes = u8; c.typ {
		case "<u2":
			data, bytes = u16, nil
			for _, v := range u16 {
				bytes = binary.LittleEndian.AppendUint16(bytes, v)
			}
		case "<i4":
			data, bytes = i32, nil
			for _, v := range i32 {
				bytes = binary.LittleEndian.AppendUint32(bytes, uint32(v))
			}
		}
		dir := t.TempDir()
		plain, h5 := filepath.Join(dir, "m.bin"), filepath.Join(dir, "m.h5")
		if err := os.WriteFile(plain, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		w, err := hdf5.Create(h5)
		if err == nil {
			err = w.Write("/entry/data/data", data, hdf5.Layout{Shape: []int{n, 3, pixels / 3}})
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{plain, h5} {
			f, err := Open(file, map[string]Settings{plain: {Format: "raw", Height: 3, Width: pixels / 3, Type: c.typ}}[file])
			if err != nil {
				t.Fatal(err)
			}
			frame := make([]float32, pixels)
			if err := f.Dense(0, frame); err != nil {
				t.Fatal(err)
			}
			bad := 0
			for _, v := range frame {
				if math.IsNaN(float64(v)) {
					bad++
				}
			}
			if told := f.Marked != ""; bad != c.bad || told != (c.bad > 0 && c.typ != "<u2") {
				t.Errorf("%s in %s: %d bad pixels, %q, want %d", name, filepath.Ext(file), bad, f.Marked, c.bad)
			}
			checkStored(t, f, c.typ)
			f.Close()
		}
	}
}

// checkStored compares the first frame as it stands in a file of numbers of a type with what is read as floats.
func checkStored(t *testing.T, f *File, typ string) {
	t.Helper()
	s := f.Stored()
	width := map[string]int{"u1": 1, "<u2": 2}[typ]
	if (s != nil) != (width > 0) {
		t.Fatalf("numbers of %s: stored as %+v", typ, s)
	}
	if s == nil {
		return
	}
	size := f.Height * f.Width
	frame, stored := make([]float32, size), make([]byte, size*width)
	if err := f.Dense(0, frame); err != nil {
		t.Fatal(err)
	}
	if err := s.Read(0, stored); err != nil {
		t.Fatal(err)
	}
	for i, want := range frame {
		got, largest := float32(stored[width*i]), float32(255)
		if width == 2 {
			got, largest = float32(binary.LittleEndian.Uint16(stored[2*i:])), 65535
		}
		if s.Marks && got == largest {
			got = nan
		}
		if got != want && (got == got || want == want) {
			t.Errorf("%s of %s: number %d is %g as it is stored, want %g", s.Type, f.Name, i, got, want)
		}
	}
	for _, n := range []int{size*width - 1, (f.Frames + 1) * size * width} {
		if err := s.Read(0, make([]byte, n)); err == nil {
			t.Errorf("%d bytes of %d frames are read", n, f.Frames)
		}
	}
}

func pick(first bool, a, b float64) float64 {
	if first {
		return a
	}
	return b
}
