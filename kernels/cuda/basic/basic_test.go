// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

var (
	inText = regexp.MustCompile(`extern "C" __global__ void __launch_bounds__\(256\) (\w+)\(([^)]*)\)`)
	inPTX  = regexp.MustCompile(`(?s)\.entry (\w+)\((.*?)\)`)
)

// kernels returns the number of parameters of every kernel.
func kernels(text string, in *regexp.Regexp) map[string]int {
	all := map[string]int{}
	for _, m := range in.FindAllStringSubmatch(text, -1) {
		all[m[1]] = 1 + strings.Count(m[2], ",")
		if in == inText {
			all[m[1]] -= strings.Count(m[2], ", 1>") + strings.Count(m[2], ", -1>") // of templates
		}
	}
	return all
}

// The PTX is that of today's text and header: it has their hash, its kernels and their parameters, and lacks nothing.
func TestPTXIsUpToDate(t *testing.T) {
	header, err := os.ReadFile("../../../internal/ptx/cuda.h")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, s := range append(Sources(), cuda.PhiloxSource()) {
		ptx := string(s.PTX)
		if total += len(ptx); !strings.Contains(ptx, fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(string(header)+s.Text)))) {
			t.Errorf("the PTX of %s is of another text: make ptx", s.Name)
			continue
		}
		want, got := kernels(s.Text, inText), kernels(ptx, inPTX)
		for name, n := range want {
			if got[name] != n {
				t.Errorf("%s: kernel %s has %d parameters in PTX, %d in the text", s.Name, name, got[name], n)
			}
		}
		if len(got) != len(want) || len(want) < 6 {
			t.Errorf("%s: %d kernels in PTX, %d in the text", s.Name, len(got), len(want))
		}
		if strings.Contains(ptx, ".extern") || !strings.Contains(ptx, ".target sm_75") {
			t.Errorf("%s: the PTX lacks a function, or is for another target", s.Name)
		}
	}
	if total > 1<<20 {
		t.Errorf("%d bytes of PTX: want at most 1 MiB in the program", total)
	}
}

// NVIDIA's own compiler takes the set without a warning.
func TestRealCompiler(t *testing.T) {
	if os.Getenv("VIRTUAL_ENV") == "" {
		if peers, err := filepath.Abs("../../../.peers"); err == nil {
			t.Setenv("VIRTUAL_ENV", peers)
		}
	}
	c, err := rtc.Open(rtc.Settings{NoCache: true})
	if err != nil {
		t.Skip("lacks NVRTC (make nvrtc, or EURYALE_LIBNVRTC)")
	}
	for _, s := range Sources() {
		// As PTX: code for a GPU takes the compiler three times as long.
		if image, err := c.CompilePTX(s, rtc.Target{Major: 9}); err != nil || image.Log != "" {
			t.Errorf("%s: %v\n%s", s.Name, err, image.Log)
		}
	}
}

// Without NVRTC kernels come from the PTX. The pretend driver runs no PTX, so images of the same text
// stand in for it.
func TestWithoutCompiler(t *testing.T) {
	lib := pretend.LookPath(t)
	c, err := rtc.Open(rtc.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	all := Sources()
	for i, s := range all {
		s.Text = "#define GROUPS_OF_CALLS(n) 0\n" + s.Text // as the header of the PTX says
		image, err := c.Compile(s, rtc.Target{Major: 9})
		if err != nil {
			t.Fatal(err)
		}
		all[i].PTX = image.Data
	}
	before := sources
	sources = func() []rtc.Source { return all }
	defer func() { sources = before }()
	t.Setenv(dl.Variable("NVRTC"), "/nowhere/libnvrtc.so")
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Compile(rtc.Source{Name: "other.cu", Text: "extern \"C\" __global__ void other() {}"}); !errors.Is(err, rtc.ErrNoCompiler) {
		t.Errorf("a program without PTX: %v", err)
	}
	newBench(t, d).all(true)
	if n := lib.Get("compiles"); n > 3 {
		t.Errorf("%d programs were compiled", n)
	}
	if err := Open(d).Map(d.Default(), "sine", cuda.Float64, 0, cuda.Part{}, nil); err == nil || !strings.Contains(err.Error(), "no map sine") {
		t.Errorf("an unknown map: %v", err)
	}
}

// Lengths about those of groups, warps, blocks and pieces, with no elements at all among them.
func TestReduceOfAnyLength(t *testing.T) {
	pretend.LookPath(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, s := Open(d), d.Default()
	for _, c := range [][3]int{{1, 0, 1}, {3, 0, 2}, {1, 1, 1}, {2, 31, 1}, {2, 33, 3}, {1, 257, 1}, {1, 300001, 1}, {1, 70001, 2}, {500, 7, 1}, {2, 5, 300}} {
		n, results := c[0]*c[1]*c[2], c[0]*c[2]
		x, err := d.Alloc(8 * max(1, n))
		if err != nil {
			t.Fatal(err)
		}
		y, err := d.Alloc(8 * results)
		if err != nil {
			t.Fatal(err)
		}
		v, want, got := make([]float64, n), make([]float64, results), make([]float64, results)
		for i := range v {
			v[i] = float64(i % 11)
			want[i/(c[1]*c[2])*c[2]+i%c[2]] += v[i]
		}
		if err := errors.Join(d.CopyIn(t.Context(), x, 0, v), k.Reduce(s, "sum", cuda.Float64, y.At(0), x.At(0), c[0], c[1], c[2]), d.CopyOut(t.Context(), got, y, 0)); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c, got[:min(4, len(got))], want[:min(4, len(got))])
		}
		if c[1] == 0 {
			if err := k.Reduce(s, "max", cuda.Float64, y.At(0), x.At(0), c[0], c[1], c[2]); err == nil {
				t.Errorf("%v: the largest of nothing is no error", c)
			}
		}
	}
}
