// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package autodiff_test

func init() { thorough = true }
