// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package gorgonia_test

import "testing"

func TestManyRandomGraphs(t *testing.T) { examineGraphs(t, seedOr(1000), 2000) }
