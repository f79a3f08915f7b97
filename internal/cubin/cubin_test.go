// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cubin_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/cubin"
	"github.com/euryale-dev/euryale/internal/nvrtc"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// text has a kernel for each kind of instructions that tests of budgets look at.
const text = `extern "C" __global__ void halve(double *x, float *y) { int i = blockIdx.x * 256 + threadIdx.x; x[i] = x[i] * 0.5 + y[i]; }
extern "C" __global__ void turn(float *x, const int *at) {
	__shared__ float room[256];
	float own[16];
	for (int k = 0; k < 16; k++) own[at[k] & 15] = x[k];
	room[threadIdx.x] = own[at[threadIdx.x] & 15];
	__syncthreads();
	atomicAdd(&x[threadIdx.x], rsqrtf(room[255 - threadIdx.x]));
}`

func TestReadsWhatTheAssemblerMade(t *testing.T) {
	c := nvrtc.Open(t)
	image, err := c.Compile(rtc.Source{Name: "kinds.cu", Text: text}, rtc.Target{Major: 9})
	if err != nil {
		t.Fatal(err)
	}
	list, err := cubin.Read(image.Data)
	if err != nil || len(list) != 2 || list[0].Name != "halve" || list[1].Name != "turn" {
		t.Fatalf("%+v, %v", list, err)
	}
	halve, turn := list[0], list[1]
	if m := halve.Mix; m[cubin.Float64] != 1 || m[cubin.Global] != 3 || m[cubin.Special] != 1 || m[cubin.Local] != 0 || m[cubin.Branch] < 1 || halve.Registers < 8 || halve.Registers > 32 || halve.Stack != 0 {
		t.Errorf("%+v", halve)
	}
	if m := turn.Mix; m[cubin.Local] < 17 || m[cubin.Shared] != 2 || m[cubin.Barrier] != 1 || m[cubin.Atomic] != 1 || m[cubin.Special] < 1 || turn.Stack != 64 || turn.Shared < 1024 {
		t.Errorf("%+v", turn)
	}
	for n := range len(image.Data) / 7 { // a damaged image is an error or other numbers
		_, _ = cubin.Read(image.Data[:7*n])
	}
}

func TestNoImage(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("//\n// PTX\n.version 8.0"), append([]byte("\x7fELF\x02\x01\x013\x07"), make([]byte, 100)...)} {
		if _, err := cubin.Read(b); err == nil || !strings.HasPrefix(err.Error(), "cubin: ") {
			t.Errorf("%q: %v", b, err)
		}
	}
}
