// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// elementwise returns the operations of package autodiff that are functions of single elements.
func elementwise() []*autodiff.Op {
	var ops []*autodiff.Op
	for _, op := range autodiff.Ops() {
		if op.IsElementwise() {
			ops = append(ops, op)
		}
	}
	return ops
}

// program is one kernel for each operation, with each helper once.
func program(ops []*autodiff.Op) rtc.Source {
	var b strings.Builder
	b.WriteString(rtc.Prelude)
	seen := map[string]bool{}
	for _, op := range ops {
		for _, f := range strings.SplitAfter(op.Helper, "\n}\n") {
			if !seen[f] {
				seen[f] = true
				b.WriteString(f)
			}
		}
	}
	for i, op := range ops {
		fmt.Fprintf(&b, "extern \"C\" __global__ void op%d(const double* in, double* out, int n) {\n"+
			"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n", i)
		for k := range op.Arity {
			fmt.Fprintf(&b, "  double %c = in[3 * i + %d];\n", "xyz"[k], k)
		}
		fmt.Fprintf(&b, "  out[i] = %s;\n}\n", op.CUDA)
	}
	return rtc.Source{Name: "operations.cu", Text: b.String()}
}

// Every operation's text, compiled as a kernel and run as one, gives what its Go function gives.
func TestOperationsOnADevice(t *testing.T) {
	d := cuda.PretendDevice(t, pretend.LookPath(t), cuda.Settings{})
	const n = 300
	ops := elementwise()
	if len(ops) < 50 {
		t.Fatalf("there are %d operations", len(ops))
	}
	m, err := d.Compile(program(ops))
	if err != nil {
		t.Fatal(err)
	}
	in, out := buffer(t, d, 24*n), buffer(t, d, 8*n)
	for k, op := range ops {
		name := fnv.New64()
		name.Write([]byte(op.Name))
		rng := rand.New(rand.NewPCG(5, name.Sum64()))
		points, got := make([]float64, 3*n), make([]float64, n)
		for i := range points {
			points[i] = op.Domain.Lo + rng.Float64()*(op.Domain.Hi-op.Domain.Lo)
		}
		f, err := m.Function(fmt.Sprintf("op%d", k))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.CopyIn(t.Context(), in, 0, points); err != nil {
			t.Fatal(err)
		}
		if err := f.Launch(d.Default(), cuda.Blocks(n, 128), cuda.Dim{X: 128}, 0, in, out, int32(n)); err != nil {
			t.Fatal(err)
		}
		if err := d.CopyOut(t.Context(), got, out, 0); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			x := points[3*i : 3*i+op.Arity]
			want := op.Eval(x...)
			if !(math.Abs(got[i]-want) <= 2e-13*max(math.Abs(want), 1e-3)) && !(math.IsNaN(want) && math.IsNaN(got[i])) {
				t.Errorf("%s%v is %.17g, want %.17g", op.Name, x, got[i], want)
				break
			}
		}
	}
}

func buffer(t *testing.T, d *cuda.Device, bytes int) *cuda.Buffer {
	t.Helper()
	b, err := d.Alloc(bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Free)
	return b
}

// withHeader is a program that includes a text of ours by name.
var withHeader = rtc.Source{Name: "header.cu", Headers: map[string]string{"twice.h": "static __device__ float twice(float x) { return 2.0f * x; }\n"},
	Text: "#include \"twice.h\"\nextern \"C\" __global__ void doubled(float* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }\n"}

func TestProgramsIncludeHeaders(t *testing.T) {
	d := cuda.PretendDevice(t, pretend.LookPath(t), cuda.Settings{})
	m, err := d.Compile(withHeader)
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("doubled")
	if err != nil {
		t.Fatal(err)
	}
	x, v := buffer(t, d, 8), []float32{1.5, -2}
	if err := errors.Join(d.CopyIn(t.Context(), x, 0, v), f.Launch(d.Default(), cuda.Dim{X: 1}, cuda.Dim{X: 2}, 0, x), d.CopyOut(t.Context(), v, x, 0)); err != nil {
		t.Fatal(err)
	}
	if v[0] != 3 || v[1] != -4 {
		t.Errorf("got %v", v)
	}
}

// NVIDIA's compiler accepts every kernel of ours, for every architecture from Turing on, without
// warnings. It needs no GPU: a toolkit, or the wheel nvidia-cuda-nvrtc-cu12 in .peers or the active
// environment.
func TestRealCompilerTakesOurKernels(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Settings{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (pip install nvidia-cuda-nvrtc-cu12, or EURYALE_LIBNVRTC)")
	}
	sources := []rtc.Source{cuda.PhiloxSource(), cuda.SampleSource(), withHeader, cuda.NarrowCheck,
		cuda.Map{Name: "map32", Inputs: []string{"x", "y"}, Expression: "tanhf(x) * y"}.Source(),
		cuda.Map{Name: "map64", Type: cuda.Float64, Inputs: []string{"x"}, Expression: "exp(-x * x)"}.Source()}
	known := map[rtc.Target]bool{}
	for _, k := range c.Targets() {
		known[k] = true
	}
	for _, target := range []rtc.Target{{Major: 7, Minor: 5}, {Major: 8}, {Major: 9}, {Major: 10}} {
		if !known[target] {
			t.Logf("lacks an NVRTC for capability %s", target)
			continue
		}
		for _, s := range sources {
			image, err := c.Compile(s, target)
			if err != nil {
				t.Errorf("capability %s: %v", target, err)
				continue
			}
			if len(image.Data) < 1000 || string(image.Data[1:4]) != "ELF" || image.PTX {
				t.Errorf("capability %s, %s: the image is %d B, %q", target, s.Name, len(image.Data), image.Data[:4])
			}
			if image.Log != "" {
				t.Errorf("capability %s, %s: %s", target, s.Name, image.Log)
			}
		}
	}
	// All operations in one program; as PTX, since code for it takes the compiler minutes.
	if !testing.Short() {
		if image, err := c.CompilePTX(program(elementwise()), rtc.Target{Major: 9}); err != nil {
			t.Error(err)
		} else if image.Log != "" {
			t.Errorf("operations: %s", image.Log)
		}
	}
	// A device newer than the compiler gets text that its driver compiles.
	image, err := c.Compile(cuda.PhiloxSource(), rtc.Target{Major: 99})
	if err != nil {
		t.Fatal(err)
	}
	if !image.PTX || !strings.Contains(string(image.Data), ".visible .entry philox_bits") {
		t.Errorf("for a new device: PTX %v, %s", image.PTX, image.Arch)
	}
	_, err = c.Compile(rtc.Source{Name: "bad.cu", Text: "extern \"C\" __global__ void bad(float* x) {\n  x[0] = nosuch;\n}\n"}, rtc.Target{Major: 9})
	if err == nil || !strings.Contains(err.Error(), "    2 |   x[0] = nosuch;") {
		t.Errorf("the lines of an error are not shown: %v", err)
	}
}
