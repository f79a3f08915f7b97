// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package rsoxs

const slowTests = true
