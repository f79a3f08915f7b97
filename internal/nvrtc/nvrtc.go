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

// Takes compiles programs for the architecture of an H200, and reports what the compiler says about them. Where
// EURYALE_KEEP_PTX names a folder, the PTX is kept there as the name of the program and the test say, to look at
// registers with ptxas.
func Takes(t testing.TB, sources ...rtc.Source) {
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
		if folder := os.Getenv("EURYALE_KEEP_PTX"); folder != "" {
			name := fmt.Sprintf("%s_%s_%d.ptx", strings.TrimSuffix(s.Name, ".cu"), strings.ReplaceAll(t.Name(), "/", "_"), i)
			if err := os.WriteFile(filepath.Join(folder, name), image.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
