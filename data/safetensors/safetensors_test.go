// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/safetensors"
	"github.com/euryale-dev/euryale/tensor"
)

// file makes a file of a header and bytes.
func file(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestWriteRead(t *testing.T) {
	arrays := map[string]*tensor.Tensor{}
	for name, data := range map[string]any{"f64": []float64{1, math.Inf(-1), -0.5, 4, 5, 6}, "f32": []float32{1.5, 2, 3, 4, 5, 6}, "half": []tensor.Half{0x3c00, 0xc000, 0, 1, 2, 3},
		"i64": []int64{-1, 1 << 60, 3, 4, 5, 6}, "i32": []int32{-7, 2, 3, 4, 5, 6}, "truth": []bool{true, false, true, true, false, false}} {
		x, err := tensor.From(data, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		arrays[name], arrays[name+".T"] = x, x.Permute(1, 0)
	}
	arrays["empty"] = tensor.New(tensor.Float32, 0, 4)
	one, err := tensor.Scalar(2.5)
	if err != nil {
		t.Fatal(err)
	}
	arrays["number"] = one
	name := filepath.Join(t.TempDir(), "a.safetensors")
	if err := safetensors.Save(name, arrays, map[string]string{"format": "pt"}); err != nil {
		t.Fatal(err)
	}
	got, notes, err := safetensors.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if notes["format"] != "pt" || !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(arrays))) {
		t.Errorf("%v, %v", notes, slices.Sorted(maps.Keys(got)))
	}
	for name, want := range arrays {
		if g := got[name]; g.DType() != want.DType() || !g.Shape().Equal(want.Shape()) || fmt.Sprint(g.Compact().Data()) != fmt.Sprint(want.Compact().Data()) {
			t.Errorf("%s: %v, want %v", name, g, want)
		}
	}
	if b, _ := os.ReadFile(name); binary.LittleEndian.Uint64(b)%8 != 0 {
		t.Error("the numbers are not aligned")
	}
	if err := safetensors.Write(&bytes.Buffer{}, map[string]*tensor.Tensor{"z": tensor.New(tensor.Complex64, 1)}, nil); err == nil {
		t.Error("complex numbers were written")
	}
}

// Arrays without numbers may be all of a file, whatever their other lengths are. Names are texts.
func TestWriteReadOdd(t *testing.T) {
	for _, shape := range [][]int{{0, 4}, {1000, 0, 3}, {0}} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, map[string]*tensor.Tensor{"none": tensor.New(tensor.Float32, shape...)}, nil); err != nil {
			t.Fatal(err)
		}
		if got, _, err := safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil || !got["none"].Shape().Equal(shape) {
			t.Errorf("%v: %v, %v", shape, got, err)
		}
	}
	one := tensor.New(tensor.Float32, 1)
	if err := safetensors.Write(&bytes.Buffer{}, map[string]*tensor.Tensor{"a\xff": one, "a\xfe": one}, nil); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
	if err := safetensors.Write(&bytes.Buffer{}, nil, map[string]string{"k": "\xff"}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Error(err)
	}
}

// Types that tensors do not have are widened.
func TestWidened(t *testing.T) {
	b := file(`{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},"c":{"dtype":"I16","shape":[1],"data_offsets":[5,7]}}`, 0x80, 0x3f, 0, 0xc0, 200, 0xff, 0xff)
	got, _, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprint(got["a"].Data(), got["b"].Data(), got["c"].Data()); text != "[1 -2] [200] [-1]" {
		t.Error(text)
	}
}

func TestDamaged(t *testing.T) {
	for want, b := range map[string][]byte{
		"at least 8":               {1, 2, 3},
		"no more than the file":    file(`{}`)[:9],
		"begins with":              file(` {}`),
		"not valid JSON":           file(`{"a":`),
		"twice":                    file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"without gaps":             file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 1, 2),
		"after the last":           file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1, 2),
		"of the type U128":         file(`{"a":{"dtype":"U128","shape":[1],"data_offsets":[0,1]}}`, 1),
		"lengths of at least 0":    file(`{"a":{"dtype":"U8","shape":[9223372036854775807,2],"data_offsets":[0,1]}}`, 1),
		"101 axes":                 file(`{"a":{"dtype":"U8","shape":[`+strings.Repeat("1,", 100)+`1],"data_offsets":[0,1]}}`, 1),
		"no more than 1, the n":    file(`{"a":{"dtype":"U8","shape":[0,1099511627776,1099511627776],"data_offsets":[0,0]}}`, 1),
		"not an object of strings": file(`{"__metadata__":[1]}`),
	} {
		if _, _, err := safetensors.Read(bytes.NewReader(b), int64(len(b))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(`{"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"__metadata__":{"k":"v"}}`, 1, 2, 3, 4))
	f.Add(file(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, notes, err := safetensors.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := safetensors.Write(&again, got, notes); err != nil {
			t.Fatal(err)
		}
		if _, _, err := safetensors.Read(bytes.NewReader(again.Bytes()), int64(again.Len())); err != nil {
			t.Fatal(err)
		}
	})
}
