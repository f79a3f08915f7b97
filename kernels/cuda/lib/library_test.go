// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// Every library is reported, found or not; what is missing says where it was looked for and which
// variable names it.
func TestFindExplainsWhatIsMissing(t *testing.T) {
	none := filepath.Join(t.TempDir(), "nothing.so")
	for _, s := range []dl.Spec{specBLAS, specLt, specFFT, specSolver, specDNN, specNCCL} {
		t.Setenv(dl.Variable(s.Name), none)
	}
	all := Find()
	if len(all) != 6 {
		t.Fatalf("got %d libraries", len(all))
	}
	for _, f := range all {
		var tried *dl.NotFound
		if !errors.Is(f.Err, ErrNotFound) || !errors.As(f.Err, &tried) || f.Path != "" || f.Version != "" {
			t.Errorf("%s: %+v", f.Name, f)
			continue
		}
		if tried.Reason == "" && (!strings.Contains(f.Err.Error(), none) || !strings.Contains(f.Err.Error(), f.Variable)) {
			t.Errorf("%s: the error does not say what was tried: %v", f.Name, f.Err)
		}
	}
}

// A library that is there but lacks the functions is refused by their names.
func TestLibraryWithoutFunctions(t *testing.T) {
	if _, err := dl.OpenFile("C", "libc.so.6"); err != nil {
		t.Skipf("lacks libc.so.6: %v", err)
	}
	t.Setenv(dl.Variable("cuSOLVER"), "libc.so.6")
	_, err := OpenSolver()
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "cusolverDnDgesvdj_bufferSize") || !strings.Contains(err.Error(), "EURYALE_LIBCUSOLVER") {
		t.Errorf("got %v", err)
	}
}

func TestStatusesHaveNames(t *testing.T) {
	for _, c := range []struct {
		library string
		code    int32
		name    string
		is      error
	}{
		{"cuBLAS", 15, "CUBLAS_STATUS_NOT_SUPPORTED", ErrNotSupported},
		{"cuBLAS", 3, "CUBLAS_STATUS_ALLOC_FAILED", ErrAllocation},
		{"cuFFT", 2, "CUFFT_ALLOC_FAILED", ErrAllocation},
		{"cuSOLVER", 9, "CUSOLVER_STATUS_NOT_SUPPORTED", ErrNotSupported},
		{"cuDNN", 3002, "CUDNN_STATUS_NOT_SUPPORTED_SHAPE", ErrNotSupported},
		{"NCCL", 4, "ncclInvalidArgument", nil},
		{"cuDNN", 77, "cuDNN status 77", nil},
	} {
		e := &Error{Library: c.library, Version: "1.2.3", Call: "f", Code: c.code}
		if e.Name() != c.name || !strings.Contains(e.Error(), c.name) || !strings.Contains(e.Error(), "1.2.3") {
			t.Errorf("%s %d: %v", c.library, c.code, e)
		}
		for _, target := range []error{ErrNotSupported, ErrAllocation} {
			if errors.Is(e, target) != (target == c.is) {
				t.Errorf("%v is %v: %v", e, target, !(target == c.is))
			}
		}
	}
}

func TestVersions(t *testing.T) {
	for _, c := range []struct {
		v, major, minor int
		want            string
	}{{11401, 1000, 100, "11.4.1"}, {90102, 10000, 100, "9.1.2"}, {8907, 1000, 100, "8.9.7"}, {22703, 10000, 100, "2.27.3"}} {
		if got := dotted(c.v, c.major, c.minor); got != c.want {
			t.Errorf("%d is %s, want %s", c.v, got, c.want)
		}
	}
}

// What is installed has every function that we call. Nothing is run, so this needs no GPU; the
// libraries are those of the machine, or of the Python environment in VIRTUAL_ENV.
func TestInstalledLibrariesHaveEveryFunction(t *testing.T) {
	for _, f := range Find() {
		var tried *dl.NotFound
		if errors.As(f.Err, &tried) {
			t.Logf("%s is not installed", f.Name)
			continue
		}
		if f.Err != nil {
			t.Errorf("%s: %v", f.Name, f.Err)
			continue
		}
		t.Logf("%s %s (%s)", f.Name, f.Version, f.Path)
		if strings.HasPrefix(f.Version, "0.") || f.Version == "" {
			t.Errorf("%s in %s tells the version %q", f.Name, f.Path, f.Version)
		}
	}
	if os.Getenv("VIRTUAL_ENV") == "" {
		t.Log("VIRTUAL_ENV names no environment with NVIDIA's wheels")
	}
}
