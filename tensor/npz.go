// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// expansion is the largest ratio by which deflate compresses, rounded up.
const expansion = 1040

// WriteNPZ writes named arrays as NumPy's NPZ: a zip of NPY files, in the order
// of names, deflated.
func WriteNPZ(w io.Writer, arrays map[string]*Tensor) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		f, err := z.Create(name + ".npy")
		if err == nil {
			err = arrays[name].WriteNPY(f)
		}
		if err != nil {
			return fmt.Errorf("tensor: npz: %s: %w", name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("tensor: npz: %w", err)
	}
	return nil
}

// ReadNPZ reads arrays from an NPZ file whose size is given in bytes: those with the given names,
// or all of them if there are no names. Members whose names do not end in .npy are ignored. A file
// whose members overlap, so that they would expand to more than such a file can hold, is an error.
func ReadNPZ(r io.ReaderAt, size int64, names ...string) (map[string]*Tensor, error) {
	z, err := foreign.Zip(r, size)
	if err != nil {
		return nil, fmt.Errorf("tensor: npz: %w", err)
	}
	out, left := map[string]*Tensor{}, expansion*size
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok || len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		if out[name] != nil {
			return nil, fmt.Errorf("tensor: npz: two members are called %q: want different names", f.Name)
		}
		if out[name], err = readMember(f, &left); err != nil {
			return nil, fmt.Errorf("tensor: npz: %s: %w", f.Name, err)
		}
	}
	return out, nil
}

// readMember reads one array to its end, where the checksum is verified; left is the number of bytes
// that all members together may still take.
func readMember(f *zip.File, left *int64) (*Tensor, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	limited := &io.LimitedReader{R: r, N: *left}
	t, err := ReadNPY(limited)
	if err != nil {
		return nil, err
	}
	switch n, err := io.Copy(io.Discard, limited); {
	case err != nil:
		return nil, err
	case limited.N == 0:
		return nil, fmt.Errorf("the arrays take more than %d times the size of the file: want members that do not overlap", expansion)
	case n > 0:
		return nil, fmt.Errorf("%d bytes follow the array: want a member that ends with it", n)
	}
	*left = limited.N
	return t, nil
}
