// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package checkpoint is the file format of runs that can be resumed.
//
// A file is a line with its kind and version, followed by chunks, the last of them empty:
//
//	EURYALE-KIND 1\n
//	uint32 length, bytes, uint32 CRC-32C of all chunks so far
//
// All numbers are little-endian. Nothing is decoded before its checksum is verified, and decoding
// never takes more memory than a small multiple of the bytes that are present, whatever lengths they
// claim. A stream may contain several files one after another.
package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// chunk is the approximate number of bytes under one checksum; most is the largest chunk that is
// read.
const (
	chunk = 1 << 18
	most  = 1 << 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FormatError says what is wrong with a checkpoint, and where.
type FormatError struct {
	Of     string // package and kind of checkpoint, such as "assembly: snapshot"; "" if the caller says it
	Offset int64  // approximate position of the fault in bytes, from the start of the first line; 0 for none
	What   string // description of the mistake, with the numbers
	Try    string // remedy to try
}

// Error returns the kind of checkpoint, byte, what is wrong and what to try.
func (e *FormatError) Error() string {
	at := ""
	if e.Offset > 0 {
		at = fmt.Sprintf("byte %d", e.Offset)
	}
	return errtext.Join(e.Of, at, e.What, e.Try)
}

// Refused returns err, an error of Read or AtEnd, with the kind of checkpoint and what to try.
func Refused(err error, of, try string) error {
	if bad := (*FormatError)(nil); errors.As(err, &bad) {
		return &FormatError{of, bad.Offset, bad.What, try}
	}
	return fmt.Errorf("%s: %w", of, err)
}

func firstLine(kind string, version int) string {
	return fmt.Sprintf("EURYALE-%s %d\n", kind, version)
}

// Write writes a checkpoint of the given kind and version. The error is that of w.
func Write(w io.Writer, kind string, version int, body func(*Encoder)) error {
	out := []byte(firstLine(kind, version))
	sum := uint32(0)
	var err error
	put := func(b []byte) {
		if err != nil {
			return
		}
		sum = crc32.Update(sum, castagnoli, b)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
		out = binary.LittleEndian.AppendUint32(append(out, b...), sum)
		_, err = w.Write(out)
		out = out[:0]
	}
	e := &Encoder{flush: put}
	body(e)
	for ; len(e.b) > 0; e.b = e.b[min(len(e.b), most):] {
		put(e.b[:min(len(e.b), most)])
	}
	put(nil)
	return err
}

// Read reads what Write wrote, and no further byte. It returns a *FormatError if r does not hold a
// checkpoint of this kind and version, or one that is damaged, truncated or not what body reads.
func Read(r io.Reader, kind string, version int, body func(*Decoder)) error {
	c := &chunks{r: r}
	if err := c.first(firstLine(kind, version)); err != nil {
		return err
	}
	d := &Decoder{more: c.next}
	body(d)
	d.End()
	switch {
	case c.err != nil:
		return c.err
	case d.err != nil:
		return &FormatError{Offset: c.at - int64(d.left), What: d.err.Error()}
	}
	return nil
}

// AtEnd returns a *FormatError if r holds another byte.
func AtEnd(r io.Reader) error {
	if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
		return &FormatError{What: "there are more bytes after its end: the file is damaged"}
	}
	return nil
}

// chunks reads the chunks of a stream.
type chunks struct {
	r    io.Reader
	at   int64
	sum  uint32
	done bool
	err  error
}

// first reads the first line.
func (c *chunks) first(want string) error {
	got := make([]byte, len(want))
	n, err := io.ReadFull(c.r, got)
	if c.at = int64(n); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if string(got[:n]) == want {
		return nil
	}
	same := 0
	for same < n && got[same] == want[same] {
		same++
	}
	if same > len("EURYALE-") && want[same-1] == ' ' {
		return &FormatError{What: fmt.Sprintf("it begins with %q and was written by another version of this program, while this one reads %q: use the version that wrote it", got[:n], want)}
	}
	return &FormatError{What: fmt.Sprintf("it begins with %q instead of %q: it is not a file of this kind", got[:n], want)}
}

// next returns the next chunk, or nil after the last one or after an error.
func (c *chunks) next() []byte {
	if c.done || c.err != nil {
		return nil
	}
	b, err := c.read()
	c.err = err
	c.done = len(b) == 0
	return b
}

func (c *chunks) read() ([]byte, error) {
	var word [4]byte
	if err := c.full(word[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(word[:]))
	if n > most {
		return nil, &FormatError{Offset: c.at, What: fmt.Sprintf("a chunk has %d bytes, more than the largest possible, %d: the file is damaged", n, most)}
	}
	var b []byte
	for len(b) < n { // little by little: the bytes may not be there
		part := make([]byte, min(n-len(b), max(chunk, len(b))))
		if err := c.full(part); err != nil {
			return nil, err
		}
		b = append(b, part...)
	}
	if err := c.full(word[:]); err != nil {
		return nil, err
	}
	if c.sum = crc32.Update(c.sum, castagnoli, b); c.sum != binary.LittleEndian.Uint32(word[:]) {
		return nil, &FormatError{Offset: c.at, What: "the checksum does not match the contents: the file is damaged"}
	}
	return b, nil
}

func (c *chunks) full(b []byte) error {
	n, err := io.ReadFull(c.r, b)
	c.at += int64(n)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return &FormatError{Offset: c.at, What: "the file is incomplete"}
	}
	return err
}
