// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// Every half is the number that IEEE 754 says, and comes back from it.
func TestHalvesAreExact(t *testing.T) {
	for i := range 1 << 16 {
		h := tensor.Half(i)
		exp, frac, sign := i>>10&31, float64(i&1023), 1-2*float64(i>>15)
		want := sign * math.Ldexp(1+frac/1024, exp-15)
		switch {
		case exp == 0:
			want = sign * math.Ldexp(frac, -24)
		case exp == 31 && frac == 0:
			want = math.Inf(int(sign))
		case exp == 31:
			if v := h.Float32(); v == v {
				t.Errorf("%#x is %v, want NaN", i, v)
			}
			continue
		}
		got := float64(h.Float32())
		if got != want || math.Signbit(got) != (sign < 0) || tensor.HalfOf(got) != h {
			t.Fatalf("%#x is %v, want %v; back %#x", i, got, want, tensor.HalfOf(got))
		}
	}
	if h := tensor.HalfOf(math.NaN()); h.Float32() == h.Float32() {
		t.Error("NaN is lost")
	}
}

// Numbers between two halves go to the nearer one, and to the even one half way.
func TestHalvesAreNearest(t *testing.T) {
	for i := range 0x7c00 {
		a, b := float64(tensor.Half(i).Float32()), float64(tensor.Half(i+1).Float32())
		if i == 0x7bff {
			b = 65536
		}
		middle, even := (a+b)/2, tensor.Half(i+i&1)
		for v, want := range map[float64]tensor.Half{
			math.Nextafter(middle, 0): tensor.Half(i), middle: even, math.Nextafter(middle, 1e9): tensor.Half(i + 1)} {
			if got := tensor.HalfOf(v); got != want {
				t.Fatalf("%v is %#x, want %#x", v, got, want)
			}
			if got := tensor.HalfOf(-v); got != want|0x8000 {
				t.Fatalf("%v is %#x, want %#x", -v, got, want|0x8000)
			}
		}
	}
}

func TestHalfArrays(t *testing.T) {
	x, err := tensor.From([]tensor.Half{0x3c00, 0xc000, 0x3555}, 3)
	if err != nil || x.DType().Bytes() != 2 || x.String() != "[1 -2 0.333252] float16[3]" {
		t.Fatalf("%v, %v", x, err)
	}
	y, _ := tensor.From([]float64{1, 1. / 3, 1e6})
	if got := y.Convert(tensor.Float16).Data().([]tensor.Half); got[0] != 0x3c00 || got[1] != 0x3555 || got[2] != 0x7c00 {
		t.Errorf("%#x", got)
	}
	var file bytes.Buffer
	if err := x.WriteNPY(&file); err != nil || !bytes.Contains(file.Bytes(), []byte("<f2")) {
		t.Fatalf("%v: %q", err, file.Bytes())
	}
	back, err := tensor.ReadNPY(&file)
	if err != nil || back.DType() != tensor.Float32 || back.At(1) != float32(-2) {
		t.Errorf("%v, %v", back, err)
	}
}

// Numbers in 16 bits and factors of tensor cores are those of the reference, bit for bit.
func TestNarrowNumbersAgreeWithReference(t *testing.T) {
	var f struct {
		Cases []struct {
			F32  string
			F16  string
			BF16 string
			TF32 string `json:"tf32_rna"`
		}
	}
	golden.JSON(t, &f, "cuda", "dtype_convert.json")
	if len(f.Cases) == 0 {
		t.Fatal("the reference has no numbers")
	}
	hex := func(s string) uint32 {
		v, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(v)
	}
	for _, c := range f.Cases {
		x := math.Float32frombits(hex(c.F32))
		for _, v := range [][2]float32{
			{tensor.HalfOf(float64(x)).Float32(), tensor.Half(hex(c.F16)).Float32()},
			{tensor.BFloat16Of(x).Float32(), tensor.BFloat16(hex(c.BF16)).Float32()},
			{tensor.RoundTF32(x), math.Float32frombits(hex(c.TF32))},
		} {
			if math.Float32bits(v[0]) != math.Float32bits(v[1]) && (v[0] == v[0] || v[1] == v[1]) {
				t.Errorf("%s: %g, want %g", c.F32, v[0], v[1])
			}
		}
	}
}
