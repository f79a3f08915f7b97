// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import (
	"bytes"
	"fmt"
	"strings"
)

// scanner reads through the bytes of a file and tracks its position.
type scanner struct {
	file string
	text []byte
	at   int
	line int // current line, from 1
	bol  int // position at which the line begins
}

// mark is a position for messages.
type mark struct{ line, column int }

func (s *scanner) mark() mark { return mark{s.line, s.at - s.bol + 1} }

func (s *scanner) fail(m mark, try, format string, args ...any) error {
	return &FormatError{Format: "libconfig", File: s.file, Line: m.line, Column: m.column, What: fmt.Sprintf(format, args...), Try: try}
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.at >= len(s.text) {
		return 0
	}
	return s.text[s.at]
}

func (s *scanner) end() bool { return s.at >= len(s.text) }

// advance moves n bytes on and counts lines.
func (s *scanner) advance(n int) {
	for range n {
		if s.text[s.at] == '\n' {
			s.line, s.bol = s.line+1, s.at+1
		}
		s.at++
	}
}

// take moves on if the next byte is one of those given.
func (s *scanner) take(any string) bool {
	if s.end() || strings.IndexByte(any, s.peek()) < 0 {
		return false
	}
	s.advance(1)
	return true
}

// skip skips blanks and comments.
func (s *scanner) skip() error {
	for !s.end() {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			s.advance(1)
		case rest[0] == '#' || bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.advance(n)
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return s.fail(s.mark(), "close it with */", "the comment has no end")
			}
			s.advance(n + 4)
		default:
			return nil
		}
	}
	return nil
}

// found describes the next byte for a message.
func (s *scanner) found() string {
	if s.end() {
		return "the end of the file"
	}
	return fmt.Sprintf("%q", s.peek())
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// name reads the name of a setting.
func (s *scanner) name() (string, error) {
	m, from := s.mark(), s.at
	switch {
	case s.peek() == '@':
		return "", s.fail(m, "insert the text of that file here", "@include and other directives are not supported")
	case isDigit(s.peek()) && s.at > 1 && s.text[s.at-1] == ',' && isDigit(s.text[s.at-2]):
		return "", s.fail(m, "write numbers with a point, such as 0.5", "a comma between two digits ends the setting here")
	case !isLetter(s.peek()) && s.peek() != '*':
		return "", s.fail(m, "begin names with a letter", "found %s, want the name of a setting", s.found())
	}
	for c := s.peek(); isLetter(c) || isDigit(c) || c != 0 && strings.IndexByte("-_*", c) >= 0; c = s.peek() {
		s.at++
	}
	return string(s.text[from:s.at]), nil
}

// word reads a number or truth value: everything up to a blank or separator.
func (s *scanner) word() string {
	from := s.at
	for c := s.peek(); isLetter(c) || isDigit(c) || c == '+' || c == '-' || c == '.' || c == '_'; c = s.peek() {
		s.at++
	}
	return string(s.text[from:s.at])
}

// quoted reads adjacent pieces of text as one.
func (s *scanner) quoted() (string, error) {
	var b strings.Builder
	for s.peek() == '"' {
		if err := s.piece(&b); err != nil {
			return "", err
		}
		if err := s.skip(); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// piece reads text between two quotes.
func (s *scanner) piece(b *strings.Builder) error {
	start := s.mark()
	for s.advance(1); !s.end(); s.advance(1) {
		switch c := s.peek(); c {
		case '"':
			s.advance(1)
			return nil
		case '\\':
			if err := s.escape(b); err != nil {
				return err
			}
		default:
			b.WriteByte(c)
		}
	}
	return s.fail(start, `close it with "`, "the text has no end")
}

// escape reads an escape and stops at its last byte.
func (s *scanner) escape(b *strings.Builder) error {
	m := s.mark()
	s.advance(1)
	c := s.peek()
	if i := strings.IndexByte(`\"abfnrtv`, c); i >= 0 && !s.end() {
		b.WriteByte("\\\"\a\b\f\n\r\t\v"[i])
		return nil
	}
	if c == 'x' && s.at+2 < len(s.text) {
		high, low := hex(s.text[s.at+1]), hex(s.text[s.at+2])
		if high >= 0 && low >= 0 {
			b.WriteByte(byte(high<<4 | low))
			s.advance(2)
			return nil
		}
	}
	return s.fail(m, `write \\ for a backslash`, "the text contains an unknown escape")
}

// hex returns the value of a hexadecimal digit, or -1 for anything else.
func hex(c byte) int {
	if isLetter(c) {
		c |= 0x20
	}
	return strings.IndexByte("0123456789abcdef", c)
}
