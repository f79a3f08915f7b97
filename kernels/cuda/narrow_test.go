// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
	"github.com/euryale-dev/euryale/tensor"
)

// narrowCheck is a program that rounds numbers to every narrow type and reads them back.
var narrowCheck = rtc.Source{Name: "narrow.cu", Text: Narrow + `
extern "C" __global__ void narrow(const float *x, eu_f16 *h, eu_bf16 *b, float *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	h[i] = x[i];
	b[i] = x[i];
	out[i] = eu_tf32(x[i]);
	out[n + i] = h[i];
	out[2 * n + i] = b[i];
}`}

// The processor and the device round to narrow types as the reference does, bit for bit, and read
// them back alike. Of a NaN only that it is one counts.
func TestNarrowNumbersAgreeWithReference(t *testing.T) {
	var f struct {
		Cases []struct {
			F32  string `json:"f32"`
			F16  string `json:"f16"`
			BF16 string `json:"bf16"`
			TF32 string `json:"tf32_rna"`
		}
	}
	golden.JSON(t, &f, "cuda", "dtype_convert.json")
	hex := func(s string) uint32 {
		v, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(v)
	}
	d := device(t, pretend.LookPath(t), Settings{})
	m, err := d.Compile(narrowCheck)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Function("narrow")
	if err != nil {
		t.Fatal(err)
	}
	n := len(f.Cases)
	x := make([]float32, n)
	for i, c := range f.Cases {
		x[i] = math.Float32frombits(hex(c.F32))
	}
	in, h, b, out := alloc(t, d, nil, 4*n), alloc(t, d, nil, 2*n), alloc(t, d, nil, 2*n), alloc(t, d, nil, 12*n)
	halves, brains, wide := make([]uint16, n), make([]uint16, n), make([]float32, 3*n)
	for _, err := range []error{
		d.CopyIn(background, in, 0, x),
		k.Launch(d.Default(), Dim{X: (n + 127) / 128}, Dim{X: 128}, 0, in, h, b, out, int32(n)),
		d.CopyOut(background, halves, h, 0), d.CopyOut(background, brains, b, 0), d.CopyOut(background, wide, out, 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	same := func(what string, i int, got, want float32) {
		t.Helper()
		if math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Errorf("%s of %s: %08x, want %08x", what, f.Cases[i].F32, math.Float32bits(got), math.Float32bits(want))
		}
	}
	for i, c := range f.Cases {
		for _, got := range []tensor.Half{tensor.HalfOf(float64(x[i])), tensor.Half(halves[i])} {
			same("float16", i, got.Float32(), tensor.Half(hex(c.F16)).Float32())
		}
		for _, got := range []tensor.BFloat16{tensor.BFloat16Of(x[i]), tensor.BFloat16(brains[i])} {
			same("bfloat16", i, got.Float32(), tensor.BFloat16(hex(c.BF16)).Float32())
		}
		for _, got := range []float32{tensor.RoundTF32(x[i]), wide[i]} {
			same("tf32", i, got, math.Float32frombits(hex(c.TF32)))
		}
		same("float16, read", i, wide[n+i], tensor.Half(halves[i]).Float32())
		same("bfloat16, read", i, wide[2*n+i], tensor.BFloat16(brains[i]).Float32())
	}
	if n == 0 {
		t.Error("the reference has no numbers")
	}
}
