// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build windows && (amd64 || arm64) && !nocuda

package dl

import (
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// unavailable says why no library can be opened; it is empty where one can.
const unavailable = ""

// open loads a library from the system's folder, or from an absolute path together with the
// libraries beside it. The current folder is not searched, so nothing can be planted there.
func open(path string) (uintptr, error) {
	flags := uintptr(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS)
	if filepath.IsAbs(path) {
		flags |= windows.LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
	}
	h, err := windows.LoadLibraryEx(path, 0, flags)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) uintptr {
	address, err := windows.GetProcAddress(windows.Handle(handle), name)
	if err != nil {
		return 0
	}
	return address
}

// Call calls the function at an address with integers and pointers, at most 32 of them, and returns
// its result. A Go pointer must be written as uintptr(unsafe.Pointer(p)) in the call expression
// itself, which keeps the memory alive and in place until Call returns, or be pinned by the caller.
//
//go:uintptrescapes
func Call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := syscall.SyscallN(fn, args...)
	return r
}
