// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64) && !nocuda

package dl

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// unavailable says why no library can be opened; it is empty where one can.
const unavailable = ""

// open loads a library with its own scope of names, so that two versions of a toolkit in one process
// do not see each other's functions. The loader keeps the text of an error for the thread that made it, so the
// goroutine must not move to another before it has read the text.
func open(path string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) uintptr {
	runtime.LockOSThread() // as in open: an error that is left unread would be taken for that of a later call
	defer runtime.UnlockOSThread()
	address, err := purego.Dlsym(handle, name)
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
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
