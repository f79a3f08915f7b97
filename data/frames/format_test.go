// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"slices"
	"testing"
)

// The first bytes tell more than the extension, and a description as raw numbers more than an extension that other files have, too.
func TestGuess(t *testing.T) {
	described := Settings{Height: 2, Width: 3, Type: "<u2"}
	for _, c := range []struct {
		name, head string
		s          Settings
		want       string
	}{
		{"x.imm", "\x89HDF\r\n\x1a\n", described, "hdf5"}, {"x.raw", "\x93NUMPY", Settings{}, "npy"},
		{"x.IMM", "", described, "imm"}, {"x.raw", "", Settings{}, "raw"}, {"x.dat", "", described, "raw"},
		{"x.bin", "", described, "raw"}, {"x.h5", "", described, "raw"},
		{"x.bin", "", Settings{Height: 2, Width: 3}, "rigaku"}, {"x.005", "", Settings{}, "rigaku"}, {"x.006", "", Settings{}, ""},
		{"x.nxs", "", Settings{}, "hdf5"}, {"x.npy", "", Settings{}, ""}, {"x", "", Settings{}, ""},
	} {
		if got := guess(c.name, []byte(c.head), c.s); got != c.want {
			t.Errorf("%s with %q and %v: %q, want %q", c.name, c.head, c.s, got, c.want)
		}
	}
}

// No two formats claim the same first bytes or extension, so that the order of their registration does not matter.
func TestFormatsShareNothing(t *testing.T) {
	var seen []string
	for _, name := range Formats() {
		for _, mark := range append(slices.Clone(formats[name].extensions), formats[name].magic) {
			if mark != "" && slices.Contains(seen, mark) {
				t.Errorf("%q of %s is that of another format", mark, name)
			}
			seen = append(seen, mark)
		}
	}
}
