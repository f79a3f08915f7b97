// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package vectors holds the vector arithmetic of samplers: plain loops where there are few
// numbers, and SIMD where there are many.
package vectors
