// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package kernels

func inLargePages[T float]([]T) {}
