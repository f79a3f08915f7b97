// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// ones is a sum of 32-bit words in ones' complement, of bytes that may come in pieces.
type ones struct {
	sum  uint64
	rest []byte
}

func (o *ones) Write(b []byte) (int, error) {
	n := len(b)
	if len(o.rest) > 0 {
		k := min(4-len(o.rest), len(b))
		o.rest = append(o.rest, b[:k]...)
		b = b[k:]
		if len(o.rest) < 4 {
			return n, nil
		}
		o.sum += uint64(binary.BigEndian.Uint32(o.rest))
		o.rest = o.rest[:0]
	}
	for ; len(b) >= 4; b = b[4:] {
		o.sum += uint64(binary.BigEndian.Uint32(b))
		if o.sum>>62 != 0 {
			o.sum = uint64(fold(o.sum))
		}
	}
	o.rest = append(o.rest, b...)
	return n, nil
}

// value returns the sum; a started word is filled with zeros.
func (o *ones) value() uint32 {
	sum := o.sum
	if len(o.rest) > 0 {
		var last [4]byte
		copy(last[:], o.rest)
		sum += uint64(binary.BigEndian.Uint32(last[:]))
	}
	return fold(sum)
}

func fold(sum uint64) uint32 {
	for sum>>32 != 0 {
		sum = sum&math.MaxUint32 + sum>>32
	}
	return uint32(sum)
}

// encodeSum returns the 16 characters whose addition to a header makes its sum all ones.
//
// Reference: FITS Standard 4.0, appendix J.
func encodeSum(sum uint32) string {
	sum = ^sum
	var out [16]byte
	for i := range 4 {
		b := byte(sum >> (24 - 8*i))
		var c [4]byte
		for j := range c {
			c[j] = b/4 + '0'
		}
		c[0] += b % 4
		for bad := true; bad; {
			bad = false
			for j := 0; j < 4; j += 2 {
				if punctuation(c[j]) || punctuation(c[j+1]) {
					c[j]++
					c[j+1]--
					bad = true
				}
			}
		}
		for j := range c {
			out[4*j+i] = c[j]
		}
	}
	return string(out[15:]) + string(out[:15])
}

func punctuation(c byte) bool { return c > '9' && c < 'A' || c > 'Z' && c < 'a' }

// verified is Verify, once.
func (h *HDU) verified() error {
	h.once.Do(func() { h.sums = h.Verify() })
	return h.sums
}

// Verify checks DATASUM and CHECKSUM, if the header has them, against the data. A mismatch is an error
// that matches ErrChecksum.
func (h *HDU) Verify() error {
	want, hasData := h.sumOf("DATASUM")
	_, hasSum := h.sumOf("CHECKSUM")
	if !hasData && !hasSum {
		return nil
	}
	var data ones
	if err := h.copyTo(&data, h.at, h.size); err != nil {
		return err
	}
	if hasData {
		text := strings.TrimSpace(fmt.Sprint(want.Value))
		if n, err := strconv.ParseUint(text, 10, 32); err != nil || uint32(n) != data.value() && !(zero(uint32(n)) && zero(data.value())) {
			e := h.bad(h.at, "DATASUM is %s, but the data sum to %d", text, data.value())
			e.Err, e.Try = ErrChecksum, "fetch the file again; if its data were changed on purpose, write the sums anew with astropy's fitscheck --write"
			return e
		}
	}
	if !hasSum {
		return nil
	}
	var head ones
	if err := h.copyTo(&head, h.head, h.at-h.head); err != nil {
		return err
	}
	if total := fold(uint64(head.value()) + uint64(data.value())); !zero(total) {
		e := h.bad(h.head, "CHECKSUM disagrees: header and data sum to %#x, want 0 or 0xffffffff", total)
		if hasData { // which have just been found to be right; but not what the header makes of them, such as their scale
			e.What += "; the data are right by DATASUM, so the header was damaged or edited"
		}
		e.Err, e.Try = ErrChecksum, "fetch the file again; if its header was edited on purpose, write the sum anew with astropy's fitscheck --write"
		return e
	}
	return nil
}

// sumOf returns a keyword with a sum, and whether it has one: an empty value says that the sum is not known.
func (h *HDU) sumOf(key string) (Card, bool) {
	c, ok := h.Header.Get(key)
	return c, ok && c.Value != nil && strings.TrimSpace(fmt.Sprint(c.Value)) != ""
}

// zero reports whether a sum in ones' complement is one of the two zeros.
func zero(sum uint32) bool { return sum == 0 || sum == math.MaxUint32 }

// copyTo writes bytes of the file, with the padding of the last block where there is any.
func (h *HDU) copyTo(w io.Writer, at, n int64) error {
	if at == h.at {
		if err := h.present(0, n); err != nil {
			return err
		}
		n = min((n+block-1)/block*block, h.file.size-at)
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{io.NewSectionReader(h.file.r, at, n)}, make([]byte, 64<<10))
	return err
}
