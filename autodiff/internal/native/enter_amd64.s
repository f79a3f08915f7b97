// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego && (linux || darwin || freebsd)

#include "textflag.h"

// func enter(code uintptr, first, second, scratch unsafe.Pointer)
TEXT ·enter(SB), NOSPLIT, $0-32
	MOVQ code+0(FP), BX
	MOVQ first+8(FP), AX
	MOVQ second+16(FP), CX
	MOVQ scratch+24(FP), DX
	CALL BX
	RET
