// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

const doubled = `extern "C" __global__ void doubled(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2.0f;
}
`

var hopper = Target{9, 0}

func compiler(t *testing.T, o Settings) *Compiler {
	t.Helper()
	if o.Cache == "" {
		o.Cache = t.TempDir()
	}
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNoCompilerNamesWhatWasTried(t *testing.T) {
	t.Setenv(dl.Variable("NVRTC"), filepath.Join(t.TempDir(), "libnvrtc.so"))
	if _, err := Open(Settings{}); !errors.Is(err, ErrNoCompiler) || !errors.As(err, new(*dl.NotFound)) {
		t.Errorf("got %v, want ErrNoCompiler with what was tried", err)
	}
}

func TestCompileOnceThenFromDisk(t *testing.T) {
	lib := pretend.LookPath(t)
	folder := t.TempDir()
	c := compiler(t, Settings{Cache: folder})
	s := Source{Name: "doubled.cu", Text: doubled}
	first, err := c.Compile(s, hopper)
	if err != nil {
		t.Fatal(err)
	}
	if first.Cached || first.PTX || first.Arch != "sm_90" || len(first.Data) == 0 {
		t.Errorf("first: cached %v, PTX %v, %s, %d B", first.Cached, first.PTX, first.Arch, len(first.Data))
	}
	again, err := compiler(t, Settings{Cache: folder}).Compile(s, hopper)
	if err != nil {
		t.Fatal(err)
	}
	if !again.Cached || string(again.Data) != string(first.Data) || again.Key != first.Key {
		t.Error("another process does not find the image")
	}
	if n := lib.Get("nvrtcCompileProgram"); n != 1 {
		t.Errorf("%d compilations, want 1", n)
	}
	// Anything that the image depends on gives another key.
	for name, other := range map[string]Source{
		"name":   {Name: "other.cu", Text: doubled},
		"text":   {Name: "doubled.cu", Text: doubled + "\n"},
		"header": {Name: "doubled.cu", Text: doubled, Headers: map[string]string{"a.h": "#define A 1"}},
		"option": {Name: "doubled.cu", Text: doubled, Options: []string{"-DA=1"}},
	} {
		if c.key(other, c.options("sm_90", other), false) == first.Key {
			t.Errorf("another %s has the same key", name)
		}
	}
	if c.key(s, c.options("sm_80", s), false) == first.Key || c.key(s, c.options("sm_90", s), true) == first.Key {
		t.Error("another architecture has the same key")
	}
	if st := c.Stats(); st.Compiled != 1 || st.CacheHits != 0 || st.CompileTime <= 0 {
		t.Errorf("statistics are %+v", st)
	}
}

func TestDamagedEntriesAreCompiledAgain(t *testing.T) {
	pretend.LookPath(t)
	c := compiler(t, Settings{})
	s := Source{Text: doubled}
	first, err := c.Compile(s, hopper)
	if err != nil {
		t.Fatal(err)
	}
	path := c.disk.path(first.Key)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, whole[:16], whole[:len(whole)-1], append([]byte{whole[0] ^ 1}, whole[1:]...)} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := c.Compile(s, hopper)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cached || string(got.Data) != string(first.Data) {
			t.Errorf("an entry of %d B was used", len(bad))
		}
	}
	c.Evict(first)
	if _, err := os.Stat(path); err == nil {
		t.Error("an evicted entry is still there")
	}
}

func TestCacheThatCannotBeUsed(t *testing.T) {
	pretend.LookPath(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Settings{"off": {NoCache: true}, "folder is a file": {Cache: file}, "too small": {CacheBytes: 10}} {
		c := compiler(t, o)
		for range 2 {
			if i, err := c.Compile(Source{Text: doubled}, hopper); err != nil || i.Cached {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	t.Setenv("EURYALE_CUDA_CACHE", "off")
	if NewCache("", 0) != nil {
		t.Error("off does not switch the cache off")
	}
	t.Setenv("EURYALE_CUDA_CACHE", "somewhere")
	if f := NewCache("", 0).Folder(); f != "somewhere" {
		t.Errorf("the cache is in %s", f)
	}
	t.Setenv("EURYALE_CUDA_CACHE", "")
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if NewCache("", 0).Folder() != "" {
		t.Error("without a home there is a cache")
	}
}

func TestCacheKeepsWhatWasUsedLast(t *testing.T) {
	c := NewCache(t.TempDir(), 4*(1000+sumBytes))
	keys := []string{"aa1", "bb2", "cc3", "dd4", "ee5", "ff6"}
	for i, k := range keys {
		c.Write(k, make([]byte, 1000))
		used := time.Now().Add(time.Duration(i-10) * 2 * touchAfter)
		if err := os.Chtimes(c.path(k), used, used); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := c.Read("aa1"); !ok { // the oldest is used again
		t.Fatal("aa1 was not kept")
	}
	c.Sweep()
	for k, want := range map[string]bool{"aa1": true, "bb2": false, "cc3": false, "dd4": true, "ee5": true, "ff6": true} {
		if _, ok := c.Read(k); ok != want {
			t.Errorf("%s is there: %v, want %v", k, ok, want)
		}
	}
}

func TestManyAskOneCompiles(t *testing.T) {
	lib := pretend.LookPath(t)
	c := compiler(t, Settings{NoCache: true, Workers: 1})
	c.slots <- struct{}{} // holds the first up until all others wait for it
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := c.Compile(Source{Text: doubled}, hopper); err != nil {
				t.Error(err)
			}
		})
	}
	for waiting := 0; waiting < 15; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		for _, f := range c.flight {
			waiting = f.waiting
		}
		c.mu.Unlock()
	}
	<-c.slots
	wg.Wait()
	if n := lib.Get("nvrtcCompileProgram"); n != 1 {
		t.Errorf("16 goroutines made %d compilations", n)
	}
	if len(c.flight) != 0 {
		t.Error("a finished compilation is not forgotten")
	}
}

func TestCompileErrorShowsLines(t *testing.T) {
	pretend.LookPath(t)
	c := compiler(t, Settings{})
	_, err := c.Compile(Source{Name: "bad.cu", Text: "// one\n// two\nextern \"C\" __global__ void bad(float* x) {\n  x[0] = nosuch;\n}\n"}, hopper)
	var e *CompileError
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a CompileError", err)
	}
	for _, want := range []string{"bad.cu", "nosuch", "    4 |   x[0] = nosuch;", "    2 | // two", "--gpu-architecture=sm_90", "NVRTC_ERROR_COMPILATION"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "    1 |") {
		t.Error("the error shows lines that nobody named")
	}
	_, err = c.Compile(Source{Text: doubled, Options: []string{"--no-such-option"}}, hopper)
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "NVRTC_ERROR_INVALID_OPTION") {
		t.Errorf("got %v", err)
	}
}

func TestArchitecture(t *testing.T) {
	c := &Compiler{lib: &library{path: "nvrtc", major: 12, minor: 9, archs: []int{75, 80, 86, 90, 100}}}
	for _, x := range []struct {
		t    Target
		ptx  bool
		want string
	}{
		{Target{9, 0}, false, "sm_90"}, {Target{9, 0}, true, "compute_90"}, {Target{8, 9}, false, "compute_86"},
		{Target{12, 0}, false, "compute_100"}, {Target{10, 3}, false, "compute_100"}, {Target{7, 5}, false, "sm_75"},
	} {
		got, ptx, err := c.arch(x.t, x.ptx)
		if err != nil || got != x.want || ptx != strings.HasPrefix(x.want, "compute") {
			t.Errorf("%s: %s, %v, %v; want %s", x.t, got, ptx, err, x.want)
		}
	}
	if _, _, err := c.arch(Target{6, 1}, false); err == nil || !strings.Contains(err.Error(), "7.5") || !strings.Contains(err.Error(), "6.1") {
		t.Errorf("a device of 6.1: %v", err)
	}
	if o := c.options("sm_90", Source{}); o[len(o)-1] != "--minimal" || o[2] != "--fmad=true" {
		t.Errorf("options are %q", o)
	}
	c.lib.minor, c.strict = 3, true
	if o := c.options("sm_90", Source{}); o[len(o)-1] != "--fmad=false" {
		t.Errorf("options are %q", o)
	}
}
