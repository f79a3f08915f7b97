// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package pretend makes a libcuda and a libnvrtc that run kernels on the processor, for tests of
// everything above the driver's calls on machines without a GPU. On demand it stands for cuBLAS, cuFFT,
// cuSOLVER, cuDNN and NCCL too.
//
// The library is C++ (folder csrc) and is built by g++ when a test first asks for it; a folder of the
// user's cache keeps it, and every kernel that it compiled, under the hash of the sources. Streams
// really defer: work waits until somebody needs it, and then runs in any order that events allow,
// chosen by a seed. Memory is filled with NaN, its surroundings are watched, a kernel's index beyond an array of shared or
// local memory ends the process with a trap (SIGILL or SIGTRAP), as does (SIGSEGV) a thread that needs more than 1 MiB of
// stack, asynchronous copies must use page-locked memory, and every call can be made to fail:
//
//	lib := pretend.LookPath(t) // skips the test without g++
//	lib.Set("mode", pretend.Lazy)
//	lib.Fail("cuMemAlloc_v2", 0, 1, int32(drv.OutOfMemory))
//	driver, err := drv.Open() // finds the pretend driver by EURYALE_LIBCUDA
//
// The numerical libraries are found after [Library.Libraries] only, so that other tests exercise our own
// kernels. Their work waits on streams and is captured in graphs like that of kernels; every piece of it
// signs its workspace first, so that two pieces of work in one workspace are noticed.
//
// What it cannot show: races within one phase of a kernel, occupancy, speed, and instructions that
// only a GPU has.
package pretend

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

//go:embed csrc
var sources embed.FS

// When the pretend driver does the work of streams: at once, only what somebody waits for, or a
// random part at every call.
const (
	Eager = iota
	Lazy
	Random
)

// In which order blocks, and the threads of a block, run.
const (
	Ascending = iota
	Descending
	Shuffled
	Interleaved // a few blocks at once, in turns
)

// Library is the pretend driver and compiler of this process. Its state is global, so tests that use
// it do not run in parallel.
type Library struct {
	Path string // the library with all entry points
	Old  string // the same without those that came after CUDA 11.0
	lib  *dl.Library
}

var (
	once  sync.Once
	built *Library
	fault error
)

// LookPath returns the pretend driver in its first state, with two devices of 1 GiB, and lets the
// search for libraries find it during the test. It skips the test if there is no g++, or another system
// than Linux.
func LookPath(t testing.TB) *Library {
	t.Helper()
	l := Shared(t)
	l.Reset()
	return l
}

// Shared is LookPath without a reset: for tests of what keeps a device open from one test to the
// next, as programs do.
func Shared(t testing.TB) *Library {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("lacks Linux, for which the pretend driver is written")
	}
	gcc, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("lacks g++, which builds the pretend driver")
	}
	once.Do(func() { built, fault = open(gcc) })
	var none *dl.NotFound
	if errors.As(fault, &none) && none.Reason != "" {
		t.Skipf("lacks CUDA: %s", none.Reason)
	}
	if fault != nil {
		t.Fatal(fault)
	}
	t.Setenv(dl.Variable("CUDA"), built.Path)
	t.Setenv(dl.Variable("NVRTC"), built.Path)
	for _, name := range vendors { // a real library cannot work with a pretend driver
		t.Setenv(dl.Variable(name), filepath.Join(filepath.Dir(built.Path), "none"))
	}
	return built
}

// vendors are the libraries that Libraries stands for.
var vendors = []string{"cuBLAS", "cuBLASLt", "cuFFT", "cuSOLVER", "cuDNN", "NCCL"}

// Libraries lets the search for NVIDIA's numerical libraries find pretend ones during the test. Devices
// that are open may have looked before.
func (l *Library) Libraries(t testing.TB) {
	t.Helper()
	for _, name := range vendors {
		t.Setenv(dl.Variable(name), l.Path)
	}
}

// open finds or builds the library.
func open(gcc string) (*Library, error) {
	hash := sha256.New()
	err := fs.WalkDir(sources, "csrc", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(p)
		fmt.Fprintf(hash, "%s %d\n%s", p, len(text), text)
		return err
	})
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(os.TempDir(), "euryale-pretend")
	if cache, err := os.UserCacheDir(); err == nil {
		parent = filepath.Join(cache, "euryale", "pretend")
	}
	folder := filepath.Join(parent, hex.EncodeToString(hash.Sum(nil)[:8]))
	l := &Library{Path: filepath.Join(folder, "libpretend.so"), Old: filepath.Join(folder, "libold.so")}
	if _, err := os.Stat(l.Old); err != nil {
		if err := build(gcc, parent, folder); err != nil {
			return nil, err
		}
	}
	l.lib, err = dl.OpenFile("pretend", l.Path)
	return l, err
}

// build makes a folder under a temporary name and renames it, so that test processes that build at
// the same time do not see each other's half. Folders of older sources are removed after a week.
func build(gcc, parent, folder string) error {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	old, _ := filepath.Glob(filepath.Join(parent, "*"))
	for _, o := range old {
		if info, err := os.Stat(o); err == nil && time.Since(info.ModTime()) > 7*24*time.Hour {
			os.RemoveAll(o)
		}
	}
	tmp, err := os.MkdirTemp(parent, "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := unpack(tmp); err != nil {
		return err
	}
	// Half of the texts each for two compilers: machines that test have two processors at least.
	names := []string{"driver", "solver", "nvrtc", "blas", "vendor", "control", "fibers", "fft", "state", "module", "dnn", "nccl"}
	var objects []string
	half := make(chan error, 2)
	for i := range 2 {
		args := []string{"-c", "-O1", "-fPIC", "-std=c++17", "-fvisibility=hidden"}
		for _, name := range names[i*len(names)/2 : (i+1)*len(names)/2] {
			args, objects = append(args, name+".cpp"), append(objects, name+".o")
		}
		go func() { half <- command(gcc, tmp, args...) }()
	}
	if err := errors.Join(<-half, <-half); err != nil {
		return err
	}
	link := append([]string{"-shared"}, append(objects, "-ldl")...)
	if err := command(gcc, tmp, append(link[:len(link):len(link)], "-o", "libpretend.so")...); err != nil {
		return err
	}
	if err := command(gcc, tmp, append(link[:len(link):len(link)], "-o", "libold.so", "-Wl,--version-script=old.map")...); err != nil {
		return err
	}
	if err := precompile(gcc, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, folder); err != nil {
		if _, there := os.Stat(filepath.Join(folder, "libold.so")); there != nil {
			return err
		}
	}
	return nil
}

// precompile compiles the header of all kernels once for each level of optimisation; reading it is more than half of the work of a
// short kernel. The flags are those of the kernels, or g++ does not use the result. An index beyond an array of shared or local
// memory is a trap.
func precompile(gcc, folder string) error {
	const name = "emu.h.gch"
	if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
		return err
	}
	for _, level := range []string{"O0", "O1"} {
		if err := command(gcc, folder, "-"+level, "@kernel.flags", "-x", "c++-header", "emu.h", "-o", filepath.Join(name, level)); err != nil {
			return err
		}
	}
	return nil
}

// command runs a program in a folder; its error has what the program said.
func command(program, folder string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pretend: %v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

func unpack(folder string) error {
	files, err := sources.ReadDir("csrc")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := sources.ReadFile("csrc/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, f.Name()), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Reset forgets all state: contexts, memory, failures, counters.
func (l *Library) Reset() { dl.Call(l.lib.Symbol("pretend_reset")) }

// Set changes a setting: devices, version, capability, memory (bytes of each device), mode, order,
// peers (whether devices can read each other's memory), seed, trace, or count. With trace 1, kernels that are compiled from then on count what their
// warps ask memory for; see Get. With count 1, memory is address
// space only and kernels and copies do nothing; see Count. Set panics if there is no such setting.
func (l *Library) Set(key string, value int) {
	k := dl.Bytes(key)
	if dl.Call(l.lib.Symbol("pretend_set"), uintptr(unsafe.Pointer(&k[0])), uintptr(value)) != 0 {
		panic("pretend: there is no setting " + key)
	}
}

// Count returns the number of a device that only counts, until the test ends: its memory is address space
// and its kernels and copies do nothing, so that the memory and the traffic of problems that fill a real
// device can be counted on a small machine. memory is the size of the device in bytes. No other device
// works meanwhile, and this one never does.
func (l *Library) Count(t testing.TB, memory int) (device int) {
	t.Helper()
	const counter = 2
	l.Set("devices", counter+1)
	l.Set("memory", memory)
	l.Set("count", 1)
	t.Cleanup(func() {
		l.Set("count", 0)
		l.Set("memory", 1<<30)
	})
	return counter
}

// Fail makes an entry point return a code after some calls that succeed, so many times.
func (l *Library) Fail(call string, after, times int, code int32) {
	k := dl.Bytes(call)
	dl.Call(l.lib.Symbol("pretend_fail"), uintptr(unsafe.Pointer(&k[0])), uintptr(after), uintptr(times), uintptr(code))
}

// Get returns a count: leaks (of contexts that were released, and page-locked memory and graphs that
// still exist), compiles, sectors, turns and touched (of what was traced: sectors of 32 bytes and lines of 128 bytes of each access of a warp, and
// bytes of all sectors, each once for each launch), early frees, allocations, used (bytes), waiting (work on streams), streams,
// events, or the calls of an entry point.
func (l *Library) Get(key string) int {
	k := dl.Bytes(key)
	return int(dl.Call(l.lib.Symbol("pretend_get"), uintptr(unsafe.Pointer(&k[0]))))
}

// Fault returns what the driver says in words about a failure that it reported by a code.
func (l *Library) Fault() string { return dl.Text(dl.Call(l.lib.Symbol("pretend_fault"))) }

// Attach gives the pretend driver at a path its settings and failures, for a process that a test starts:
// words such as memory=100000, and fail=cuGraphLaunch,200,1,700 for a call, how often it succeeds
// first, how often it fails, and the code.
func Attach(path, script string) error {
	lib, err := dl.OpenFile("pretend", path)
	if err != nil {
		return err
	}
	l := &Library{Path: path, lib: lib}
	for _, word := range strings.Fields(script) {
		key, value, _ := strings.Cut(word, "=")
		if key != "fail" {
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			l.Set(key, n)
			continue
		}
		var after, times, code int
		call, numbers, _ := strings.Cut(value, ",")
		if _, err := fmt.Sscanf(numbers, "%d,%d,%d", &after, &times, &code); err != nil {
			return err
		}
		l.Fail(call, after, times, int32(code))
	}
	return nil
}
