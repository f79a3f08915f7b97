// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// inMemory is the size of a decompressed file from which on it is kept on disk.
const inMemory = 16 << 20

// unpack replaces the compressed file by what is in it: in memory while it is small, in a temporary
// file otherwise.
func (f *File) unpack() error {
	damaged := func(at int64, err error) error {
		return &FormatError{Format: "fits", File: f.name, Offset: at, What: "the gzip stream is damaged after this byte of the decompressed file", Err: err, Try: "fetch the file again"}
	}
	z, err := gzip.NewReader(io.NewSectionReader(f.r, 0, f.size))
	if err != nil {
		return damaged(0, err)
	}
	limit := f.MaxBytes
	var small bytes.Buffer
	n, err := io.CopyN(&small, z, min(inMemory, limit))
	if errors.Is(err, io.EOF) {
		f.r, f.size = bytes.NewReader(small.Bytes()), n
		return nil
	}
	if err != nil {
		return damaged(n, err)
	}
	tmp, err := f.temporary()
	if err != nil {
		return err
	}
	if _, err := tmp.Write(small.Bytes()); err != nil {
		return err
	}
	more, err := io.CopyN(tmp, z, limit-n)
	if err == nil {
		return &FormatError{Format: "fits", File: f.name, What: fmt.Sprintf("the file decompresses to more than %d bytes, which is impossible for %d compressed ones: fetch the file again", limit, f.size)}
	}
	if !errors.Is(err, io.EOF) {
		return damaged(n+more, err)
	}
	f.r, f.size = tmp, n+more
	return nil
}
