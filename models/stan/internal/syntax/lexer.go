// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind int

const (
	end       kind = iota
	name           // an identifier
	keyword        // a reserved word
	integer        // 12
	number         // 1.5e3
	imaginary      // 2i
	dotted         // .5, which may also be a place in a tuple
	text           // "a string"
	symbol         // an operator or a bracket
)

// token is a word of the source.
type token struct {
	kind kind
	text string
	Span
}

// reserved are the words that cannot be names.
var reserved = set(`for in while repeat until if then else true false int real complex vector row_vector matrix complex_vector
complex_row_vector complex_matrix ordered positive_ordered simplex unit_vector sum_to_zero_vector sum_to_zero_matrix column_stochastic_matrix
row_stochastic_matrix cholesky_factor_corr cholesky_factor_cov corr_matrix cov_matrix array tuple functions model data parameters quantities
transformed generated void return break continue print reject fatal_error profile target jacobian static extern var export auto struct typedef lower upper offset multiplier`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// symbols are the operators and brackets, the longer before the shorter.
var symbols = []string{"%/%", ".*=", "./=", "<-", "+=", "-=", "*=", "/=", ".*", "./", ".^", "||", "&&", "==", "!=", "<=", ">=",
	"{", "}", "(", ")", "[", "]", "<", ">", "=", "+", "-", "*", "/", "\\", "^", "%", "!", "?", ":", ",", ";", "|", "'", "~"}

// mostText is the longest program that is read, in bytes.
const mostText = 16 << 20

// scan splits a program into words.
func (s *Source) scan() (list []token, err error) {
	t := s.Text
	if len(t) > mostText {
		return nil, &Error{Source: s, Syntax: true, Text: fmt.Sprintf("The program has %d bytes, and at most %d are read.", len(t), mostText)}
	}
	fail := func(from, to int, format string, args ...any) error {
		return &Error{Source: s, Span: Span{from, to}, Syntax: true, Text: fmt.Sprintf(format, args...)}
	}
	for i := 0; i < len(t); {
		c, from := t[i], i
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			i++
		case strings.HasPrefix(t[i:], "//"):
			i = lineEnd(t, i)
		case strings.HasPrefix(t[i:], "/*"):
			n := strings.Index(t[i+2:], "*/")
			if n < 0 {
				return nil, fail(from, from+2, "The comment that starts here does not end. Close it with */.")
			}
			i += n + 4
		case c == '#':
			if strings.HasPrefix(t[i:], "#include") {
				return nil, fail(from, lineEnd(t, i), "The file of this #include was not read: an #include stands on a line of its own: move it there.")
			}
			i = lineEnd(t, i) // a comment of old programs
		case c == '"':
			n := strings.IndexAny(t[i+1:], "\"\n")
			if n < 0 || t[i+1+n] == '\n' {
				return nil, fail(from, from+1, "The string that starts here does not end on its line. Close it with a quotation mark.")
			}
			i += n + 2
			list = append(list, token{text, t[from+1 : i-1], Span{from, i}})
		case letter(c):
			for i < len(t) && (letter(t[i]) || digit(t[i]) || t[i] == '_') {
				i++
			}
			k := name
			if reserved[t[from:i]] {
				k = keyword
			}
			if i-from > 1024 {
				return nil, fail(from, i, "This name has %d letters: shorten it.", i-from)
			}
			list = append(list, token{k, t[from:i], Span{from, i}})
		case digit(c) || (c == '.' && i+1 < len(t) && digit(t[i+1])):
			w, k := numeral(t[i:])
			i += w
			list = append(list, token{k, strings.ReplaceAll(t[from:i], "_", ""), Span{from, i}})
		default:
			sym := ""
			for _, x := range symbols {
				if strings.HasPrefix(t[i:], x) {
					sym = x
					break
				}
			}
			if sym == "" {
				r, w := utf8.DecodeRuneInString(t[i:])
				return nil, fail(from, from+w, "The character %q cannot stand here. Names are made of the letters a to z and A to Z, digits and underscores%s: replace it.", r, lookalike(r))
			}
			i += len(sym)
			list = append(list, token{symbol, sym, Span{from, i}})
		}
	}
	return append(list, token{end, "", Span{len(t), len(t)}}), nil
}

// lookalike says what a character that a word processor puts in may stand for.
func lookalike(r rune) string {
	switch r {
	case '\u2018', '\u2019':
		return ", and a transpose is written with the straight apostrophe '"
	case '\u201c', '\u201d':
		return ", and strings stand in straight quotation marks"
	case '\u2013', '\u2014', '\u2212':
		return ", and minus is the hyphen -"
	case '\u00a0':
		return ", and this is a space that does not break: write an ordinary one"
	case '\u200b', '\u200c', '\u200d', '\ufeff':
		return ", and this one has no width"
	case '@':
		return ", and matrices are multiplied with *"
	case '.':
		return ", and those with points get underscores"
	}
	if wide := r - 0xff01 + '!'; r >= 0xff01 && r <= 0xff5e {
		return fmt.Sprintf(", and this is the wide form of %q", wide)
	}
	return ""
}

func lineEnd(t string, i int) int {
	if n := strings.IndexByte(t[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(t)
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// numeral returns the length of the number at the start of t, and what it is.
func numeral(t string) (n int, k kind) {
	digits := func() {
		for n < len(t) && (digit(t[n]) || t[n] == '_' && n+1 < len(t) && digit(t[n+1])) {
			n++
		}
	}
	k = integer
	digits()
	if n == 0 {
		k = dotted
	}
	if n < len(t) && t[n] == '.' && !(n+1 < len(t) && (t[n+1] == '*' || t[n+1] == '/' || t[n+1] == '^')) {
		if k == integer {
			k = number
		}
		n++
		digits()
	}
	if n < len(t) && (t[n] == 'e' || t[n] == 'E') {
		m := n + 1
		if m < len(t) && (t[m] == '+' || t[m] == '-') {
			m++
		}
		if m < len(t) && digit(t[m]) {
			n, k = m, number
			digits()
		}
	}
	if n < len(t) && t[n] == 'i' && !(n+1 < len(t) && (letter(t[n+1]) || digit(t[n+1]) || t[n+1] == '_')) {
		n, k = n+1, imaginary
	}
	return n, k
}
