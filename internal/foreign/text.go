// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package foreign handles input from outside the program: text of files and arguments that is shown,
// and files that are read.
package foreign

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Text makes characters visible, as \x1b or \u202e, that would control a terminal, change the
// direction of text, or be invisible themselves, so that two names look alike. Line feeds and tabs stay, except in names of files (see Name).
func Text(s string) string {
	s = broken(s)
	if strings.IndexFunc(s, steers) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case steers(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case steers(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

func steers(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, 0x7f <= r && r < 0xa0:
		return true
	}
	// Soft hyphen, Arabic letter mark, zero-width characters and byte order mark take no room.
	return r == 0xad || r == 0x61c || 0x200b <= r && r <= 0x200f || r == 0x2060 || r == 0xfeff || r == 0x2028 || r == 0x2029 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// Short cuts the middle out of text of more than most bytes and says how much was cut.
func Short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := most*2/3, len(s)-most/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s ... (%d bytes left out) ... %s", s[:head], tail-head, s[tail:])
}

// Writer writes text as Text shows it, for any number of goroutines.
func Writer(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	mu   sync.Mutex
	w    io.Writer
	part []byte // first bytes of a character whose rest has not arrived yet
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := append(w.part, p...)
	end := len(b)
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if c := b[len(b)-back]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-back:]) {
				end = len(b) - back
			}
			break
		}
	}
	w.part = append([]byte(nil), b[end:]...)
	if _, err := io.WriteString(w.w, Text(string(b[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
