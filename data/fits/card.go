// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"math"
	"strconv"
	"strings"
)

// Card is one record of a header: a keyword with its value and comment.
type Card struct {
	Key string // upper case; for a HIERARCH card, the words after HIERARCH, such as ESO DET ID
	// Value is a bool, int64, float64, complex128, string or Raw, or nil for a card without a value.
	Value   any
	Comment string // text of the comment; for COMMENT, HISTORY and blank cards, their text
}

// Raw is the text of a value that does not follow the standard.
type Raw string

// commentary reports whether a keyword has text instead of a value.
func commentary(key string) bool { return key == "" || key == "COMMENT" || key == "HISTORY" }

// parseCard reads the 80 bytes of a card. more is the text that a CONTINUE card adds.
func parseCard(b []byte) (c Card, more string, isMore bool) {
	key := strings.TrimRight(string(b[:8]), " ")
	rest := string(b[8:])
	switch {
	case key == "CONTINUE":
		if text, comment, ok := quoted(strings.TrimLeft(rest, " ")); ok {
			return Card{Comment: comment}, text, true
		}
		return Card{Key: key, Comment: strings.TrimRight(rest, " ")}, "", false
	case key == "HIERARCH":
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return Card{Key: key, Comment: strings.TrimRight(rest, " ")}, "", false
		}
		c.Key = strings.ToUpper(strings.Join(strings.Fields(name), " "))
		c.Value, c.Comment = parseValue(value)
		return c, "", false
	case !commentary(key) && strings.HasPrefix(rest, "= "):
		c.Key = strings.ToUpper(key)
		c.Value, c.Comment = parseValue(rest[2:])
		return c, "", false
	}
	return Card{Key: strings.ToUpper(key), Comment: strings.TrimRight(rest, " ")}, "", false
}

// quoted takes a string in apostrophes off the front of text and returns the comment after it.
func quoted(s string) (text, comment string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return strings.TrimRight(b.String(), " "), commentOf(s[i+1:]), true
	}
	return "", "", false
}

func commentOf(s string) string {
	_, comment, _ := strings.Cut(s, "/")
	return strings.TrimRight(strings.TrimPrefix(comment, " "), " ")
}

// parseValue reads the value and the comment of a card.
func parseValue(s string) (any, string) {
	s = strings.TrimLeft(s, " ")
	if text, comment, ok := quoted(s); ok {
		return text, comment
	}
	value, _, _ := strings.Cut(s, "/")
	value = strings.TrimRight(value, " ")
	comment := commentOf(s)
	switch {
	case value == "":
		return nil, comment
	case value == "T" || value == "F":
		return value == "T", comment
	case strings.HasPrefix(value, "("):
		re, im, ok := strings.Cut(strings.TrimSuffix(value[1:], ")"), ",")
		x, ok1 := parseFloat(re)
		y, ok2 := parseFloat(im)
		if ok && ok1 && ok2 && strings.HasSuffix(value, ")") {
			return complex(x, y), comment
		}
		return Raw(value), comment
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return n, comment
	}
	if x, ok := parseFloat(value); ok {
		return x, comment
	}
	return Raw(value), comment
}

// parseFloat reads a number as Fortran writes it, with exponents after E or D.
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eEdD", rune(c)) {
			return 0, false
		}
	}
	s = strings.Map(func(r rune) rune {
		if r == 'd' || r == 'D' {
			return 'E'
		}
		return r
	}, s)
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil && !math.IsInf(x, 0)
}
