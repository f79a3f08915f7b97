// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !slow

package morph_test

const slowTests = false
