// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package nvrtc lets tests compile kernels by NVIDIA's own compiler, which needs no GPU.
package nvrtc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/cubin"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Open opens NVRTC, of a toolkit or of the wheel nvidia-cuda-nvrtc-cu12 in .peers (make nvrtc) or in the
// active environment. It skips the test where there is none. Call it before the pretend driver takes its place.
func Open(t testing.TB) *rtc.Compiler {
	t.Helper()
	if os.Getenv("VIRTUAL_ENV") == "" {
		t.Setenv("VIRTUAL_ENV", filepath.Join(root(), ".peers"))
	}
	c, err := rtc.Open(rtc.Settings{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (make nvrtc, or EURYALE_LIBNVRTC)")
	}
	return c
}

// root returns the folder of the module, upwards from that of the test.
func root() string {
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder
		}
		if up := filepath.Dir(folder); up != folder {
			folder = up
			continue
		}
		break
	}
	return "."
}

// Budget is what kernels may take of a multiprocessor for each thread.
type Budget struct {
	Registers int // of 32 bits
	Stack     int // bytes of memory: of calls, of arrays with indices that are not constant, and of registers that did not fit
}

// Usual is the budget of kernels with blocks of up to 256 threads, two of which then fit into the registers of a multiprocessor: 128 registers, and
// none of them in memory.
var Usual = Budget{Registers: 128}

// Within reports kernels of an image in machine code that need more than the usual budget, or than that of the longest name in others with which
// theirs begins.
func Within(t testing.TB, image *rtc.Image, others map[string]Budget) {
	t.Helper()
	kernels, err := cubin.Read(image.Data)
	if err != nil {
		t.Fatal(err)
	}
	if len(kernels) == 0 {
		t.Error("the image has no kernels")
	}
	for _, k := range kernels {
		most, of := Usual, ""
		for name, b := range others {
			if strings.HasPrefix(k.Name, name) && len(name) > len(of) {
				most, of = b, name
			}
		}
		if k.Registers == 0 || k.Total() == 0 {
			t.Errorf("nothing is known of %s", k.Name)
		}
		if k.Registers > most.Registers || k.Stack > most.Stack {
			t.Errorf("a thread of %s takes %d registers and %d bytes of memory: its budget is %d and %d", k.Name, k.Registers, k.Stack, most.Registers, most.Stack)
		}
	}
}

// Takes compiles programs for the architecture of an H200, and reports what the compiler says about them, and kernels beyond the usual budget.
func Takes(t testing.TB, sources ...rtc.Source) {
	t.Helper()
	TakesWithin(t, nil, sources...)
}

// TakesWithin is Takes with other budgets for kernels whose names begin so. Where
// EURYALE_KEEP_PTX names a folder, the PTX is kept there as the name of the program and the test say, to look at
// registers with ptxas.
func TakesWithin(t testing.TB, others map[string]Budget, sources ...rtc.Source) {
	t.Helper()
	c := Open(t)
	for i, s := range sources {
		image, err := c.CompilePTX(s, rtc.Target{Major: 9})
		if err != nil {
			t.Fatal(err)
		}
		if image.Log != "" {
			t.Errorf("%s, %d:\n%s", s.Name, i, image.Log)
		}
		code, err := c.Compile(s, rtc.Target{Major: 9})
		if err != nil {
			t.Fatal(err)
		}
		Within(t, code, others)
		if folder := os.Getenv("EURYALE_KEEP_PTX"); folder != "" {
			name := fmt.Sprintf("%s_%s_%d.ptx", strings.TrimSuffix(s.Name, ".cu"), strings.ReplaceAll(t.Name(), "/", "_"), i)
			if err := os.WriteFile(filepath.Join(folder, name), image.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
