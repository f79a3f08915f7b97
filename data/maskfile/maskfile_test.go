// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/tiff"
	"pgregory.net/rapid"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
)

// The masks of the reference, in each of its formats, and transposed.
func TestGoldenFiles(t *testing.T) {
	for _, name := range golden.Members(t, "xpcs/mask/*.tif") {
		goldenFiles(t, name)
	}
}

func goldenFiles(t *testing.T, base string) {
	v, shape := npy.Read(t, "xpcs", "mask", base+".npy")
	want := above(v, shape[0], shape[1])
	for _, name := range []string{base + ".npy", base + ".h5", base + "_transposed.h5", base + ".tif"} {
		if !golden.Has(t, "xpcs", "mask", name) {
			continue
		}
		m, err := Read(golden.Path(t, "xpcs", "mask", name), Settings{Height: want.Height, Width: want.Width})
		if err != nil {
			t.Fatal(err)
		}
		if m.Height != want.Height || m.Width != want.Width || !slices.Equal(m.Keep, want.Keep) {
			t.Errorf("%s: %d x %d pixels with other values", name, m.Height, m.Width)
		}
		if _, err := Read(golden.Path(t, "xpcs", "mask", name), Settings{Height: want.Height + 1, Width: want.Width + 3}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d x %d, not even transposed", want.Height+1, want.Width+3)) {
			t.Errorf("%s for another detector: %v", name, err)
		}
	}
}

func random(height, width int, seed uint64, density float64) *Mask {
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &Mask{height, width, make([]bool, height*width)}
	for i := range m.Keep {
		m.Keep[i] = rng.Float64() < density
	}
	return m
}

// What is written is read again, and TIFF by another reader too.
func TestRoundTrips(t *testing.T) {
	dir := t.TempDir()
	for k, m := range []*Mask{random(1, 1, 1, 1), random(7, 13, 2, 0.5), random(300, 517, 3, 0.5), random(256, 1024, 4, 0.999), random(400, 300, 5, 0)} {
		for _, ending := range []string{".h5", ".tif", ".npy"} {
			name := filepath.Join(dir, string(rune('a'+k))+ending)
			if err := Write(name, m, false); err != nil {
				t.Fatal(err)
			}
			got, err := Read(name, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Height != m.Height || got.Width != m.Width || !slices.Equal(got.Keep, m.Keep) {
				t.Errorf("%s differs from what was written", name)
			}
			if err := Write(name, m, false); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s over a file that exists: %v", ending, err)
			}
			if err := Write(name, m, true); err != nil {
				t.Error(err)
			}
		}
		f, err := os.Open(filepath.Join(dir, string(rune('a'+k))+".tif"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := tiff.Decode(bufio.NewReader(f))
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if g := img.(*image.Gray); g.Rect.Dx() != m.Width || g.Rect.Dy() != m.Height || !slices.Equal(g.Pix, m.bytes()) {
			t.Error("another reader sees another picture")
		}
	}
	h, err := hdf5.Open(filepath.Join(dir, "b.h5"))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a, err := h.Attr("/mask", "shape")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := a.Int64s(); err != nil || !slices.Equal(v, []int64{7, 13}) {
		t.Errorf("attribute shape: %v, %v", v, err)
	}
	if a, err = h.Attr("/mask", "version"); err != nil {
		t.Fatal(err)
	}
	if v, err := a.Text(); err != nil || v != Version {
		t.Errorf("attribute version: %q, %v", v, err)
	}
}

// Pictures that another program wrote, and every kind of number.
func TestPictures(t *testing.T) {
	m := random(40, 33, 6, 0.4)
	gray, gray16 := image.NewGray(image.Rect(0, 0, 33, 40)), image.NewGray16(image.Rect(0, 0, 33, 40))
	for i, k := range m.Keep {
		if k {
			gray.Pix[i], gray16.Pix[2*i+1] = 200, 3
		}
	}
	for name, img := range map[string]image.Image{"8 bits": gray, "16 bits": gray16} {
		for _, c := range []tiff.CompressionType{tiff.Uncompressed, tiff.Deflate} {
			var b bytes.Buffer
			if err := tiff.Encode(&b, img, &tiff.Options{Compression: c}); err != nil {
				t.Fatal(err)
			}
			got, err := readTIFF(bytes.NewReader(b.Bytes()), int64(b.Len()), Settings{})
			if err != nil || !slices.Equal(got.Keep, m.Keep) {
				t.Errorf("%s, compression %v: %v", name, c, err)
			}
		}
	}
	for _, c := range []struct {
		bits, format, compression uint16
		data                      []byte
		keep                      []bool
	}{
		{32, 2, 1, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0}, []bool{false, true, false}},
		{32, 1, 1, []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0}, []bool{true, true, false}},
		{16, 2, 1, []byte{0x80, 0, 0, 1, 0, 0}, []bool{false, true, false}},
		{8, 2, 1, []byte{0xff, 1, 0}, []bool{false, true, false}},
		{32, 3, 1, []byte{0x3f, 0x80, 0, 0, 0xbf, 0x80, 0, 0, 0x7f, 0xc0, 0, 0}, []bool{true, false, false}},
		{64, 3, 1, []byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xbf, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, []bool{true, false, false}},
		{1, 1, 1, []byte{0b01000000}, []bool{false, true, false}},
		{8, 1, 32773, []byte{0x80, 0xff, 7, 0, 0}, []bool{true, true, false}},
	} {
		b := bigEndian(c.bits, c.format, c.compression, c.data)
		got, err := readTIFF(bytes.NewReader(b), int64(len(b)), Settings{})
		if err != nil || !slices.Equal(got.Keep, c.keep) {
			t.Errorf("%d bits, format %d: %v, %v", c.bits, c.format, got, err)
		}
	}
}

// bigEndian makes a picture of one row of three pixels.
func bigEndian(bits, format, compression uint16, data []byte) []byte {
	be := binary.BigEndian
	b := append([]byte("MM\x00*\x00\x00\x00\x08"), 0, 8)
	const at = 8 + 2 + 8*12 + 4
	for _, t := range [][2]uint32{{tagWidth, 3}, {tagHeight, 1}, {tagBits, uint32(bits)}, {tagCompression, uint32(compression)},
		{tagPhotometric, 1}, {tagStrips, at}, {tagStripBytes, uint32(len(data))}, {tagFormat, uint32(format)}} {
		b = be.AppendUint16(b, uint16(t[0]))
		b = be.AppendUint16(b, 4)
		b = be.AppendUint32(b, 1)
		b = be.AppendUint32(b, t[1])
	}
	return append(be.AppendUint32(b, 0), data...)
}

func TestLists(t *testing.T) {
	dir := t.TempDir()
	want := [][2]int{{3, 10}, {0, 2}, {7, 0}}
	for _, name := range []string{"a.json", "a.txt", "a.csv"} {
		file := filepath.Join(dir, name)
		if err := WriteList(file, want, false); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadList(file, ListSettings{}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		m, err := Read(file, Settings{Height: 8, Width: 11})
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range m.Keep {
			if k == slices.Contains(want, [2]int{i / 11, i % 11}) {
				t.Errorf("%s: pixel %d", name, i)
			}
		}
	}
	for text, c := range map[string]struct {
		json bool
		s    ListSettings
		list [][2]int
		err  string
	}{
		`{"Bad pixels":[{"Pixel":[4,9]}],"Detector":"x"}`: {json: true, list: [][2]int{{9, 4}}},
		"4 9\r\n# a comment\n\n5,\t6":                     {list: [][2]int{{9, 4}, {6, 5}}},
		"\xef\xbb\xbf4;9":                                 {s: ListSettings{RowFirst: true, FromOne: true}, list: [][2]int{{3, 8}}},
		"0 1":                                             {s: ListSettings{FromOne: true}, err: "not a pixel"},
		"1.000000000000000000e+00,2.0":                    {list: [][2]int{{2, 1}}},
		"1 2 3":                                           {err: "line 1 has 3 columns"},
		"a b":                                             {err: `"a" is not a number`},
		"1.5 2":                                           {err: "not a pixel"},
		"1 NaN":                                           {err: "not a pixel"},
		`{"Bad pixels":[{"Pixel":[4]}]}`:                  {json: true, err: "pixel 1 has 1 numbers"},
		`{"Good pixels":[]}`:                              {json: true, err: `no list "Bad pixels"`},
		`{"Bad pixels":[{"Pixel":"x"}]}`:                  {json: true, err: "want {"},
		"\x89HDF\r\n\x1a\n":                               {err: "an HDF5 file"},
	} {
		got, err := parseList([]byte(text), c.json, c.s)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", text, err, c.err)
			}
		} else if err != nil || !slices.Equal(got, c.list) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	two := filepath.Join(dir, "two.h5")
	w, err := hdf5.Create(two)
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/a", []int8{-1, 2, 0, 1}, hdf5.Layout{Shape: []int{2, 2}})
	w.Write("/b", []bool{true, false}, hdf5.Layout{Shape: []int{1, 2}})
	w.Write("/c", []float64{1, 2}, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err := Read(two, Settings{Key: "/a"}); err != nil || !slices.Equal(m.Keep, []bool{false, true, false, true}) {
		t.Errorf("negative values: %v, %v", m, err)
	}
	if m, err := Read(two, Settings{Key: "/b"}); err != nil || !slices.Equal(m.Keep, []bool{true, false}) {
		t.Errorf("truth values: %v, %v", m, err)
	}
	big := bigEndian(8, 1, 1, []byte{1, 2, 3})
	binary.BigEndian.PutUint32(big[8+2+8:], 1<<30)
	for want, c := range map[string]struct {
		name string
		s    Settings
	}{
		`the extension ".png"`:      {"x.png", Settings{}},
		"no such file":              {filepath.Join(dir, "none.tif"), Settings{}},
		"2 datasets have two axes":  {two, Settings{}},
		"the shape [2]":             {two, Settings{Key: "/c"}},
		"/z":                        {two, Settings{Key: "/z"}},
		"at most 3 in all":          {two, Settings{Key: "/a", MaxPixels: 3}},
		"how large the detector is": {put("l.txt", "1 2"), Settings{}},
		"outside a detector of 2 x": {put("m.txt", "1 2"), Settings{Height: 2, Width: 2}},
		"is not a TIFF image":       {put("x.tif", "nonsense"), Settings{}},
		"1073741824 pixels":         {put("y.tif", string(big)), Settings{}},
		"0 bytes instead of 3":      {put("z.tif", string(bigEndian(8, 1, 1, nil))), Settings{}},
		"compression 7":             {put("j.tif", string(bigEndian(8, 1, 7, []byte{1, 2, 3}))), Settings{}},
		"12 bits":                   {put("b.tif", string(bigEndian(12, 1, 1, []byte{1, 2, 3, 4, 5}))), Settings{}},
	} {
		if _, err := Read(c.name, c.s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := Write(filepath.Join(dir, "w.txt"), random(2, 2, 1, 1), false); err == nil || !strings.Contains(err.Error(), "WriteList") {
		t.Error(err)
	}
	if err := Write(filepath.Join(dir, "w.npy"), &Mask{2, 2, nil}, false); err == nil {
		t.Error("a mask without elements was written")
	}
}

// LZW of any bytes unpacks again; the lengths go through every change of the width of codes.
func TestLZW(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := &Mask{1, rapid.IntRange(1, 20000).Draw(t, "length"), nil}
		b := make([]byte, m.Width)
		most := rapid.IntRange(1, 256).Draw(t, "values")
		for i := range b {
			b[i] = byte(rng.IntN(most))
		}
		packed := packLZW(b)
		p := &picture{r: bytes.NewReader(packed), size: int64(len(packed)), tags: map[uint16][]uint64{tagCompression: {5}}}
		got, err := p.block(0, p.size, len(b))
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes of %d values: %v", len(b), most, err)
		}
	})
}

// FuzzRead reads hostile files of every kind.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	m := random(5, 7, 1, 0.5)
	if err := writeTIFF(&b, m); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint8(0))
	f.Add(bigEndian(32, 2, 1, make([]byte, 12)), uint8(0))
	b.Reset()
	if err := writeNPY(&b, m); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint8(1))
	f.Add([]byte(`{"Bad pixels":[{"Pixel":[4,9]}]}`), uint8(2))
	f.Add([]byte("3 4\n5,6 # x"), uint8(3))
	f.Add([]byte("1 0 1\n0 1 1\n"), uint8(7))
	f.Add([]byte("{ Dim_1 = 3 ; Dim_2 = 2 ; DataType = UnsignedByte ;\n}\nabcdef"), uint8(5))
	if z, err := os.ReadFile("testdata/mask.npz"); err == nil {
		f.Add(z, uint8(6))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		s := Settings{Height: 30, Width: 40, MaxPixels: 1 << 16}
		var m *Mask
		var err error
		switch kind %= 8; kind {
		case 0:
			m, err = readTIFF(bytes.NewReader(b), int64(len(b)), s)
		case 1, 5, 6, 7:
			var g *Image
			if g, err = gridReaders[map[uint8]string{1: "npy", 5: "edf", 6: "npz", 7: "text"}[kind]](bytes.NewReader(b), int64(len(b)), s); err == nil {
				m = above(g.Values, g.Height, g.Width)
			}
		case 4:
			var h *hdf5.File
			if h, err = hdf5.Read(bytes.NewReader(b), int64(len(b))); err == nil {
				m, err = fromHDF5(h, s)
			}
		default:
			var list [][2]int
			if list, err = parseList(b, kind == 2, s.List); err == nil {
				m, err = s.without(list)
			}
		}
		if err == nil && (len(m.Keep) != m.Height*m.Width || len(m.Keep) > 1<<16) {
			t.Fatalf("a mask of %d x %d pixels has %d elements", m.Height, m.Width, len(m.Keep))
		}
	})
}
