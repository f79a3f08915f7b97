// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// seeds are files made with h5py by testdata/make.py.
var seeds = []string{"earliest", "v108", "v110", "latest"}

// each runs a test on every seed, and on the same content with deeper indices
// where Python is present.
func each(t *testing.T, test func(t *testing.T, f *File)) {
	t.Helper()
	for _, dir := range []string{"testdata", big(t)} {
		for _, name := range seeds {
			if dir == "" {
				continue
			}
			t.Run(filepath.Base(dir)+"/"+name, func(t *testing.T) { test(t, open(t, filepath.Join(dir, name+".h5"))) })
		}
	}
}

func open(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// python returns an interpreter with h5py, "" if there is none.
func python() string {
	for _, p := range []string{os.Getenv("EURYALE_PYTHON"), "../../.peers/bin/python"} {
		if _, err := os.Stat(p); err == nil {
			p, _ = filepath.Abs(p)
			if exec.Command(p, "-c", "import h5py").Run() == nil {
				return p
			}
		}
	}
	return ""
}

var bigDir string

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(bigDir)
	os.Exit(code)
}

// big makes the deep seeds, once.
func big(t *testing.T) string {
	p := python()
	if p == "" || testing.Short() {
		t.Log("lacks Python with h5py (make peers, or EURYALE_PYTHON): deep chunk indices are not tested")
		return ""
	}
	if bigDir != "" {
		return bigDir
	}
	dir, err := os.MkdirTemp("", "big")
	if err != nil {
		t.Fatal(err)
	}
	bigDir = dir
	if out, err := exec.Command(p, "testdata/make.py", dir, "big").CombinedOutput(); err != nil {
		t.Fatalf("make.py: %v\n%s", err, out)
	}
	return dir
}

// get opens a dataset or fails.
func get(t testing.TB, f *File, key string) *Dataset {
	t.Helper()
	d, err := f.Dataset(key)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// want compares the result of a reading method.
func want[T any](t testing.TB, got T, err error, want T) {
	t.Helper()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func integer(t *testing.T, key string, d *Dataset) int64 {
	t.Helper()
	all, err := d.Attrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Name == key {
			v, err := a.Int64()
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("%s has no attribute %s", d.Path(), key)
	return 0
}

// Every number type and every layout follows a rule: element i is
// i % mod + add.
func TestNumbersAndLayouts(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		for _, group := range []string{"/numbers", "/layout"} {
			keys, err := f.Keys(group)
			if err != nil || len(keys) < 15 {
				t.Fatal(keys, err)
			}
			for _, k := range keys {
				checkRule(t, get(t, f, group+"/"+k))
			}
		}
	})
}

func checkRule(t *testing.T, d *Dataset) {
	t.Helper()
	mod, add := integer(t, "mod", d), integer(t, "add", d)
	v, err := d.Float64s()
	if err != nil {
		t.Error(err)
		return
	}
	if len(v) != d.Len() {
		t.Errorf("%v: %d elements", d, len(v))
	}
	for i, x := range v {
		if w := float64(int64(i)%mod + add); x != w {
			t.Errorf("%v %v %v: element %d is %v, want %v", d, d.Chunks(), d.Filters(), i, x, w)
			return
		}
	}
	ints, err := d.Int64s()
	if err != nil || len(ints) != len(v) {
		t.Errorf("%v: %v", d, err)
	}
	f32, err := d.Float32s()
	if err != nil || len(f32) != len(v) || len(v) > 0 && float64(f32[len(v)-1]) != v[len(v)-1] {
		t.Errorf("%v: %v", d, err)
	}
	checkSlabs(t, d, v)
}

// checkSlabs compares some blocks with the whole.
func checkSlabs(t *testing.T, d *Dataset, whole []float64) {
	t.Helper()
	shape := d.Shape()
	for k := range 4 {
		offset, count := make([]int, len(shape)), make([]int, len(shape))
		for i, n := range shape {
			offset[i] = n * k / 5
			count[i] = min(n-offset[i], n/2+k%2)
		}
		got, err := d.Slab(offset, count).Float64s()
		if err != nil {
			t.Errorf("%v: %v", d, err)
			return
		}
		if w := block(whole, shape, offset, count); !slices.Equal(got, w) {
			t.Errorf("%v: slab at %v of %v is %v, want %v", d, offset, count, got, w)
			return
		}
		narrow := slices.Repeat([]float32{-1}, len(got))
		if err := errors.Join(d.Slab(offset, count).Float64sTo(got), d.Slab(offset, count).Float32sTo(narrow)); err != nil {
			t.Errorf("%v: %v", d, err)
		}
		for i, v := range block(whole, shape, offset, count) {
			if got[i] != v || narrow[i] != float32(v) {
				t.Errorf("%v: slab at %v of %v into a slice: element %d is %v, %v, want %v", d, offset, count, i, got[i], narrow[i], v)
				return
			}
		}
	}
}

// block cuts a slab out of a whole array, one element at a time.
func block(whole []float64, shape, offset, count []int) []float64 {
	out := []float64{}
	total := 1
	for _, n := range count {
		total *= n
	}
	for i := range total {
		at, step, rest := 0, 1, i
		for k := len(shape) - 1; k >= 0; k-- {
			at += (offset[k] + rest%count[k]) * step
			rest /= count[k]
			step *= shape[k]
		}
		out = append(out, whole[at])
	}
	return out
}

func TestPagedIndex(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		for _, key := range []string{"/deep/plain", "/deep/gzip"} {
			if !f.Has("/deep") {
				continue
			}
			v, err := get(t, f, key).Slab([]int{1599999}, []int{7}).Int64s()
			want(t, v, err, []int64{0, 7, 8, 9, 10, 11, 0})
			v, err = get(t, f, key).Slab([]int{24}, []int{3}).Int64s()
			want(t, v, err, []int64{0, 3, 0})
		}
	})
}

func TestFillValues(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		v, err := get(t, f, "/fill/sparse").Int64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range v {
			w := int64(-3)
			if r, c := i/20, i%20; (r == 6 || r == 7) && (c == 6 || c == 7) {
				w = 1
			}
			if x != w {
				t.Fatalf("element %d is %d, want %d", i, x, w)
			}
		}
		none, err := get(t, f, "/fill/none").Slab([]int{1, 1}, []int{1, 3}).Float64s()
		want(t, none, err, []float64{2.5, 2.5, 2.5})
		zero, err := get(t, f, "/fill/zero").Float64s()
		want(t, zero, err, make([]float64, 20))
	})
}

func TestText(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		for key, w := range map[string][]string{
			"fixed": {"ab", "cde", ""}, "vlen": {"héllo", "", strings.Repeat("world ", 30)},
			"ascii": {"one", "two"}, "scalar": {"a string"}, "never": {"", "", ""},
			"nullterm": {"ab", "c d"}, "nullpad": {"ab", "c d"}, "space": {"ab", "c d"},
		} {
			s, err := get(t, f, "/text/"+key).Strings()
			want(t, s, err, w)
		}
		s, err := get(t, f, "/text/chunked").Slab([]int{9}, []int{3}).Strings()
		want(t, s, err, []string{"s9", "s10", "s11"})
		if got := get(t, f, "/text/scalar").Type().String(); got != "vlen-utf8-string" {
			t.Error(got)
		}
	})
}

func TestTypes(t *testing.T) {
	each(t, func(t *testing.T, f *File) {
		at := func(key string) *Dataset { return get(t, f, "/types/"+key) }
		b, err := at("bool").Bools()
		want(t, b, err, []bool{true, false, true})
		s, err := at("enum").Strings()
		want(t, s, err, []string{"BLUE", "RED", "GREEN"})
		v, err := at("compound").Field("x").Float64s()
		want(t, v, err, []float64{1, 2, 3})
		v, err = at("compound").Slab([]int{1}, []int{2}).Field("v").Float64s()
		want(t, v, err, []float64{4, 5, 6, 7, 8, 9})
		s, err = at("compound").Field("name").Strings()
		want(t, s, err, []string{"a", "bb", "ccc"})
		n, err := at("compound").Field("in").Field("b").Int64s()
		want(t, n, err, []int64{-1, -2, -3})
		s, err = at("mixed").Field("s").Strings()
		want(t, s, err, []string{"first", "second"})
		z, err := at("complex").Complex128s()
		want(t, z, err, []complex128{1 + 2i, 3 - 4i})
		a := at("array")
		want(t, a.Shape(), nil, []int{2, 3, 4})
		n, err = a.Slab([]int{1, 2}, []int{1, 1}).Int64s()
		want(t, n, err, []int64{20, 21, 22, 23})
		raw, err := at("opaque").Bytes()
		want(t, raw, err, []byte{1, 2, 3})
		r, err := at("vlen").Ragged()
		want(t, r, err, [][]float64{{1, 2, 3}, {}, {4, 5}})
		n, err = at("committed").Int64s()
		want(t, n, err, []int64{1, 2, 3})
		n, err = at("bits12").Int64s()
		want(t, n, err, []int64{-2048, 5, 2047})
		v, err = at("bfloat16").Float64s()
		want(t, v, err, []float64{1.5, -2, 0, math.Inf(1)})
		if d := at("null"); !d.Null() || d.Len() != 0 {
			t.Error("null dataspace has elements")
		}
		refs, err := at("refs").References()
		if err != nil || refs[0].Path != "/types/bool" || refs[1].Path != "/types" {
			t.Error(refs, err)
		}
		if d, err := f.Dereference(refs[0]); err != nil || d.Len() != 3 {
			t.Error(d, err)
		}
	})
}

func TestMisuse(t *testing.T) {
	f := open(t, "testdata/earliest.h5")
	d := get(t, f, "/numbers/f8")
	for what, err := range map[string]error{
		"elements are float64, not strings: use Float64s": second(d.Strings()),
		"slab at [0] of [1] has not the 2 axes":           second(d.Slab([]int{0}, []int{1}).Float64s()),
		"slab at [2 0] of [2 1] leaves the shape [3 5]":   second(d.Slab([]int{2, 0}, []int{2, 1}).Float64s()),
		"without a field \"x\"":                           second(d.Field("x").Float64s()),
		"has 15 elements of shape [3 5], want one":        second(d.Float64()),
		"value -7 does not fit uint64: use Float64s":      second(d.Uint64s()),
		"is a group, not a dataset":                       second(f.Dataset("/numbers")),
		"is not a group: use Dataset":                     second(f.Keys("/numbers/f8")),
		"value 1.5 does not fit int64":                    second(get(t, f, "/types/bfloat16").Int64s()),
		"use Strings":                                     second(get(t, f, "/text/vlen").Float64s()),
	} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
	f.MaxBytes = 100
	if _, err := get(t, f, "/layout/fixed").Float64s(); err == nil || !strings.Contains(err.Error(), "exceed the limit of 100 bytes") {
		t.Error(err)
	}
	if _, err := Open("testdata/make.py"); err == nil || !strings.Contains(err.Error(), "is not an HDF5 file") {
		t.Error(err)
	}
	if _, err := Open("testdata"); err == nil {
		t.Error("opened a directory")
	}
}

func second[T any](_ T, err error) error { return err }
