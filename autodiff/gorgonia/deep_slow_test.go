// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package gorgonia_test

import "testing"

func TestVeryDeepGraph(t *testing.T) { importDeep(t, 1_000_000) }
