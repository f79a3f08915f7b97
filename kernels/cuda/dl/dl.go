// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dl

import (
	"fmt"
	"strings"
	"unsafe"
)

// Library is an open shared library. It stays open until the process ends, because the code and
// memory of a driver cannot be unloaded safely.
type Library struct {
	Name   string // short name, as in its Spec
	Path   string // path of the file that was opened, or the name that the system's loader resolved
	handle uintptr
}

// Symbol returns the address of an exported function, or 0 if the library lacks it.
func (l *Library) Symbol(name string) uintptr { return symbol(l.handle, name) }

// Attempt is one file that Open tried, and why it could not be used.
type Attempt struct {
	Path   string
	Reason string
}

// NotFound says that a library was found in none of the places that were searched.
type NotFound struct {
	Name  string // short name, as in the Spec
	Tried []Attempt
	// Reason says why no file was tried. It is empty if files were tried.
	Reason string
}

func (e *NotFound) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dl: the %s library was not found", e.Name)
	if e.Reason != "" {
		return b.String() + ": " + e.Reason
	}
	fmt.Fprintf(&b, ": install it, or set %s to the path of the file; these were tried:", Variable(e.Name))
	for _, a := range e.Tried {
		fmt.Fprintf(&b, "\n\t%s: %s", a.Path, a.Reason)
	}
	return b.String()
}

// Open opens the first candidate of the specification that the system can load. If none can be
// loaded, the error is a *NotFound. Open is safe for concurrent use.
func Open(s Spec) (*Library, error) {
	if unavailable != "" {
		return nil, &NotFound{Name: s.Name, Reason: unavailable}
	}
	missing := &NotFound{Name: s.Name}
	files, misses := s.candidates()
	for _, path := range files {
		h, err := open(path)
		if err == nil {
			return &Library{Name: s.Name, Path: path, handle: h}, nil
		}
		missing.Tried = append(missing.Tried, Attempt{path, reason(err, path)})
	}
	missing.Tried = append(missing.Tried, misses...)
	return nil, missing
}

// OpenFile opens one file or name and looks nowhere else. The error is a *NotFound.
func OpenFile(name, path string) (*Library, error) {
	if unavailable != "" {
		return nil, &NotFound{Name: name, Reason: unavailable}
	}
	h, err := open(path)
	if err != nil {
		return nil, &NotFound{Name: name, Tried: []Attempt{{path, reason(err, path)}}}
	}
	return &Library{Name: name, Path: path, handle: h}, nil
}

// reason shortens the loader's text, which begins with the path that stands before it already.
func reason(err error, path string) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(text, path+": ")
}

// Text returns a copy of the zero-terminated string at an address that a library returned. It is
// empty for address 0.
func Text(address uintptr) string {
	if address == 0 {
		return ""
	}
	p := Pointer(address)
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// Pointer turns an address of memory that a library owns into a pointer. Go's collector neither
// moves nor frees that memory, so the conversion is safe as long as the library keeps it.
func Pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// Bytes returns a string in the zero-terminated form that libraries expect.
func Bytes(s string) []byte { return append([]byte(s), 0) }
