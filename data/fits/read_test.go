// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// The files of testdata were made by make.py there, with astropy 8.0.2; the tests compute the same
// numbers.

func open(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestHeaderOfAstropy(t *testing.T) {
	f := open(t, "header.fits")
	h := f.HDUs()[0].Header
	for key, want := range map[string]any{"STR": "it's", "EMPTY": "", "INT": int64(-42), "BIG": int64(1) << 62, "FLOAT": 1.5e-300, "YES": true, "no": false,
		"CPLX": 1.5 - 2i, "UNDEF": nil, "LONG": strings.Repeat("x", 100) + "'" + strings.Repeat("y", 50), "ESO DET ID": int64(7), "eso name": "abc"} {
		if c, ok := h.Get(key); !ok || c.Value != want {
			t.Errorf("%s: got %#v (%v), want %#v", key, c.Value, ok, want)
		}
	}
	if c, _ := h.Get("NO"); c.Comment != "no / a slash" {
		t.Errorf("comment %q", c.Comment)
	}
	if c, _ := h.Get("LONG"); c.Comment != "with a comment" {
		t.Errorf("comment of a long string %q", c.Comment)
	}
	var text []string
	for _, c := range h.Cards() {
		if commentary(c.Key) {
			text = append(text, c.Key+":"+c.Comment)
		}
	}
	if want := []string{"COMMENT:first comment", "COMMENT:second comment", "HISTORY:history", ":blank"}; !slices.Equal(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
}

func TestImagesOfAstropy(t *testing.T) {
	f := open(t, "header.fits")
	for name, want := range map[string]func(i int) float64{
		"U1": func(i int) float64 { return float64(i) }, "I1": func(i int) float64 { return float64(i - 6) },
		"I2": func(i int) float64 { return float64(i - 6) }, "U2": func(i int) float64 { return float64(i + 65000) },
		"I4": func(i int) float64 { return float64(i*1000000 - 6) }, "U4": func(i int) float64 { return float64(i + 4294967000) },
		"I8": func(i int) float64 { return float64(i-6) * (1 << 50) }, "U8": func(i int) float64 { return float64(uint64(i) + 1<<63) },
		"F4": func(i int) float64 { return float64(float32(float64(i) / 3)) }, "F8": func(i int) float64 { return float64(i) / 3 },
		"SCALED": func(i int) float64 {
			if i == 0 {
				return math.NaN()
			}
			return 10 + 0.5*float64(i-6)
		},
	} {
		im := must[*Image](t)(f.Image(name))
		if !slices.Equal(im.Shape(), []int{3, 4}) {
			t.Errorf("%s: shape %v", name, im.Shape())
		}
		got := must[[]float64](t)(im.Float64s())
		for i := range 12 {
			if got[i] != want(i) && !(math.IsNaN(got[i]) && math.IsNaN(want(i))) {
				t.Errorf("%s[%d]: got %v, want %v", name, i, got[i], want(i))
			}
		}
		part := must[[]float32](t)(im.Slice(1, 3).Slice(1, 2).Float32s())
		for i := range 4 {
			if part[i] != float32(want(8+i)) {
				t.Errorf("%s, row 2: got %v", name, part)
			}
		}
	}
	u := must[[]uint64](t)(must[*Image](t)(f.Image("U8")).Uint64s())
	if u[11] != 1<<63+11 {
		t.Errorf("U8: %v", u)
	}
	if _, err := must[*Image](t)(f.Image("U8")).Int64s(); !errors.Is(err, ErrType) {
		t.Errorf("a number beyond int64: %v", err)
	}
	if v := must[[]int64](t)(must[*Image](t)(f.Image("U4")).Int64s()); v[11] != 4294967011 {
		t.Errorf("U4: %v", v)
	}
	if v := must[[]int32](t)(must[*Image](t)(f.Image("I4")).Int32s()); v[11] != 10999994 {
		t.Errorf("I4: %v", v)
	}
	if _, err := must[*Image](t)(f.Image("F4")).Int64s(); !errors.Is(err, ErrType) {
		t.Errorf("floats as integers: %v", err)
	}
}

func TestTableOfAstropy(t *testing.T) {
	f := open(t, "table.fits")
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
	tab := must[*Table](t)(f.Table("T"))
	if tab.Len() != 12 || len(tab.Columns()) != 17 {
		t.Fatalf("%d rows, %d columns", tab.Len(), len(tab.Columns()))
	}
	col := func(name string) *Column { return must[*Column](t)(tab.Column(name)) }
	number := map[string]func(i int) float64{"B": func(i int) float64 { return float64(i) }, "J": func(i int) float64 { return float64(i * 1000) },
		"K": func(i int) float64 { return float64(i) * (1 << 40) }, "E": func(i int) float64 { return float64(float32(float64(i) / 3)) }, "UJ": func(i int) float64 { return float64(i + 3000000000) },
		"I": func(i int) float64 { return map[bool]float64{true: math.NaN(), false: float64(i)}[i == 3] },
		"D": func(i int) float64 { return map[bool]float64{true: math.NaN(), false: float64(i) / 7}[i == 5] }}
	for name, want := range number {
		c := col(name)
		got := must[[]float64](t)(c.Float64s())
		mask := must[[]bool](t)(c.Masked())
		for i := range 12 {
			if got[i] != want(i) && !(math.IsNaN(got[i]) && math.IsNaN(want(i))) || mask[i] != math.IsNaN(want(i)) {
				t.Errorf("%s[%d]: got %v, masked %v, want %v", name, i, got[i], mask[i], want(i))
			}
		}
		if part := must[[]float64](t)(c.Slice(7, 9).Float64s()); part[1] != want(8) {
			t.Errorf("%s, rows 7 and 8: %v", name, part)
		}
	}
	if u := col("E").Unit; u != "km / s" {
		t.Errorf("unit %q", u)
	}
	l, x := must[[]bool](t)(col("L").Bools()), must[[]bool](t)(col("X").Bools())
	z := must[[]complex128](t)(col("C").Complex128s())
	m := must[[]complex128](t)(col("M").Complex128s())
	s, aa := must[[]string](t)(col("A").Strings()), must[[]string](t)(col("AA").Strings())
	e2 := must[[]float32](t)(col("E2").Float32s())
	pe, qk, pa := must[[][]float64](t)(col("PE").Ragged()), must[[][]int64](t)(col("QK").RaggedInt64s()), must[[]string](t)(col("PA").RaggedStrings())
	for i := range 12 {
		n := float64(i)
		want := "s" + fmt.Sprint(i)
		if i == 4 {
			want = ""
		}
		if l[i] != (i%3 == 0) || z[i] != complex(n, n/4) || m[i] != complex(n, -n/8) || s[i] != want || aa[2*i] != fmt.Sprint("a", i) || aa[2*i+1] != fmt.Sprint("b", i) || pa[i] != strings.Repeat("z", i%5) {
			t.Errorf("row %d: %v %v %v %q %q %q", i, l[i], z[i], m[i], s[i], aa[2*i:2*i+2], pa[i])
		}
		for k := range 11 {
			if x[11*i+k] != ((i+k)%2 == 1) {
				t.Errorf("bit %d of row %d", k, i)
			}
		}
		for k := range 6 {
			if e2[6*i+k] != float32(i+k) {
				t.Errorf("E2[%d, %d] is %v", i, k, e2[6*i+k])
			}
		}
		if len(pe[i]) != i%4 || len(qk[i]) != i%4 {
			t.Fatalf("lists of row %d: %v, %v", i, pe[i], qk[i])
		}
		for k := range i % 4 {
			if pe[i][k] != float64(i+k) || qk[i][k] != int64(i+k) {
				t.Errorf("lists of row %d: %v, %v", i, pe[i], qk[i])
			}
		}
	}
	if c := col("E2"); !slices.Equal(c.Shape, []int{2, 3}) || c.Type() != "float32" {
		t.Errorf("E2: %v %s", c.Shape, c.Type())
	}
	if c := col("AA"); !slices.Equal(c.Shape, []int{2}) || c.Width() != 4 {
		t.Errorf("AA: %v, width %d", c.Shape, c.Width())
	}
}

func TestASCIITable(t *testing.T) {
	tab := must[*Table](t)(open(t, "ascii.fits").Table("T"))
	n := must[[]int64](t)(must[*Column](t)(tab.Column("N")).Int64s())
	x := must[[]float64](t)(must[*Column](t)(tab.Column("X")).Float64s())
	f := must[[]float64](t)(must[*Column](t)(tab.Column("F")).Float64s())
	s := must[[]string](t)(must[*Column](t)(tab.Column("S")).Strings())
	for i := range 12 {
		if n[i] != int64(i*10-5) || math.Abs(x[i]-float64(i)/3) > 1e-7*float64(i) || f[i] != float64(i)/4 || s[i] != fmt.Sprint("t", i) {
			t.Errorf("row %d: %d %v %v %q", i, n[i], x[i], f[i], s[i])
		}
	}
}

func TestCompressedImages(t *testing.T) {
	f := open(t, "compressed.fits.fz")
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
	x := func(k int) float64 { i, j := k/30, k%30; return float64((37*i*i + 11*j) % 1000) }
	smooth := func(k int) float64 {
		i, j := k/30, k%30
		return 100 + 10*math.Sin(float64(i)+float64(j)/5) + float64((i*31+j*17)%23)/7
	}
	stored := func(name string) func(k int) float64 {
		file := must[*os.File](t)(os.Open(filepath.Join("testdata", name+".npy")))
		defer file.Close()
		a := must[*tensor.Tensor](t)(tensor.ReadNPY(file))
		return func(k int) float64 { return a.Float64s()[k] }
	}
	for name, want := range map[string]func(k int) float64{"RICE2": x, "RICE4": func(k int) float64 { return x(k)*100000 - 7 }, "RICE1": func(k int) float64 { return math.Mod(x(k), 250) },
		"GZ1": x, "GZ2": x, "LOSSLESS": func(k int) float64 { return float64(float32(smooth(k))) }, "CUBE": func(k int) float64 { return float64(k % 97) }, "U2": func(k int) float64 { return x(k) + 60000 },
		"NODITHER": stored("nodither"), "DITHER1": stored("dither1"), "DITHER2": stored("dither2"), "NANS": stored("nans")} {
		im := must[*Image](t)(f.Image(name))
		got := must[[]float64](t)(im.Float64s())
		for k := range got {
			tol := 0.0
			if strings.Contains("NODITHER DITHER1 NANS", name) {
				tol = 4e-6 // astropy returns float32
			}
			if math.Abs(got[k]-want(k)) > tol*math.Abs(want(k)) || math.IsNaN(got[k]) != math.IsNaN(want(k)) {
				t.Fatalf("%s[%d]: got %v, want %v", name, k, got[k], want(k))
			}
		}
		row := im.Len() / im.Shape()[0]
		part := must[[]float64](t)(im.Slice(2, 4).Float64s())
		for k := range part {
			if part[k] != got[2*row+k] && !math.IsNaN(part[k]) {
				t.Fatalf("%s: rows 2 and 3 differ at %d", name, k)
			}
		}
	}
	if _, err := f.Image("HCOMPRESS"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "HCOMPRESS_1") {
		t.Errorf("HCOMPRESS: %v", err)
	}
}

func TestGzip(t *testing.T) {
	plain := must[[]byte](t)(os.ReadFile("testdata/header.fits"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(plain)
	z.Close()
	f := must[*File](t)(Read(bytes.NewReader(packed.Bytes()), int64(packed.Len())))
	defer f.Close()
	if err := f.Verify(); err != nil {
		t.Error(err)
	}
	if v := must[[]float64](t)(must[*Image](t)(f.Image("F8")).Float64s()); v[11] != 11.0/3 {
		t.Errorf("%v", v)
	}
	cut := packed.Bytes()[:packed.Len()-100]
	var fe *FormatError
	if _, err := Read(bytes.NewReader(cut), int64(len(cut))); !errors.As(err, &fe) {
		t.Errorf("a stream that is cut off: %v", err)
	}
}

// Names that are not there are answered by the nearest ones.
func TestMissing(t *testing.T) {
	f := open(t, "table.fits")
	var m *MissingError
	if _, err := f.Image("TT"); !errors.As(err, &m) || !errors.Is(err, ErrNotFound) || !slices.Equal(m.Near, []string{"T"}) {
		t.Errorf("extension: %v", err)
	}
	if _, err := must[*Table](t)(f.Table("T")).Column("QQ"); !errors.As(err, &m) || m.Kind != "column" {
		t.Errorf("column: %v", err)
	}
	if _, err := f.Image("T"); !errors.Is(err, ErrType) {
		t.Errorf("a table as an image: %v", err)
	}
	if _, err := f.Table("PRIMARY"); !errors.Is(err, ErrType) {
		t.Errorf("an image as a table: %v", err)
	}
	c := must[*Column](t)(must[*Table](t)(f.Table("T")).Column("PE"))
	if _, err := c.Float64s(); !errors.Is(err, ErrType) {
		t.Errorf("lists as numbers: %v", err)
	}
}

// A file that is cut off keeps what is before the cut.
func TestCutFiles(t *testing.T) {
	for _, name := range []string{"table.fits", "header.fits", "compressed.fits.fz", "ascii.fits"} {
		b := must[[]byte](t)(os.ReadFile(filepath.Join("testdata", name)))
		whole := 0
		for n := 0; n < len(b); n += 997 {
			f, err := Read(bytes.NewReader(b[:n]), int64(n))
			if err == nil {
				errs := readAll(f)
				if n >= len(b)-block && errs == 0 {
					whole++
				}
				continue
			}
			if reflect.TypeOf(err) != reflect.TypeOf(&FormatError{Format: "fits"}) {
				t.Fatalf("%s cut at %d: %T %v", name, n, err, err)
			}
		}
	}
	b := must[[]byte](t)(os.ReadFile("testdata/header.fits"))
	f := must[*File](t)(Read(bytes.NewReader(b[:len(b)-block]), int64(len(b)-block)))
	if _, err := f.Image("SCALED"); err == nil || !strings.Contains(err.Error(), "ends here") {
		t.Errorf("the image whose data are gone: %v", err)
	}
	if _, err := must[*Image](t)(f.Image("F8")).Float64s(); err != nil {
		t.Errorf("the image before: %v", err)
	}
}

func TestDamageIsFound(t *testing.T) {
	b := must[[]byte](t)(os.ReadFile("testdata/table.fits"))
	for _, at := range []int{500, 3000, len(b) - block + 20} {
		c := slices.Clone(b)
		c[at] ^= 1
		f, err := Read(bytes.NewReader(c), int64(len(c)))
		if err != nil {
			continue
		}
		if err := f.Verify(); !errors.Is(err, ErrChecksum) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
}

// readAll reads everything and returns the number of errors.
func readAll(f *File) (errs int) {
	note := func(err error) {
		if err != nil {
			errs++
		}
	}
	for _, h := range f.HDUs() {
		note(h.Verify())
		if im, err := h.Image(); err == nil {
			_, err = im.Float64s()
			note(err)
			_, err = im.Int64s()
			note(err)
			if s := im.Shape(); len(s) > 0 {
				_, err = im.Slice(s[0]/2, s[0]).Float32s()
				note(err)
			}
		}
		tab, err := h.Table()
		if err != nil {
			continue
		}
		for _, c := range tab.Columns() {
			for _, read := range []func() error{
				func() error { _, err := c.Float64s(); return err }, func() error { _, err := c.Int64s(); return err }, func() error { _, err := c.Uint64s(); return err },
				func() error { _, err := c.Strings(); return err }, func() error { _, err := c.Bools(); return err }, func() error { _, err := c.Complex128s(); return err },
				func() error { _, err := c.Masked(); return err }, func() error { _, err := c.Ragged(); return err }, func() error { _, err := c.RaggedStrings(); return err },
				func() error { _, err := c.RaggedBools(); return err }, func() error { _, err := c.RaggedComplex128s(); return err }, func() error { _, err := c.RaggedInt64s(); return err },
			} {
				note(read())
			}
		}
	}
	return errs
}

// FuzzRead opens any bytes as a file and reads all there is.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"table.fits", "ascii.fits", "compressed.fits.fz", "header.fits"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		if name == "header.fits" {
			b = b[:4*block]
		}
		if name == "compressed.fits.fz" {
			for at := 0; at+3*block < len(b); at += block {
				if bytes.HasPrefix(b[at:], []byte("XTENSION")) {
					end := at + block
					for end < len(b) && !bytes.HasPrefix(b[end:], []byte("XTENSION")) {
						end += block
					}
					f.Add(append(slices.Clone(b[:block]), b[at:end]...))
				}
			}
			continue
		}
		f.Add(unsummed(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		defer file.Close()
		file.MaxBytes = min(file.MaxBytes, 32<<20)
		readAll(file)
	})
}
