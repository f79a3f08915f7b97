// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// headers returns a folder with cuda.h, of a toolkit or of the wheel nvidia-cuda-runtime-cu12, and the
// version that it is of, as 1000*major + 10*minor.
func headers() (folder string, version int) {
	places := []string{os.Getenv("CUDA_HOME") + "/include", "/usr/local/cuda/include", "/usr/include"}
	for _, venv := range []string{os.Getenv("VIRTUAL_ENV"), "../../../.peers"} {
		found, _ := filepath.Glob(filepath.Join(venv, "lib/python*/site-packages/nvidia/cuda_runtime/include"))
		places = append(places, found...)
	}
	for _, p := range places {
		text, err := os.ReadFile(filepath.Join(p, "cuda.h"))
		m := regexp.MustCompile(`(?m)^#define CUDA_VERSION (\d+)`).FindSubmatch(text)
		if err == nil && m != nil {
			folder, _ = filepath.Abs(p)
			version, _ = strconv.Atoi(string(m[1]))
			return folder, version
		}
	}
	return "", 0
}

// What the module calls and the pretend driver lacks, by what that has.
const olderNames = `
int cuModuleLoadDataEx(void **, const void *, unsigned, void *, void *);
int cuModuleLoadData(void **m, const void *image) { return cuModuleLoadDataEx(m, image, 0, 0, 0); }
int cuDeviceGetUuid_v2(void *, int);
int cuDeviceGetUuid(void *id, int dev) { return cuDeviceGetUuid_v2(id, dev); }
`

// The provider through gorgonia.org/cu builds with NVIDIA's headers, and tests of package cuda pass with
// it, linked to the pretend driver. Those of graphs, memory pools and large shared memory are left out.
func TestThroughCU(t *testing.T) {
	include, version := headers()
	gcc, err := exec.LookPath("gcc")
	switch {
	case include == "":
		t.Skip("lacks cuda.h, for the provider through gorgonia.org/cu (make nvrtc, or a CUDA toolkit)")
	case version >= 13000:
		t.Skipf("lacks headers of CUDA 12 or older, for gorgonia.org/cu: %s is of %d.%d", include, version/1000, version%1000/10)
	case err != nil:
		t.Skip("lacks gcc, which links gorgonia.org/cu")
	case testing.Short():
		t.Skip("builds a module of C for 20 seconds")
	}
	lib := pretend.LookPath(t)
	// The folder is the same in every run, so that the go command finds what it built before.
	folder := filepath.Join(filepath.Dir(lib.Path), "cu")
	source, library, link := filepath.Join(folder, "older.c"), filepath.Join(folder, "libcuda.so.1"), filepath.Join(folder, "libcuda.so")
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(source, []byte(olderNames), 0o644)); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		// Of the hundreds of entry points that the module could call the pretend driver has some dozens.
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-I"+include, "CGO_LDFLAGS=-L"+folder+" -lcuda "+lib.Path+" -Wl,--unresolved-symbols=ignore-all -Wl,-rpath,"+folder)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	run(gcc, "-shared", "-fPIC", "-o", library, source, lib.Path, "-Wl,-soname,libcuda.so.1")
	if err := os.Symlink(library, link); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	run("go", "vet", "-tags", "cu", ".", "..")
	run("go", "test", "-count=1", "-tags", "cu", "-run", "^TestCU$", ".")
	run("go", "test", "-count=1", "-tags", "cu", "-run", "^Test(OpenIsCounted|Copies|PinnedMemory|Events|Elementwise|KernelsInEveryOrder|FaultsSurfaceLater|PeerAccess|AllReduce|Philox|OutOfMemory$|GoroutinesShareADevice)", "..")
}
