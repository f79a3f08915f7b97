// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
)

// Zip opens a ZIP archive, such as .npz, of a size in bytes. It returns an error that says what else a file is, or that an archive is cut
// short.
func Zip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(r, size)
	if err == nil {
		return z, nil
	}
	head := make([]byte, min(size, 512))
	if _, e := r.ReadAt(head, 0); e != nil && e != io.EOF {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return nil, fmt.Errorf("the ZIP archive (such as .npz) of %d bytes lacks the list of its members, which stands at the end: it is damaged or cut short, so copy it again: %w", size, err)
	}
	return nil, fmt.Errorf("the file is not a ZIP archive (such as .npz) but %s: %w", Described(head), err)
}
