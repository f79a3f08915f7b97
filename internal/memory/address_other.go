// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd)

package memory

func fromRlimit() (uint64, error) { return 0, nil }
