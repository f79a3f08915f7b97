// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/tensor"
)

// movie is frames of few counts, of which frame 3 is empty.
func movie(n, height, width int) []float32 {
	r := rand.New(rand.NewPCG(4, 2))
	all := make([]float32, n*height*width)
	for i := range all {
		if f := i / (height * width); f != 3 && r.IntN(4) == 0 {
			all[i] = float32(1 + r.IntN(300))
		}
	}
	return all
}

// immOf is the movie as an IMM file, put together as the format is described, not by IMMWriter.
func immOf(all []float32, height, width int, sparse bool) []byte {
	var out []byte
	size := height * width
	for f := 0; f < len(all); f += size {
		head := make([]byte, 1024)
		le := binary.LittleEndian
		le.PutUint32(head[0:], 2)
		le.PutUint32(head[108:], uint32(height))
		le.PutUint32(head[112:], uint32(width))
		le.PutUint32(head[116:], 2)
		var pixels, counts []byte
		n := uint32(0)
		for p, v := range all[f : f+size] {
			if sparse && v == 0 {
				continue
			}
			n++
			if sparse {
				pixels = le.AppendUint32(pixels, uint32(p))
			}
			counts = le.AppendUint16(counts, uint16(v))
		}
		if le.PutUint32(head[152:], n); sparse {
			le.PutUint32(head[4:], 6)
		}
		out = append(append(append(out, head...), pixels...), counts...)
	}
	return out
}

func rigakuOf(all []float32, size int) []byte {
	var out []byte
	for i, v := range all {
		if v != 0 {
			out = binary.LittleEndian.AppendUint64(out, uint64(i/size)<<40|uint64(i%size)<<16|uint64(v))
		}
	}
	return out
}

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func hdf5Of(t testing.TB, name, key string, data any, shape []int, l hdf5.Layout) string {
	t.Helper()
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	l.Shape = shape
	if err := w.Write(key, data, l); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func as[T uint8 | uint16 | uint32 | int32](all []float32) []T {
	out := make([]T, len(all))
	for i, v := range all {
		out[i] = T(v)
	}
	return out
}

func check(t *testing.T, f *File, all []float32) {
	t.Helper()
	size := f.Height * f.Width
	if f.Frames != len(all)/size {
		t.Fatalf("%s: %d frames of %d x %d, want %d", f.Format, f.Frames, f.Height, f.Width, len(all)/size)
	}
	got := make([]float32, len(all))
	if err := f.Dense(0, got); err != nil || !slices.Equal(got, all) {
		t.Fatalf("%s: frames differ, %v", f.Format, err)
	}
	for _, first := range []int{5, 2, f.Frames - 2} {
		part := got[:2*size]
		if err := f.Dense(first, part); err != nil || !slices.Equal(part, all[first*size:][:2*size]) {
			t.Errorf("%s: frames %d differ, %v", f.Format, first, err)
		}
		var e Events
		if err := f.Events(first, 2, &e); err != nil {
			t.Fatal(err)
		}
		clear(part)
		for k := range 2 {
			for i := e.Start[k]; i < e.Start[k+1]; i++ {
				part[k*size+int(e.Pixel[i])] = e.Count[i]
				if e.Count[i] == 0 || i > e.Start[k] && e.Pixel[i] <= e.Pixel[i-1] {
					t.Errorf("%s: event %d is pixel %d, count %g", f.Format, i, e.Pixel[i], e.Count[i])
				}
			}
		}
		if !slices.Equal(part, all[first*size:][:2*size]) {
			t.Errorf("%s: events of frames %d differ", f.Format, first)
		}
	}
	for _, r := range [][2]int{{-1, 1}, {f.Frames, 1}, {0, f.Frames + 1}} {
		if err := f.Dense(r[0], make([]float32, r[1]*size)); err == nil || !strings.Contains(err.Error(), "were asked for") {
			t.Errorf("%s: %v", f.Format, err)
		}
	}
}

func TestFormats(t *testing.T) {
	const n, h, w = 11, 7, 9
	all := movie(n, h, w)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var npy, half bytes.Buffer
	x, _ := tensor.From(slices.Clone(all))
	x, _ = x.Reshape(n, h, w)
	if err := x.WriteNPY(&npy); err != nil {
		t.Fatal(err)
	}
	binary.Write(&half, binary.BigEndian, as[uint16](all))
	imm, err := CreateIMM(at("written.imm"), h, w)
	if err != nil {
		t.Fatal(err)
	}
	shape := []int{n, h, w}
	for name, s := range map[string]Settings{
		write(t, at("sparse.imm"), immOf(all, h, w, true)): {}, write(t, at("dense.imm"), immOf(all, h, w, false)): {},
		write(t, at("events.bin"), rigakuOf(all, h*w)): {Height: h, Width: w}, write(t, at("frames.npy"), npy.Bytes()): {},
		write(t, at("frames.raw"), append(make([]byte, 13), half.Bytes()...)):                                  {Height: h, Width: w, Type: ">u2", Offset: 13},
		hdf5Of(t, at("a.h5"), "/entry/data/data", as[uint16](all), shape, hdf5.Layout{}):                       {},
		hdf5Of(t, at("b.h5"), "/x/movie", as[uint32](all), shape, hdf5.Layout{Gzip: 3, Chunk: []int{4, 7, 5}}): {},
		hdf5Of(t, at("c.h5"), "/x/movie", all, shape, hdf5.Layout{}):                                           {Dataset: "/x/movie"},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, err := Open(name, s)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Lost != nil || f.Height != h || f.Width != w {
				t.Error(f.Lost, f.Height, f.Width)
			}
			check(t, f, all)
			if want := slices.Contains([]string{at("a.h5"), at("b.h5")}, name); (f.Stored() != nil) != want { // the others are events, floats and big-endian
				t.Errorf("stored as %+v", f.Stored())
			}
			if name != at("sparse.imm") {
				return
			}
			var e Events
			for i := 0; i < n; i += 3 {
				if err := f.Events(i, min(3, n-i), &e); err != nil {
					t.Fatal(err)
				}
				if err := imm.Append(&e); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if err := imm.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(at("written.imm"), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check(t, f, all)
}

// Dectris' master files link datasets of some frames each; gaps have the largest number.
func TestNumberedDatasets(t *testing.T) {
	const h, w = 5, 6
	all := movie(10, h, w)
	name := filepath.Join(t.TempDir(), "x_master.h5")
	out, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	counts := as[uint32](all)
	for i := 0; i < len(counts); i += h * w {
		counts[i+2] = math.MaxUint32
	}
	for k, r := range [][2]int{{0, 4}, {4, 8}, {8, 10}} {
		out.Write(fmt.Sprintf("/entry/data/data_%06d", k+1), counts[r[0]*h*w:r[1]*h*w], hdf5.Layout{Shape: []int{r[1] - r[0], h, w}, Gzip: 1})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]float32, len(all))
	if err := f.Dense(0, got); err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if i%(h*w) == 2 {
			if v == v {
				t.Fatalf("pixel %d is %g", i, v)
			}
		} else if v != all[i] {
			t.Fatalf("pixel %d is %g, want %g", i, v, all[i])
		}
	}
}

func TestModules(t *testing.T) {
	const n, h, w = 4, 3, 5
	dir := t.TempDir()
	var each [6][]float32
	for k := range each { // in the order of places
		each[k] = movie(n+k, h, w)[k*h*w:]
		b := rigakuOf(each[k], h*w)
		for i := 0; k > 0 && i < len(b); i += 8 { // all modules but one count pixels from 2^20
			binary.LittleEndian.PutUint64(b[i:], binary.LittleEndian.Uint64(b[i:])|1<<36)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("x.bin.%03d", rigakuOrder[k])), b)
	}
	f, err := Open(filepath.Join(dir, "x.bin.000"), Settings{Height: h, Width: w})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Height != 3*h+140 || f.Width != 2*w+52 || f.Frames != n {
		t.Fatal(f.Height, f.Width, f.Frames)
	}
	want := make([]float32, n*f.Height*f.Width)
	for k := range each {
		for i, v := range each[k] {
			row, col := i%(h*w)/w+k/2*(h+70), i%w+k%2*(w+52)
			want[(i/(h*w)*f.Height+row)*f.Width+col] = v
		}
	}
	check2 := make([]float32, len(want))
	if err := f.Dense(0, check2); err != nil || !slices.Equal(check2, want) {
		t.Error("modules are in other places", err)
	}
	os.Remove(filepath.Join(dir, "x.bin.004"))
	if _, err := Open(filepath.Join(dir, "x.bin.000"), Settings{Height: h, Width: w}); err == nil || !strings.Contains(err.Error(), "six modules") {
		t.Error(err)
	}
}

// Of a file that was cut off, whole frames remain, and it is said what is missing.
func TestCutFiles(t *testing.T) {
	const n, h, w = 11, 7, 9
	all := movie(n, h, w)
	dir := t.TempDir()
	var npy bytes.Buffer
	x, _ := tensor.From(slices.Clone(all))
	x, _ = x.Reshape(n, h, w)
	x.WriteNPY(&npy)
	for name, b := range map[string][]byte{"cut.imm": immOf(all, h, w, true), "cut2.imm": immOf(all, h, w, false), "cut.npy": npy.Bytes(), "cut.raw": npy.Bytes()[128:]} {
		t.Run(name, func(t *testing.T) {
			f, err := Open(write(t, filepath.Join(dir, name), b[:len(b)-40]), Settings{Height: h, Width: w, Type: "<f4"})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Frames != n-1 || f.Lost == nil {
				t.Fatal(f.Frames, f.Lost)
			}
			if text := f.Lost.Error(); !strings.Contains(text, name) || !strings.Contains(text, "10") {
				t.Error(text)
			}
			check(t, f, all[:(n-1)*h*w])
		})
	}
}

// The types that NumPy gives to whole numbers and truth values by itself are read.
func TestWideNumbers(t *testing.T) {
	dir := t.TempDir()
	for descr, c := range map[string]struct {
		bytes []byte
		want  []float32
	}{
		"<i8": {[]byte{3, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, []float32{3, -1}},
		">u8": {[]byte{0, 0, 0, 0, 0, 0, 1, 2, 255, 255, 255, 255, 255, 255, 255, 255}, []float32{258, nan}},
		"|b1": {[]byte{0, 1}, []float32{0, 1}},
	} {
		f, err := Open(write(t, filepath.Join(dir, "x.raw"), c.bytes), Settings{Height: 1, Width: 1, Type: descr})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 2)
		if err := f.Dense(0, got); err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v; want %v", descr, got, err, c.want)
		}
		f.Close()
	}
}

// The file of a detector, read whole, and with its last frame cut off.
func TestDetectorFile(t *testing.T) {
	want, err := Open("testdata/stack.npy", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	all := make([]float32, want.Frames*want.Height*want.Width)
	if err := want.Dense(0, all); err != nil {
		t.Fatal(err)
	}
	f, err := Open("testdata/stack.h5", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	check(t, f, all)
	b, err := os.ReadFile("testdata/stack.h5")
	if err != nil {
		t.Fatal(err)
	}
	cut, err := Open(write(t, filepath.Join(t.TempDir(), "cut.h5"), b[:len(b)-20]), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	if cut.Frames != want.Frames-1 || cut.Lost == nil || !strings.Contains(cut.Lost.Error(), "only 10 of its 11 frames") {
		t.Fatal(cut.Frames, cut.Lost)
	}
	check(t, cut, all[:cut.Frames*cut.Height*cut.Width])
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	all := movie(4, 3, 5)
	damaged := immOf(all, 3, 5, true)
	damaged[1024+3] = 255
	order := append(rigakuOf(all[15:], 15), rigakuOf(all[:15], 15)...)
	out, _ := hdf5.Create(at("two.h5"))
	out.Write("/a", all, hdf5.Layout{Shape: []int{4, 3, 5}})
	out.Write("/b", all, hdf5.Layout{Shape: []int{4, 3, 5}})
	out.Close()
	for _, c := range []struct {
		name string
		s    Settings
		want string
	}{
		{at("none.h5"), Settings{}, "no such file"},
		{write(t, at("x.dat"), []byte("hello")), Settings{}, "68656c6c6f"},
		{write(t, at("x.npy.gz"), []byte("\x1f\x8b\x08")), Settings{}, "the file is a gzip file: unpack it"},
		{write(t, at("x.tif"), []byte("II*\x00")), Settings{}, "is not a TIFF image"},
		{write(t, at("x.edf"), []byte("{ header")), Settings{}, "no EDF header between braces"},
		{write(t, at("x.png"), []byte("\x89PNG")), Settings{}, "the file is a PNG picture: convert the frames to one HDF5 file or NumPy array"},
		{write(t, at("empty.h5"), nil), Settings{}, "the file is empty (0 bytes)"},
		{at("x.dat"), Settings{Format: "tiff"}, `"tiff" is not known`},
		{at("x.dat"), Settings{Format: "raw"}, "height and width"},
		{at("x.dat"), Settings{Format: "raw", Height: 2, Width: 2, Type: "<c8"}, "use one of u1, u2, u4, u8"},
		{at("x.dat"), Settings{Format: "raw", Height: 2, Width: 2}, "truncated after 0 whole frames"},
		{at("x.dat"), Settings{Format: "imm"}, "fewer than the 1024 bytes of the header"},
		{at("x.dat"), Settings{Format: "npy"}, "not a NumPy array"},
		{write(t, at("y.imm"), damaged), Settings{}, "frame 0 has an event at pixel 42"},
		{at("two.h5"), Settings{}, "several stacks of images: /a, /b"},
		{at("two.h5"), Settings{Dataset: "/c"}, "/c"},
		{hdf5Of(t, at("flat.h5"), "/entry/data/data", all, []int{12, 5}, hdf5.Layout{}), Settings{}, "no array of numbers or truth values"},
		{write(t, at("order.bin"), order), Settings{Height: 3, Width: 5}, "one before it to frame"},
	} {
		f, err := Open(c.name, c.s)
		if err == nil {
			err = f.Dense(0, make([]float32, f.Frames*f.Height*f.Width))
			f.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.s, err, c.want)
		}
	}
	var e *FormatError
	if _, err := Open(at("x.dat"), Settings{}); !errors.As(err, &e) || e.File != at("x.dat") {
		t.Error(err)
	}
}

// FuzzOpen opens any bytes as each format and reads what there is, within bounds of memory.
func FuzzOpen(f *testing.F) {
	all := movie(4, 3, 5)
	f.Add(immOf(all, 3, 5, true))
	f.Add(immOf(all, 3, 5, false))
	f.Add(rigakuOf(all, 15))
	var npy bytes.Buffer
	x, _ := tensor.From(slices.Clone(all))
	x, _ = x.Reshape(4, 3, 5)
	x.WriteNPY(&npy)
	f.Add(npy.Bytes())
	name := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, b []byte) {
		os.WriteFile(name, b, 0o644)
		for _, format := range []string{"imm", "rigaku", "npy", "raw"} {
			m, err := Open(name, Settings{Format: format, Height: 3, Width: 5})
			if err != nil {
				continue
			}
			if size := m.Height * m.Width; size < 1<<20 {
				m.Dense(0, make([]float32, min(m.Frames, 3)*size))
				var e Events
				m.Events(max(m.Frames-2, 0), min(m.Frames, 2), &e)
			}
			m.Close()
		}
	})
}

// Frames that are asked for one by one come from chunks that are unpacked once, whatever the order and the datasets, and a chunk that is
// damaged spoils only its own frames.
func TestFramesOfChunks(t *testing.T) {
	const h, w = 5, 6
	all := movie(40, h, w)
	name := filepath.Join(t.TempDir(), "x.h5")
	out, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range []struct{ from, to, chunk int }{{0, 11, 4}, {11, 12, 1}, {12, 40, 7}} {
		out.Write(fmt.Sprintf("/entry/data/data_%06d", k+1), as[uint32](all[r.from*h*w:r.to*h*w]), hdf5.Layout{Shape: []int{r.to - r.from, h, w}, Gzip: 1, Chunk: []int{r.chunk, h, w}})
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := rand.New(rand.NewPCG(1, 2))
	read := func(first, n int) {
		got := make([]float32, n*h*w)
		if err := f.Dense(first, got); err != nil || !slices.Equal(got, all[first*h*w:][:n*h*w]) {
			t.Fatalf("frames %d to %d differ: %v", first, first+n, err)
		}
		stored := make([]byte, 4*n*h*w)
		if err := f.Stored().Read(first, stored); err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if have := binary.LittleEndian.Uint32(stored[4*i:]); float32(have) != v {
				t.Fatalf("frames %d to %d: number %d is %d as it is stored, want %g", first, first+n, i, have, v)
			}
		}
	}
	for i := range 40 {
		read(i, 1)
	}
	for range 300 {
		first := r.IntN(40)
		read(first, 1+r.IntN(40-first))
	}
	kept := &f.source.(*stack).floats
	for _, i := range []int{21, 20, 25, 19} { // of the second chunk of the last dataset
		if read(i, 1); kept.first != 19 || len(kept.kept) != 7*h*w {
			t.Errorf("frame %d is read from %d numbers from frame %d on, want the 7 frames of its chunk", i, len(kept.kept), kept.first)
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	z := bytes.LastIndex(b, []byte{0x78, 0x01}) // the last chunk: frames 33 to 39
	for i := range 20 {
		b[z+4+i] ^= 0xff
	}
	f.Close()
	if f, err = Open(write(t, name, b), Settings{}); err != nil {
		t.Fatal(err)
	}
	for i := 12; i < 33; i++ {
		read(i, 1)
	}
	if f.Frames != 33 || f.Lost == nil {
		t.Errorf("%d frames, %v", f.Frames, f.Lost)
	}
}

// Each of several datasets has the marks of bad pixels of its own type.
func TestMarksOfTypes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.h5")
	out, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	l := hdf5.Layout{Shape: []int{1, 1, 2}}
	for k, v := range []any{[]uint16{1, math.MaxUint16}, []uint32{math.MaxUint16, math.MaxUint32}, []float32{math.MaxUint16, 2}, []uint64{math.MaxUint16, math.MaxUint64}, []uint8{3, 255}} {
		out.Write(fmt.Sprintf("/entry/data/data_%06d", k+1), v, l)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(name, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]float32, 10)
	if err := f.Dense(0, got); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got); text != "[1 NaN 65535 NaN 65535 2 65535 NaN 3 255]" {
		t.Error(text)
	}
}

// A file of frames whose parts are in other files is read with all of them, and refused where one is missing: its frames would be made of
// fill values. What stands in the way of the usual place is said.
func TestFramesOfOtherFiles(t *testing.T) {
	f, err := Open("testdata/master.h5", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := make([]float32, 6*3*4)
	for i := range all {
		all[i] = float32(i)
	}
	got := make([]float32, len(all))
	if err := f.Dense(0, got); err != nil || f.Frames != 6 || !slices.Equal(got, all) {
		t.Fatalf("%d frames differ: %v", f.Frames, err)
	}
	dir := t.TempDir()
	for _, name := range []string{"master.h5", "part_1.h5"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), b)
	}
	if _, err := Open(filepath.Join(dir, "master.h5"), Settings{}); err == nil || !strings.Contains(err.Error(), "1 source files of the frames in /entry/data/data are missing, the first of which is part_2.h5:frames") {
		t.Error(err)
	}
	out, err := hdf5.Create(filepath.Join(dir, "links.h5"))
	if err != nil {
		t.Fatal(err)
	}
	out.Write("/entry/data/other", []int{1}, hdf5.Layout{})
	out.ExternalLink("/entry/data/data", "gone.h5", "/x")
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "links.h5"), Settings{}); err == nil || !strings.Contains(err.Error(), "gone.h5") {
		t.Error(err)
	}
}
