// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// inLargePages asks the system for pages of 2 MiB under new memory, which it grants or not. Programs that multiply large matrices
// spend up to a fifth of their time on finding small ones.
func inLargePages[T float](s []T) {
	const page = 2 << 20
	if len(s) == 0 {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
	from := int(-uintptr(unsafe.Pointer(&bytes[0])) % page)
	if to := from + (len(bytes)-from)/page*page; to > from {
		_ = unix.Madvise(bytes[from:to], unix.MADV_HUGEPAGE) // without it, all works as well
	}
}
