// Package nvrtc lets tests compile kernels by NVIDIA's own compiler, which needs no GPU.
package nvrtc

import (
	"os"
	"path/filepath"
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
	c, err := rtc.Open(rtc.Options{NoCache: true})
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

// Takes compiles a program for the oldest architecture that NVRTC 12 and 13 know and for that of an H200, and
// reports what the compiler says about it.
func Takes(t testing.TB, s rtc.Source) {
	t.Helper()
	c := Open(t)
	for _, target := range []rtc.Target{{Major: 7, Minor: 5}, {Major: 9}} {
		image, err := c.CompilePTX(s, target)
		if err != nil {
			t.Fatal(err)
		}
		if image.Log != "" {
			t.Errorf("%s for %v:\n%s", s.Name, target, image.Log)
		}
	}
}
