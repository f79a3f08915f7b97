// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package npy reads golden arrays.
package npy

import (
	"os"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// Read reads an array of a file as float64, and its shape.
func Read(t testing.TB, elem ...string) ([]float64, []int) {
	t.Helper()
	f, err := os.Open(golden.Path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := tensor.ReadNPY(f)
	if err != nil {
		t.Fatalf("%v: %v", elem, err)
	}
	return x.Float64s(), x.Shape()
}
