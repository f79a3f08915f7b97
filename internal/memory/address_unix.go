// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd

package memory

import "syscall"

// fromRlimit returns the largest size of the address space (ulimit -v).
func fromRlimit() (uint64, error) {
	var r syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_AS, &r)
	return uint64(r.Cur), err
}
