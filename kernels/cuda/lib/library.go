// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// ErrNotFound says that a library was not found or lacks functions. The error around it lists what
// was tried.
var ErrNotFound = errors.New("cuda: a library by NVIDIA is missing")

// How the libraries are called, newest first.
var (
	specBLAS   = spec("cuBLAS", "cublas", ".so.13", ".so.12", ".so.11")
	specLt     = spec("cuBLASLt", "cublasLt", ".so.13", ".so.12", ".so.11")
	specFFT    = spec("cuFFT", "cufft", ".so.12", ".so.11", ".so.10")
	specSolver = spec("cuSOLVER", "cusolver", ".so.12", ".so.11")
	specDNN    = spec("cuDNN", "cudnn", ".so.9", ".so.8")
	specNCCL   = dl.Spec{Name: "NCCL", Sonames: []string{"libnccl.so.2"}} // there is none for Windows
)

// spec makes the names for both systems: libcublas.so.12 is cublas64_12.dll.
func spec(name, base string, endings ...string) dl.Spec {
	s := dl.Spec{Name: name}
	for _, e := range endings {
		s.Sonames = append(s.Sonames, "lib"+base+e)
		s.DLLs = append(s.DLLs, base+"64_"+strings.TrimPrefix(e, ".so.")+".dll")
	}
	return s
}

// Found is the result of the search for one library.
type Found struct {
	Name     string // name of the library, such as cuBLAS
	Variable string // environment variable that overrides the search
	Path     string // path of the file that was opened; empty if none was
	Version  string // version of the library, such as 12.9.1; empty if none was opened
	// Err says why the library cannot be used and lists every place that was tried.
	Err error
}

// Find opens all libraries that are installed and reports on each, cuBLAS first. It needs no
// device.
func Find() []Found {
	return []Found{
		found(specBLAS, func() (library, error) { l, err := OpenBLAS(); return l.library, err }),
		found(specLt, openLt),
		found(specFFT, func() (library, error) { l, err := OpenFFT(); return l.library, err }),
		found(specSolver, func() (library, error) { l, err := OpenSolver(); return l.library, err }),
		found(specDNN, func() (library, error) { l, err := OpenDNN(); return l.library, err }),
		found(specNCCL, func() (library, error) { l, err := OpenNCCL(); return l.library, err }),
	}
}

func found(s dl.Spec, open func() (library, error)) Found {
	l, err := open()
	return Found{Name: s.Name, Variable: dl.Variable(s.Name), Path: l.path, Version: l.version, Err: err}
}

// library is what all open libraries have.
type library struct {
	name, path, version string
}

// Path returns the path of the file that was opened, or the name that the system's loader resolved.
func (l library) Path() string { return l.path }

// Version returns the library's version, such as 12.9.1.
func (l library) Version() string { return l.version }

// String returns the name of the library with its version and file.
func (l library) String() string { return fmt.Sprintf("%s %s (%s)", l.name, l.version, l.path) }

// loader collects the functions of a library, and those that it lacks.
type loader struct {
	library
	lib     *dl.Library
	missing []string
}

func load(s dl.Spec) (*loader, error) {
	l, err := dl.Open(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return &loader{library: library{name: s.Name, path: l.Path}, lib: l}, nil
}

// need returns the address of a function.
func (o *loader) need(name string) uintptr {
	a := o.lib.Symbol(name)
	if a == 0 {
		o.missing = append(o.missing, name)
	}
	return a
}

// entry is a function in both precisions, with its names for errors.
type entry struct {
	address [2]uintptr
	name    [2]string
}

// both returns a function whose name has letters for single and double precision in the place of %s.
func (o *loader) both(format, single, double string) entry {
	var e entry
	for i, letter := range []string{single, double} {
		e.name[i] = fmt.Sprintf(format, letter)
		e.address[i] = o.need(e.name[i])
	}
	return e
}

// done returns an error if functions are missing.
func (o *loader) done() error {
	if o.missing == nil {
		return nil
	}
	return fmt.Errorf("%w: %s lacks %s: install a newer %s, or set %s", ErrNotFound, o.path, strings.Join(o.missing, ", "), o.name, dl.Variable(o.name))
}

// property asks for the three parts of a version by a function that takes a kind and a pointer.
func (o *loader) property(name string) string {
	f := o.need(name)
	if f == 0 {
		return ""
	}
	v := new([3]int32)
	for i := range v {
		dl.Call(f, uintptr(i), uintptr(unsafe.Pointer(&v[i])))
	}
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

func openLt() (library, error) {
	o, err := load(specLt)
	if err != nil {
		return library{}, err
	}
	o.version = o.property("cublasLtGetProperty")
	return o.library, o.done()
}

// number returns the number that a function writes to its only argument.
func (o *loader) number(name string) int {
	f := o.need(name)
	if f == 0 {
		return 0
	}
	v := new(int32)
	dl.Call(f, uintptr(unsafe.Pointer(v)))
	return int(*v)
}

// dotted splits a version number into parts of two decimal places below the first digit of step.
func dotted(v, major, minor int) string {
	return fmt.Sprintf("%d.%d.%d", v/major, v%major/minor, v%minor)
}

// call calls a function of a library and turns a status other than 0 into an error.
//
//go:uintptrescapes
func (l library) call(f uintptr, name string, args ...uintptr) error {
	if r := int32(dl.Call(f, args...)); r != 0 {
		return &Error{Library: l.name, Version: l.version, Call: name, Code: r}
	}
	return nil
}
