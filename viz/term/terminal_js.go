// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"bytes"
	"errors"
	"io"
)

// terminal writes lines, since a page of a browser is none.
type terminal struct {
	bytes.Buffer
	w io.Writer
}

func newTerminal(w io.Writer) *terminal { return &terminal{w: w} }

// IsTerminal says that frames cannot be drawn over each other.
func (t *terminal) IsTerminal() bool { return false }

// GetTermSize says that there is no size, so that lines have the usual one.
func (t *terminal) GetTermSize() (width, height int, err error) {
	return 0, 0, errors.New("a page is no terminal")
}

// Flush writes what was written since the last time.
func (t *terminal) Flush(int) error {
	_, err := t.WriteTo(t.w)
	return err
}
