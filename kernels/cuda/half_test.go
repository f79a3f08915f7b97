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

// halfProgram converts n numbers to the bits of each format, and n patterns of 16 bits to numbers.
const halfProgram = `#include "half.cuh"
extern "C" __global__ void shorten(const float *x, unsigned *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[3 * i] = half_bits(x[i]);
  y[3 * i + 1] = bfloat_bits(x[i]);
  y[3 * i + 2] = __float_as_uint(tf32_value(x[i]));
}
extern "C" __global__ void widen(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[2 * i] = half_value((unsigned short)i);
  y[2 * i + 1] = bfloat_value((unsigned short)i);
}
`

// halfCheck is that program with its header.
var halfCheck = rtc.Source{Name: "half.cu", Text: halfProgram, Headers: map[string]string{"half.cuh": HalfHeader}}

// halfKernel compiles the program of these tests and returns one of its kernels.
func halfKernel(t *testing.T, d *Device, name string) *Function {
	t.Helper()
	m, err := d.Compile(halfCheck)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// shortened returns the bits of f16, bf16 and tf32 of numbers.
func shortened(t *testing.T, d *Device, x []float32) []uint32 {
	t.Helper()
	in, out := alloc(t, d, x, 4*len(x)), alloc(t, d, nil, 12*len(x))
	defer in.Free()
	defer out.Free()
	f := halfKernel(t, d, "shorten")
	got := make([]uint32, 3*len(x))
	if err := f.Launch(d.Default(), Blocks(len(x), 256), Dim{X: 256}, 0, in, out, int32(len(x))); err != nil {
		t.Fatal(err)
	}
	if err := d.CopyOut(background, got, out, 0); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHalfAgreesWithReference(t *testing.T) {
	var family struct {
		Cases []struct {
			F32, F16, BF16 string
			TF32           string `json:"tf32_rna"`
			NaN            bool
		}
	}
	golden.JSON(t, &family, "cuda", "dtype_convert.json")
	if len(family.Cases) == 0 {
		t.Fatal("the reference has no cases")
	}
	bits := func(s string) uint32 {
		v, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(v)
	}
	var x []float32
	for _, c := range family.Cases {
		x = append(x, math.Float32frombits(bits(c.F32)))
	}
	d := device(t, pretend.LookPath(t), Options{})
	got := shortened(t, d, x)
	for i, c := range family.Cases {
		g := got[3*i : 3*i+3]
		switch {
		case c.NaN:
			if g[0]&0x7fff <= 0x7c00 || g[1]&0x7fff <= 0x7f80 || g[2]&0x7fffffff <= 0x7f800000 {
				t.Errorf("the NaN %s becomes %04x, %04x, %08x", c.F32, g[0], g[1], g[2])
			}
		case g[0] != bits(c.F16) || g[1] != bits(c.BF16) || g[2] != bits(c.TF32):
			t.Errorf("%s becomes %04x, %04x, %08x; want %s, %s, %s", c.F32, g[0], g[1], g[2], c.F16, c.BF16, c.TF32)
		}
	}
}

// Every pattern of 16 bits has its value, and is made of it again.
func TestHalfRoundTrips(t *testing.T) {
	d := device(t, pretend.LookPath(t), Options{})
	const n = 1 << 16
	out := alloc(t, d, nil, 8*n)
	defer out.Free()
	if err := halfKernel(t, d, "widen").Launch(d.Default(), Blocks(n, 256), Dim{X: 256}, 0, out, int32(n)); err != nil {
		t.Fatal(err)
	}
	x := floats(t, d.Default(), out, 2*n)
	back := shortened(t, d, x)
	for i := range n {
		half, bfloat := x[2*i], x[2*i+1]
		if want := tensor.Half(i).Float32(); half != want && !(half != half && want != want) {
			t.Fatalf("f16 %04x is %g, want %g", i, half, want)
		}
		if want := math.Float32frombits(uint32(i) << 16); bfloat != want && !(bfloat != bfloat && want != want) {
			t.Fatalf("bf16 %04x is %g, want %g", i, bfloat, want)
		}
		if half == half && back[6*i] != uint32(i) || bfloat == bfloat && back[6*i+4] != uint32(i) {
			t.Fatalf("%04x becomes f16 %04x and bf16 %04x", i, back[6*i], back[6*i+4])
		}
	}
}

// Numbers halfway between two neighbours go to the even one, and those beside them to the nearer one.
func TestHalfRoundsToEven(t *testing.T) {
	d := device(t, pretend.LookPath(t), Options{})
	var x []float32
	var want []uint32
	for h := range uint32(0x7bff) {
		a, b := tensor.Half(h).Float32(), tensor.Half(h+1).Float32()
		middle := (a + b) / 2
		x = append(x, middle, math.Nextafter32(middle, a), math.Nextafter32(middle, b))
		want = append(want, h+h&1, h, h+1)
	}
	got := shortened(t, d, x)
	for i, w := range want {
		if got[3*i] != w {
			t.Fatalf("%g becomes f16 %04x, want %04x", x[i], got[3*i], w)
		}
	}
}
