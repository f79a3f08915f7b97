// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

var example = Spec{Name: "example", Sonames: []string{"libexample-2.so", "libexample-1.so"}, DLLs: []string{"example.dll"}}

// The environment's file is the only candidate; otherwise bare names come first, then folders, newest
// first in each.
func TestSearchOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the folders are Linux's")
	}
	env := t.TempDir()
	wheel := filepath.Join(env, "lib", "python3.11", "site-packages", "nvidia", "thing", "lib")
	if err := os.MkdirAll(wheel, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"libexample-1.so", "libexample-2.so", "libother.so"} {
		if err := os.WriteFile(filepath.Join(wheel, name), []byte("not a library"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CONDA_PREFIX", "")
	t.Setenv("VIRTUAL_ENV", env)
	want := []string{"libexample-2.so", "libexample-1.so", filepath.Join(wheel, "libexample-2.so"), filepath.Join(wheel, "libexample-1.so")}
	got, misses := example.candidates()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(misses) != 2*len(folders) || !strings.Contains(misses[0].Path, "libexample-2.so") {
		t.Errorf("misses are %v", misses)
	}
	t.Setenv("EURYALE_LIBEXAMPLE", "/elsewhere/lib.so")
	if got, _ := example.candidates(); !slices.Equal(got, []string{"/elsewhere/lib.so"}) {
		t.Errorf("with the variable: %q", got)
	}
}

func TestNotFoundListsEveryAttempt(t *testing.T) {
	env := t.TempDir()
	t.Setenv("VIRTUAL_ENV", env)
	_, err := Open(example)
	var missing *NotFound
	if !errors.As(err, &missing) || missing.Name != "example" {
		t.Fatalf("got %v", err)
	}
	if unavailable != "" {
		if missing.Reason == "" {
			t.Errorf("got %v, want a reason", err)
		}
		return
	}
	if len(missing.Tried) == 0 || !strings.Contains(err.Error(), "EURYALE_LIBEXAMPLE") {
		t.Errorf("got %v", err)
	}
	for _, a := range missing.Tried {
		if a.Reason == "" || !strings.Contains(err.Error(), a.Path) {
			t.Errorf("attempt %+v is not explained in %v", a, err)
		}
	}
	if _, err := OpenFile("example", filepath.Join(env, "nothing.so")); !errors.As(err, &missing) || len(missing.Tried) != 1 {
		t.Errorf("OpenFile: %v", err)
	}
}

// Every failed attempt has the loader's reason, also when goroutines that search at the same time are moved between threads.
func TestReasonsOfManyGoroutines(t *testing.T) {
	if unavailable != "" {
		t.Skip(unavailable)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		name := fmt.Sprintf("libmissing-%d.so", i)
		wg.Go(func() {
			for range 200 {
				_, err := OpenFile("example", name)
				var missing *NotFound
				if !errors.As(err, &missing) || missing.Tried[0].Reason == "" || runtime.GOOS == "linux" && strings.Contains(missing.Tried[0].Reason, "libmissing") {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// The library of the system is called with integers and pointers, and its strings are read.
func TestCall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library is Linux's")
	}
	lib, err := OpenFile("C", "libc.so.6")
	if err != nil {
		t.Skipf("lacks libc.so.6: %v", err)
	}
	if lib.Symbol("no_such_function") != 0 {
		t.Error("a function that does not exist has an address")
	}
	text := Bytes("a string")
	if n := Call(lib.Symbol("strlen"), uintptr(unsafe.Pointer(&text[0]))); n != 8 {
		t.Errorf("strlen is %d, want 8", n)
	}
	if s := Text(Call(lib.Symbol("strchr"), uintptr(unsafe.Pointer(&text[0])), 's')); s != "string" {
		t.Errorf("strchr finds %q", s)
	}
	if Text(0) != "" {
		t.Error("address 0 holds a string")
	}
}
