// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
	"pgregory.net/rapid"
)

// written returns x as an NPY file.
func written(t tester, x *tensor.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := x.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var shapes = [][]int{{}, {0}, {1}, {7}, {2, 0, 3}, {2, 3}, {1, 1, 1, 1}, {5000}, {3, 2, 2}}

func TestNPYRoundTrip(t *testing.T) {
	for _, d := range dtypes {
		for _, shape := range shapes {
			x := count(shape...).Convert(d)
			file := written(t, x)
			if at := bytes.IndexByte(file, '\n') + 1; at%64 != 0 || len(file) != at+x.Size()*d.Bytes() {
				t.Errorf("%v%v: data begin at byte %d of %d", d, shape, at, len(file))
			}
			same(t, x, must2(tensor.ReadNPY(bytes.NewReader(file))))
		}
	}
}

// same compares type, shape and every bit.
func same(t tester, x, y *tensor.Tensor) {
	t.Helper()
	if x.DType() != y.DType() || !x.Shape().Equal(y.Shape()) || !bytes.Equal(written(t, x), written(t, y)) {
		t.Errorf("got %v, want %v", y, x)
	}
}

func TestNPYOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
		x := count(shape...)
		m := naive{shape, over(x.Float64s(), shape)}
		for range 3 {
			x, m = viewStep(t, x, m)
		}
		back := must2(tensor.ReadNPY(iotest.OneByteReader(bytes.NewReader(written(t, x)))))
		same(t, x, back)
	})
}

func TestNPYKeepsBits(t *testing.T) {
	odd := []float64{math.Copysign(0, -1), math.Float64frombits(0x7ff8dead0000beef), 5e-324, math.Inf(-1)}
	back := must2(tensor.ReadNPY(bytes.NewReader(written(t, must2(tensor.From(odd)))))).Float64s()
	for i, v := range odd {
		if math.Float64bits(back[i]) != math.Float64bits(v) {
			t.Errorf("%x came back as %x", math.Float64bits(v), math.Float64bits(back[i]))
		}
	}
}

// Files that NumPy wrote: testdata/numpy/make.py.
func TestReadNPYOfNumPy(t *testing.T) {
	b, err := os.ReadFile("testdata/numpy/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]struct {
		Shape  []int
		Re, Im []golden.Float
		Int    []string
	}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range all {
		x, err := readFile(filepath.Join("testdata", "numpy", name+".npy"))
		if err != nil || !x.Shape().Equal(want.Shape) {
			t.Errorf("%s: %v, %v, want shape %v", name, x, err, want.Shape)
			continue
		}
		z := x.Convert(tensor.Complex128).Data().([]complex128)
		for i, re := range want.Re {
			if !sameFloat(real(z[i]), float64(re)) || want.Im != nil && !sameFloat(imag(z[i]), float64(want.Im[i])) {
				t.Errorf("%s: element %d is %v, want %v", name, i, z[i], re)
			}
		}
		for i, v := range want.Int {
			if got := fmt.Sprint(x.Convert(tensor.Int64).Data().([]int64)[i]); got != v {
				t.Errorf("%s: element %d is %s, want %s", name, i, got, v)
			}
		}
	}
	types := map[string]tensor.DType{"f8": tensor.Float64, "f4": tensor.Float32, "f2": tensor.Float32, "i8": tensor.Int64, "i4": tensor.Int32,
		"i2": tensor.Int32, "i1": tensor.Int32, "u8": tensor.Int64, "u4": tensor.Int64, "u2": tensor.Int32, "u1": tensor.Int32,
		"b1": tensor.Bool, "c16": tensor.Complex128, "c8": tensor.Complex64}
	for code, d := range types {
		if x, err := readFile("testdata/numpy/" + code + "_little.npy"); err != nil || x.DType() != d {
			t.Errorf("%s is read as %v (%v), want %v", code, x, err, d)
		}
	}
}

func sameFloat(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || a != a && b != b
}

func readFile(name string) (*tensor.Tensor, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return tensor.ReadNPY(f)
}

func TestReadNPYRefuses(t *testing.T) {
	file := func(version, head string) string {
		return "\x93NUMPY" + version + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head
	}
	v1 := func(descr, shape string) string {
		return file("\x01\x00", "{'descr': "+descr+", 'fortran_order': False, 'shape': ("+shape+"), }\n")
	}
	good := string(written(t, count(2, 3)))
	for _, c := range []struct{ name, file, word string }{
		{"nothing", "", "not an NPY file"},
		{"text", "hello world", "not an NPY file"},
		{"version", file("\x04\x00", ""), "version 4.0"},
		{"long header", "\x93NUMPY\x02\x00\xff\xff\xff\xff", "4294967295 bytes"},
		{"short header", good[:40], "header is cut short"},
		{"no length", good[:9], "header is cut short"},
		{"short data", good[:len(good)-1], "cut short"},
		{"no fields", file("\x01\x00", "{}\n"), "want a plain descr"},
		{"half fields", file("\x01\x00", "{'descr': '<f8'}\n"), "want a plain descr"},
		{"records", v1("[('a', '<f8')]", "2,"), "records"},
		{"negative", v1("'<f8'", "-2,"), "at least 0"},
		{"word", v1("'<f8'", "two,"), "at least 0"},
		{"gap", v1("'<f8'", "2,,3"), "at least 0"},
		{"huge", v1("'<f8'", "9999999999,9999999999"), "fits an int"},
		{"hollow and huge", v1("'<f8'", "0,9999999999,9999999999"), "fits an int"},
		{"axes", v1("'<f8'", strings.Repeat("1,", 65)), "at most 64"},
		{"untrue length", v1("'<f8'", "99999999999,"), "cut short"},
		{"bytes", v1("'|S5'", "1,"), `"|S5"`},
		{"object", v1("'|O'", "1,"), `"|O"`},
		{"order", v1("'!f8'", "1,"), `"!f8"`},
		{"empty type", v1("''", "1,"), `""`},
		{"unsigned", v1("'<u8'", "1,") + strings.Repeat("\xff", 8), "18446744073709551615"},
	} {
		x, err := tensor.ReadNPY(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.word) || !strings.HasPrefix(err.Error(), "tensor: npy: ") {
			t.Errorf("%s: %v, error %v, want %q", c.name, x, err, c.word)
		}
	}
	refused, err := filepath.Glob("testdata/numpy/refused_*.npy")
	if err != nil || len(refused) != 4 {
		t.Fatal(refused, err)
	}
	for _, name := range refused {
		if x, err := readFile(name); err == nil {
			t.Errorf("%s: %v", name, x)
		}
	}
}

// A header that promises 2^40 elements must not allocate them.
func TestReadNPYAllocatesWhatIsThere(t *testing.T) {
	file := string(written(t, count(3)))
	file = strings.Replace(file, "(3,), }          ", "(1099511627776,), }", 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := tensor.ReadNPY(strings.NewReader(file))
	runtime.ReadMemStats(&after)
	if err == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", n, len(file))
	}
}

func TestReadNPYInSequence(t *testing.T) {
	r := strings.NewReader(string(written(t, count(2))) + string(written(t, count(3, 1))))
	a, b := must2(tensor.ReadNPY(r)), must2(tensor.ReadNPY(r))
	if a.Size() != 2 || b.Size() != 3 || r.Len() != 0 {
		t.Errorf("%v, %v, %d bytes left", a, b, r.Len())
	}
}

// full is a writer that fails after some bytes.
type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestWriteErrors(t *testing.T) {
	x := count(20000)
	for _, n := range []int{0, 100, 100000} {
		if err := x.WriteNPY(&full{n}); err == nil || !strings.Contains(err.Error(), "disk full") {
			t.Errorf("NPY after %d bytes: error %v", n, err)
		}
		if err := tensor.WriteNPZ(&full{n / 10}, map[string]*tensor.Tensor{"a": x}); err == nil {
			t.Errorf("NPZ after %d bytes: no error", n/10)
		}
	}
	one := make([]int, 65)
	for i := range one {
		one[i] = 1
	}
	if err := tensor.New(tensor.Bool, one...).WriteNPY(io.Discard); err == nil {
		t.Error("65 axes were written: NumPy reads 64")
	}
}

func FuzzReadNPY(f *testing.F) {
	for _, d := range dtypes {
		f.Add(written(f, count(2, 3).Convert(d)))
	}
	names, _ := filepath.Glob("testdata/numpy/*.npy")
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := tensor.ReadNPY(bytes.NewReader(file))
		if err != nil {
			return
		}
		if x.Size() > len(file) {
			t.Fatalf("%d elements from %d bytes", x.Size(), len(file))
		}
		y := must2(tensor.ReadNPY(bytes.NewReader(written(t, x))))
		same(t, x, y)
		if !reflect.DeepEqual(x.Shape(), y.Shape()) {
			t.Error("shape")
		}
	})
}
