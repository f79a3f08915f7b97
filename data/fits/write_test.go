// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/peer"
	"pgregory.net/rapid"
)

// sample writes a file with everything that a Writer can write.
func sample(t testing.TB, name string) {
	t.Helper()
	w := must[*Writer](t)(Create(name))
	defer w.Discard()
	h := &Header{}
	h.Set("object", "it's", "a name")
	h.Set("LONG", strings.Repeat("ab'c", 50), "a long string")
	h.Set("ESO DET CHIP ID", 12, "hierarchical")
	h.Set("PI", math.Pi, "")
	h.Set("TINY", 1e-300, "")
	h.Set("WHOLE", 3.0, "")
	h.Set("YES", true, "")
	h.Set("Z", 1.5-2i, "")
	h.Add(Card{Key: "COMMENT", Comment: strings.Repeat("words ", 30)})
	h.Add(Card{Key: "HISTORY", Comment: "made"})
	w.Primary(h)
	w.Image("F4", nil, []int{2, 3}, []float32{1, 2, 3, 4, 5, float32(math.NaN())})
	w.Image("U8", nil, []int{2}, []uint64{0, math.MaxUint64})
	w.Image("I1", nil, []int{2}, []int8{-128, 127})
	w.Image("U2", nil, []int{3}, []uint16{0, 32768, 65535})
	w.Image("EMPTY", nil, nil, nil)
	s := w.Stream("STREAM", nil, []int{100, 7})
	for i := range 100 {
		row := make([]int32, 7)
		for j := range row {
			row[j] = int32(i*7 + j)
		}
		s.Write(row)
	}
	s.Close()
	th := &Header{}
	th.Set("TCOMM1", "what it is", "")
	mask := []bool{false, true, false, false}
	w.Table("T", th, []Data{
		{Name: "D", Unit: "km s-1", Values: []float64{1.5, 2, 3, 4}, Mask: mask}, {Name: "E", Values: []float32{1, 2, 3, 4}},
		{Name: "K", Values: []int64{5, 6, 7, 999999}, Mask: mask}, {Name: "J", Values: []int32{1, 2, 3, 4}, Mask: mask}, {Name: "I", Values: []int16{1, 2, 3, 4}, Mask: mask},
		{Name: "B", Values: []uint8{1, 2, 3, 4}, Mask: mask}, {Name: "U", Values: []uint32{1, 2, 3, 1 << 31}}, {Name: "L", Values: []bool{true, false, false, true}},
		{Name: "A", Values: []string{"ab", "cde", "", "f"}, Mask: mask}, {Name: "AA", Values: []string{"a", "b", "c", "d", "e", "f", "g", "hi"}, Shape: []int{2}},
		{Name: "X", Values: []bool{true, false, true, false, false, false, true, true, true, false, false, true}, Shape: []int{3}, Bits: true},
		{Name: "C", Values: []complex64{1, 2i, 3, 4}}, {Name: "M", Values: []complex128{1, 2i, 3, 4}},
		{Name: "E23", Values: make([]float32, 24), Shape: []int{2, 3}},
		{Name: "VAR", Values: [][]float64{{1, 2}, {}, {3}, {4, 5, 6}}}, {Name: "VARI", Values: [][]int32{{1}, {2, 3}, nil, {4}}},
	})
	w.Table("NOROWS", nil, []Data{{Name: "A", Values: []float64{}}, {Name: "S", Values: []string{}}})
	w.Table("NOTHING", nil, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, name := range []string{"a.fits", "a.fits.gz"} {
		name = filepath.Join(t.TempDir(), name)
		sample(t, name)
		f := must[*File](t)(Open(name))
		defer f.Close()
		if err := f.Verify(); err != nil {
			t.Error(err)
		}
		h := f.HDUs()[0].Header
		for key, want := range map[string]any{"OBJECT": "it's", "LONG": strings.Repeat("ab'c", 50), "ESO DET CHIP ID": int64(12), "PI": math.Pi, "TINY": 1e-300, "WHOLE": 3.0, "YES": true, "Z": 1.5 - 2i} {
			if c, ok := h.Get(key); !ok || c.Value != want {
				t.Errorf("%s: got %#v, want %#v", key, c.Value, want)
			}
		}
		if v := must[[]uint64](t)(must[*Image](t)(f.Image("U8")).Uint64s()); v[1] != math.MaxUint64 || v[0] != 0 {
			t.Error(v)
		}
		if v := must[[]int64](t)(must[*Image](t)(f.Image("I1")).Int64s()); !slices.Equal(v, []int64{-128, 127}) {
			t.Error(v)
		}
		if v := must[[]int64](t)(must[*Image](t)(f.Image("U2")).Int64s()); !slices.Equal(v, []int64{0, 32768, 65535}) {
			t.Error(v)
		}
		if v := must[[]int32](t)(must[*Image](t)(f.Image("STREAM")).Slice(99, 100).Int32s()); !slices.Equal(v, []int32{693, 694, 695, 696, 697, 698, 699}) {
			t.Error(v)
		}
		tab := must[*Table](t)(f.Table("T"))
		for _, c := range tab.Columns() {
			if strings.Contains("D K J I B A", c.Name) {
				m := must[[]bool](t)(c.Masked())
				want := []bool{false, true, c.Name == "A", false}
				if !slices.Equal(m, want) {
					t.Errorf("mask of %s: %v", c.Name, m)
				}
			}
		}
		col := func(name string) *Column { return must[*Column](t)(tab.Column(name)) }
		if null, _ := col("K").Null(); null == 999999 {
			t.Error("TNULL is a number that occurs")
		}
		if v := must[[]float64](t)(col("U").Float64s()); v[3] != 1<<31 {
			t.Error(v)
		}
		if v := must[[]string](t)(col("AA").Strings()); !slices.Equal(v, []string{"a", "b", "c", "d", "e", "f", "g", "hi"}) {
			t.Errorf("%q", v)
		}
		if v := must[[]bool](t)(col("X").Bools()); !slices.Equal(v, []bool{true, false, true, false, false, false, true, true, true, false, false, true}) {
			t.Error(v)
		}
		if v := must[[][]float64](t)(col("VAR").Ragged()); !reflect.DeepEqual(v, [][]float64{{1, 2}, {}, {3}, {4, 5, 6}}) {
			t.Error(v)
		}
		if v := must[[][]int64](t)(col("VARI").RaggedInt64s()); !slices.Equal(v[1], []int64{2, 3}) {
			t.Error(v)
		}
		if v := must[[]complex128](t)(col("M").Complex128s()); v[1] != 2i {
			t.Error(v)
		}
		if !slices.Equal(col("E23").Shape, []int{2, 3}) {
			t.Error(col("E23").Shape)
		}
		if must[*Table](t)(f.Table("NOROWS")).Len() != 0 || must[*Table](t)(f.Table("T")).Header().Text("TCOMM1") != "what it is" {
			t.Error("NOROWS or TCOMM1")
		}
	}
}

// Undefined truth values and keywords without a value are standard, but astropy and fitsverify warn.
func TestUndefined(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.fits")
	w := must[*Writer](t)(Create(name))
	h := &Header{}
	h.Set("UNDEF", nil, "no value")
	w.Table("T", h, []Data{{Name: "L", Values: []bool{true, true, false}, Mask: []bool{false, true, false}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := must[*File](t)(Open(name))
	defer f.Close()
	c := must[*Column](t)(must[*Table](t)(f.Table("T")).Column("L"))
	if m := must[[]bool](t)(c.Masked()); !slices.Equal(m, []bool{false, true, false}) {
		t.Error(m)
	}
	if v := must[[]bool](t)(c.Bools()); !slices.Equal(v, []bool{true, false, false}) {
		t.Error(v)
	}
	if card, ok := f.HDUs()[1].Header.Get("UNDEF"); !ok || card.Value != nil || card.Comment != "no value" {
		t.Errorf("%v %v", card, ok)
	}
}

// A table in batches is the table at once, byte for byte.
func TestTableStream(t *testing.T) {
	dir := t.TempDir()
	columns := func(lo, hi int) []Data {
		var x []float64
		var s []string
		var k []int64
		var m []bool
		for i := lo; i < hi; i++ {
			x, s, k, m = append(x, float64(i)), append(s, fmt.Sprint("s", i)), append(k, int64(i)), append(m, i%3 == 0)
		}
		return []Data{{Name: "X", Values: x}, {Name: "S", Values: s, Width: 5}, {Name: "K", Values: k, Mask: m, Null: -7}}
	}
	a, b := filepath.Join(dir, "a.fits"), filepath.Join(dir, "b.fits")
	w := must[*Writer](t)(Create(a))
	w.Table("T", nil, columns(0, 100))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = must[*Writer](t)(Create(b))
	s := w.TableStream("T", nil)
	for i := 0; i < 100; i += 25 {
		s.Write(columns(i, i+25))
	}
	s.Close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if x, y := must[[]byte](t)(os.ReadFile(a)), must[[]byte](t)(os.ReadFile(b)); !slices.Equal(x, y) {
		t.Error("the files differ")
	}
	w = must[*Writer](t)(Create(b))
	w.TableStream("T", nil).Write(columns(0, 100)) // ended by Close of the Writer
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if x, y := must[[]byte](t)(os.ReadFile(a)), must[[]byte](t)(os.ReadFile(b)); !slices.Equal(x, y) {
		t.Error("the file of a table that was not closed differs")
	}
	w = must[*Writer](t)(Create(b))
	s = w.TableStream("T", nil)
	s.Write([]Data{{Name: "S", Values: []string{"a"}}})
	s.Write([]Data{{Name: "S", Values: []string{"abc"}}})
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "set Width") {
		t.Errorf("wider strings: %v", err)
	}
}

// Copies of HDUs are those HDUs, with checksums of their own.
func TestCopy(t *testing.T) {
	for _, from := range []string{"table.fits", "compressed.fits.fz", "header.fits"} {
		src := open(t, from)
		name := filepath.Join(t.TempDir(), "copy.fits")
		w := must[*Writer](t)(Create(name))
		for _, h := range src.HDUs() {
			w.Copy(h, nil)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f := must[*File](t)(Open(name))
		defer f.Close()
		if err := f.Verify(); err != nil {
			t.Error(err)
		}
		if len(f.HDUs()) != len(src.HDUs()) {
			t.Fatalf("%d HDUs", len(f.HDUs()))
		}
		for i, h := range f.HDUs() {
			a, errA := h.Image()
			b, errB := src.HDUs()[i].Image()
			if (errA == nil) != (errB == nil) {
				t.Fatal(errA, errB)
			}
			if errA == nil {
				x, y := must[[]float64](t)(a.Float64s()), must[[]float64](t)(b.Float64s())
				if fmt.Sprint(x) != fmt.Sprint(y) {
					t.Errorf("%s, %s differs", from, h.Name)
				}
			}
		}
	}
}

// The checksum of the standard's example, appendix J: 868229149 is encoded as hcHjjc9ghcEghc9g.
func TestChecksumOfTheStandard(t *testing.T) {
	if got := encodeSum(868229149); got != "hcHjjc9ghcEghc9g" {
		t.Errorf("got %s", got)
	}
}

func TestMistakesOfWriters(t *testing.T) {
	for want, write := range map[string]func(w *Writer){
		"needs 6 elements, but there are 5": func(w *Writer) { w.Image("A", nil, []int{2, 3}, make([]float64, 5)) },
		"has 3 rows, but the first": func(w *Writer) {
			w.Table("T", nil, []Data{{Name: "A", Values: []int64{1}}, {Name: "B", Values: []int64{1, 2, 3}}})
		},
		"the mask has 1 elements":  func(w *Writer) { w.Table("T", nil, []Data{{Name: "A", Values: []int64{1, 2}, Mask: []bool{true}}}) },
		"does not fit 2":           func(w *Writer) { w.Table("T", nil, []Data{{Name: "A", Values: []string{"abc"}, Width: 2}}) },
		"use ASCII":                func(w *Writer) { h := &Header{}; h.Set("A", "é", ""); w.Primary(h) },
		"not finite":               func(w *Writer) { h := &Header{}; h.Set("A", math.NaN(), ""); w.Primary(h) },
		"map[string]int cannot be": func(w *Writer) { w.Table("T", nil, []Data{{Name: "A", Values: map[string]int{}}}) },
		"lacks 4 elements":         func(w *Writer) { s := w.Stream("S", nil, []int{6}); s.Write([]int16{1, 2}); s.Close() },
		"lacks 3 elements": func(w *Writer) {
			s := w.Stream("S", nil, []int{6})
			s.Write([]int16{1, 2, 3})
			w.Image("B", nil, nil, nil)
		},
		"got 1 elements too many":     func(w *Writer) { s := w.Stream("S", nil, []int{1}); s.Write([]int16{1, 2}) },
		"must have the same type":     func(w *Writer) { s := w.Stream("S", nil, []int{4}); s.Write([]int16{1, 2}); s.Write([]uint16{1, 2}) },
		"cannot be written: want a b": func(w *Writer) { h := &Header{}; h.Set("A", []int{1}, ""); w.Primary(h) },
	} {
		name := filepath.Join(t.TempDir(), "x.fits")
		w := must[*Writer](t)(Create(name))
		write(w)
		err := w.Close()
		var fe *FormatError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(name)); len(left) > 0 {
			t.Errorf("%s is left", left[0].Name())
		}
	}
}

// A write that fails leaves the old file as it was.
func TestFaults(t *testing.T) {
	for _, file := range []string{"a.fits", "a.fits.gz"} {
		name := filepath.Join(t.TempDir(), file)
		os.WriteFile(name, []byte("old"), 0o644)
		for k := 0; ; k++ {
			n, last := 0, ""
			restore := atomicfile.Inject(func(op, name string) error {
				if n++; n == k+1 {
					last = op + " " + filepath.Base(name)
					return fs.ErrPermission
				}
				return nil
			})
			w, err := Create(name)
			if err == nil {
				w.Table("T", nil, []Data{{Name: "A", Values: []float64{1}}})
				err = w.Close()
			}
			restore()
			if err == nil {
				if n > k {
					t.Errorf("%s: operation %d of %d (%s) failed without an error", file, k+1, n, last)
				}
				break
			}
			if b, _ := os.ReadFile(name); string(b) != "old" {
				t.Fatalf("%s: operation %d failed and the old file is gone", file, k+1)
			}
		}
	}
}

func TestTablesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		rows, per := rapid.IntRange(0, 40).Draw(t, "rows"), rapid.IntRange(1, 3).Draw(t, "per")
		n := rows * per
		floats := rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, "floats")
		ints := rapid.SliceOfN(rapid.Int64(), n, n).Draw(t, "ints")
		texts := rapid.SliceOfN(rapid.StringMatching(`[!-~]{0,9}`), n, n).Draw(t, "texts")
		mask := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "mask")
		name := filepath.Join(dir, "r.fits")
		w, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		shape := []int{per}
		w.Table("T", nil, []Data{{Name: "F", Values: floats, Shape: shape}, {Name: "I", Values: ints, Shape: shape, Mask: mask}, {Name: "S", Values: texts, Shape: shape}})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Verify(); err != nil {
			t.Fatal(err)
		}
		tab, err := f.Table("T")
		if err != nil {
			t.Fatal(err)
		}
		c := tab.Columns()
		gotF, _ := c[0].Float64s()
		gotI, _ := c[1].Int64s()
		gotM, _ := c[1].Masked()
		gotS, _ := c[2].Strings()
		if !slices.Equal(gotF, floats) || !slices.Equal(gotM, mask) || !slices.Equal(gotS, texts) {
			t.Fatalf("got %v %v %q, want %v %v %q", gotF, gotM, gotS, floats, mask, texts)
		}
		for i := range ints {
			if !mask[i] && gotI[i] != ints[i] {
				t.Fatalf("element %d: got %d, want %d", i, gotI[i], ints[i])
			}
		}
	})
}

// astropy opens what we write without a warning, sees the same numbers and masks, and agrees with
// the checksums.
func TestAstropyReadsOurFiles(t *testing.T) {
	py := peer.Python(t, "astropy", "numpy")
	name := filepath.Join(t.TempDir(), "ours.fits")
	sample(t, name)
	py.Run(t, `
import sys, warnings
import numpy as np
from astropy.io import fits
from astropy.table import Table
warnings.simplefilter("error")
with fits.open(sys.argv[1], checksum=True) as f:
    f.verify("exception")
    h = f[0].header
    assert h["OBJECT"] == "it's" and h["LONG"] == "ab'c" * 50 and h["ESO DET CHIP ID"] == 12 and h["PI"] == np.pi and h["YES"] is True and h["Z"] == 1.5 - 2j, h
    assert isinstance(h["WHOLE"], float)
    assert f["U8"].data.tolist() == [0, 2**64 - 1] and f["U2"].data.tolist() == [0, 32768, 65535] and f["I1"].data.tolist() == [-128, 127]
    assert (f["STREAM"].data == np.arange(700).reshape(100, 7)).all() and f["F4"].data.shape == (2, 3) and f["EMPTY"].data is None
t = Table.read(sys.argv[1], hdu="T")
for c in ["D", "K", "J", "I", "B"]:
    assert t[c].mask.tolist() == [False, True, False, False], (c, t[c])
assert t["A"].mask.tolist() == [False, True, True, False], t["A"]
assert t["D"].unit.to_string("fits") == "km s-1" and t["K"][3] == 999999
assert t["U"].tolist()[3] == 2**31 and t["AA"].tolist()[3] == ["g", "hi"], t["AA"]
assert t["X"].tolist()[0] == [True, False, True] and t["VAR"][3].tolist() == [4, 5, 6] and t["VARI"][1].tolist() == [2, 3]
assert t["E23"].shape == (4, 2, 3) and t["M"][1] == 2j and t["C"][1] == 2j
assert len(Table.read(sys.argv[1], hdu="NOROWS")) == 0
`, name)
}

// The verifier of CFITSIO finds neither errors nor warnings, where it is installed.
func TestFitsverify(t *testing.T) {
	verify, err := exec.LookPath("fitsverify")
	if err != nil {
		t.Skip("lacks fitsverify: install the package of that name")
	}
	name := filepath.Join(t.TempDir(), "ours.fits")
	sample(t, name)
	out, err := exec.Command(verify, name).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "0 warning(s) and 0 error(s)") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Sums that a header leaves empty are not known, so there is nothing to compare.
func TestEmptySums(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.fits")
	w := must[*Writer](t)(Create(name))
	w.Primary(nil)
	w.Image("A", nil, []int{2}, []float64{1, 2})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b := must[[]byte](t)(os.ReadFile(name))
	for _, value := range []string{"''", "'        '", ""} {
		c := bytes.Clone(b)
		for at := 0; at+80 <= len(c); at += 80 {
			if key := string(c[at : at+8]); key == "CHECKSUM" || key == "DATASUM " {
				copy(c[at:at+80], fmt.Sprintf("%-8s= %-70s", key, value))
			}
		}
		f := must[*File](t)(Read(bytes.NewReader(c), int64(len(c))))
		if _, err := f.Image("A"); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
}
