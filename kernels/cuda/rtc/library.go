// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
)

// ErrNoCompiler says that no NVRTC was found. The error around it lists what was tried.
var ErrNoCompiler = errors.New("cuda: no run-time compiler was found: the kernels of graphs need NVRTC")

// spec says how NVRTC is called, newest first.
var spec = dl.Spec{
	Name:    "NVRTC",
	Sonames: []string{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
	DLLs:    []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"},
}

// entry numbers the entry points.
type entry int

const (
	nvrtcVersion entry = iota
	nvrtcGetErrorString
	nvrtcCreateProgram
	nvrtcCompileProgram
	nvrtcDestroyProgram
	nvrtcGetProgramLogSize
	nvrtcGetProgramLog
	nvrtcGetCUBINSize
	nvrtcGetCUBIN
	nvrtcGetPTXSize
	nvrtcGetPTX
	nvrtcGetNumSupportedArchs
	nvrtcGetSupportedArchs
	numEntries
)

var entryNames = [numEntries]string{"nvrtcVersion", "nvrtcGetErrorString", "nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcDestroyProgram",
	"nvrtcGetProgramLogSize", "nvrtcGetProgramLog", "nvrtcGetCUBINSize", "nvrtcGetCUBIN", "nvrtcGetPTXSize", "nvrtcGetPTX",
	"nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs"}

// library is the open compiler.
type library struct {
	path    string
	address [numEntries]uintptr
	major   int
	minor   int
	archs   []int // what it compiles for, 10*major + minor, ascending
}

// open finds the compiler. All entry points exist since version 11.2.
func open() (*library, error) {
	lib, err := dl.Open(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	l := &library{path: lib.Path}
	for e := range numEntries {
		if l.address[e] = lib.Symbol(entryNames[e]); l.address[e] == 0 {
			return nil, fmt.Errorf("%w: %s lacks %s: install NVRTC 11.2 or newer", ErrNoCompiler, lib.Path, entryNames[e])
		}
	}
	v := new([2]int32)
	if r := l.call(nvrtcVersion, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1]))); r != 0 {
		return nil, fmt.Errorf("%w: %s does not report its version: %s", ErrNoCompiler, lib.Path, l.text(r))
	}
	l.major, l.minor = int(v[0]), int(v[1])
	n := new(int32)
	if r := l.call(nvrtcGetNumSupportedArchs, uintptr(unsafe.Pointer(n))); r != 0 || *n <= 0 || *n > 1000 {
		return nil, fmt.Errorf("%w: %s does not report its architectures: %s", ErrNoCompiler, lib.Path, l.text(r))
	}
	archs := make([]int32, *n)
	if r := l.call(nvrtcGetSupportedArchs, uintptr(unsafe.Pointer(&archs[0]))); r != 0 {
		return nil, fmt.Errorf("%w: %s does not report its architectures: %s", ErrNoCompiler, lib.Path, l.text(r))
	}
	for _, a := range archs {
		l.archs = append(l.archs, int(a))
	}
	slices.Sort(l.archs)
	return l, nil
}

//go:uintptrescapes
func (l *library) call(e entry, args ...uintptr) int32 { return int32(dl.Call(l.address[e], args...)) }

// text returns the compiler's name for a result.
func (l *library) text(r int32) string {
	if s := dl.Text(dl.Call(l.address[nvrtcGetErrorString], uintptr(r))); s != "" {
		return s
	}
	return fmt.Sprintf("NVRTC result %d", r)
}

// texts is an array of zero-terminated strings for the compiler, pinned until release.
type texts struct {
	table []*byte
	pin   runtime.Pinner
}

func newTexts(list []string) *texts {
	t := &texts{table: make([]*byte, len(list)+1)} // one more, so that an empty table has an address
	for i, s := range list {
		b := dl.Bytes(s)
		t.table[i] = &b[0]
		t.pin.Pin(t.table[i])
	}
	return t
}

func (t *texts) release() { t.pin.Unpin() }

// compile runs the compiler and returns cubin or PTX, and what it said. A failure of the program is a
// *CompileError.
func (l *library) compile(s Source, options []string, ptx bool) (image []byte, log string, err error) {
	names, headers := s.headers()
	opts, inc, text := newTexts(options), newTexts(names), newTexts(headers)
	defer opts.release()
	defer inc.release()
	defer text.release()
	source, name := dl.Bytes(s.Text), dl.Bytes(s.name())
	p := new(uintptr)
	r := l.call(nvrtcCreateProgram, uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&source[0])), uintptr(unsafe.Pointer(&name[0])),
		uintptr(len(names)), uintptr(unsafe.Pointer(&text.table[0])), uintptr(unsafe.Pointer(&inc.table[0])))
	if r != 0 {
		return nil, "", &CompileError{Result: l.text(r), Source: s, Options: options, Compiler: l.String()}
	}
	defer l.call(nvrtcDestroyProgram, uintptr(unsafe.Pointer(p)))
	r = l.call(nvrtcCompileProgram, *p, uintptr(len(options)), uintptr(unsafe.Pointer(&opts.table[0])))
	raw, e := l.bytes(*p, nvrtcGetProgramLogSize, nvrtcGetProgramLog)
	if e != 0 {
		raw = nil
	}
	log = strings.TrimSpace(strings.TrimRight(string(raw), "\x00"))
	if r != 0 {
		return nil, log, &CompileError{Result: l.text(r), Log: log, Source: s, Options: options, Compiler: l.String()}
	}
	size, get := nvrtcGetCUBINSize, nvrtcGetCUBIN
	if ptx {
		size, get = nvrtcGetPTXSize, nvrtcGetPTX
	}
	if image, e = l.bytes(*p, size, get); e != 0 {
		return nil, log, &CompileError{Result: l.text(e), Log: log, Source: s, Options: options, Compiler: l.String()}
	}
	return image, log, nil
}

// bytes asks for a size and then for so many bytes.
func (l *library) bytes(program uintptr, size, get entry) ([]byte, int32) {
	n := new(uintptr)
	if r := l.call(size, program, uintptr(unsafe.Pointer(n))); r != 0 {
		return nil, r
	}
	b := make([]byte, *n+1)
	if r := l.call(get, program, uintptr(unsafe.Pointer(&b[0]))); r != 0 {
		return nil, r
	}
	return b[:*n], 0
}

func (l *library) String() string { return fmt.Sprintf("NVRTC %d.%d (%s)", l.major, l.minor, l.path) }
