// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || purego || !(linux || darwin || freebsd)

package native

import (
	"errors"
	"unsafe"
)

type block struct{}

func usable() bool { return false }

func newBlock([]byte) (*block, error) { return nil, errors.ErrUnsupported }

func (*block) free() {}

func (*block) start() uintptr { return 0 }

func enter(uintptr, unsafe.Pointer, unsafe.Pointer, unsafe.Pointer) {}
