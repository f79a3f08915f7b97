// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io"
)

// Exactly fills dst from r, which must end there. Compressed streams and members of ZIP files compare their checksum when they
// end, so whoever stops before has not verified it.
func Exactly(dst []byte, r io.Reader) error {
	if _, err := io.ReadFull(r, dst); err != nil {
		return err
	}
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return fmt.Errorf("there are more than the %d bytes of data", len(dst))
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// AtMost fills dst from r and returns how many bytes there were. It is an error if r does not end within dst, or ends in the middle of a
// compressed stream.
func AtMost(dst []byte, r io.Reader) (int, error) {
	n := 0
	for {
		k, err := r.Read(dst[n:])
		switch n += k; {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case n == len(dst):
			return n, Exactly(nil, r)
		}
	}
}

// Rest reads r to its end, so that a checksum that follows is compared.
func Rest(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
