// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// encodeCard returns a card as one or, with CONTINUE, several lines of 80 bytes.
func encodeCard(c Card) ([]byte, error) {
	for _, s := range []string{c.Key, c.Comment} {
		if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }); i >= 0 {
			return nil, fmt.Errorf("keyword %q: %q has a character that FITS headers cannot hold: use ASCII", c.Key, s)
		}
	}
	if commentary(c.Key) {
		return commentCards(c), nil
	}
	head, err := cardHead(c.Key)
	if err != nil {
		return nil, err
	}
	switch v := c.Value.(type) {
	case nil:
		return line(head, "", c.Comment), nil
	case string:
		return stringCards(head, c, v)
	case bool:
		return line(head, fmt.Sprintf("%20s", map[bool]string{true: "T", false: "F"}[v]), c.Comment), nil
	case int64:
		return line(head, fmt.Sprintf("%20d", v), c.Comment), nil
	case float64:
		s, err := number(v)
		if err != nil {
			return nil, fmt.Errorf("keyword %s: %w", c.Key, err)
		}
		return line(head, fmt.Sprintf("%20s", s), c.Comment), nil
	case complex128:
		re, err1 := number(real(v))
		im, err2 := number(imag(v))
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("keyword %s: %v is not finite, and FITS headers hold only finite numbers", c.Key, v)
		}
		return line(head, "("+re+", "+im+")", c.Comment), nil
	case Raw:
		return line(head, string(v), c.Comment), nil
	}
	return nil, fmt.Errorf("keyword %s: %T cannot be written: want a bool, number, string or nil", c.Key, c.Value)
}

// cardHead returns what stands before the value.
func cardHead(key string) (string, error) {
	plain := len(key) <= 8
	for _, r := range key {
		plain = plain && (r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if plain {
		return fmt.Sprintf("%-8s= ", key), nil
	}
	if strings.ContainsRune(key, '=') || len(key) > 60 {
		return "", fmt.Errorf("keyword %q cannot be written: want at most 60 characters, without =", key)
	}
	return "HIERARCH " + key + " = ", nil
}

// number formats a float so that it is read as a float, and as the same one.
func number(x float64) (string, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "", fmt.Errorf("%v is not finite, and FITS headers hold only finite numbers", x)
	}
	s := strconv.FormatFloat(x, 'G', -1, 64)
	if strings.ContainsRune(s, '.') {
		return s, nil
	}
	if i := strings.IndexByte(s, 'E'); i >= 0 {
		return s[:i] + ".0" + s[i:], nil
	}
	return s + ".0", nil
}

// line makes one card; a comment that does not fit is cut.
func line(head, value, comment string) []byte {
	s := head + value
	if comment != "" {
		s += " / " + comment
	}
	return []byte(fmt.Sprintf("%-80s", s[:min(len(s), 80)]))
}

func commentCards(c Card) []byte {
	var out []byte
	for text := c.Comment; ; {
		n := min(len(text), 72)
		out = append(out, fmt.Sprintf("%-8s%-72s", c.Key, text[:n])...)
		if text = text[n:]; text == "" {
			return out
		}
	}
}

// stringCards splits a string that is too long for one card.
func stringCards(head string, c Card, v string) ([]byte, error) {
	for _, r := range v {
		if r < ' ' || r > '~' {
			return nil, fmt.Errorf("keyword %s: %q has a character that FITS headers cannot hold: use ASCII", c.Key, v)
		}
	}
	text := strings.ReplaceAll(strings.TrimRight(v, " "), "'", "''")
	if room := 80 - len(head) - 2; len(text) <= room {
		return line(head, fmt.Sprintf("%-20s", fmt.Sprintf("'%-8s'", text)), c.Comment), nil
	}
	var out []byte
	for first := true; ; first = false {
		if !first {
			head = "CONTINUE  "
		}
		room := 80 - len(head) - 3
		if len(text) <= room+1 {
			return append(out, line(head, "'"+text+"'", c.Comment)...), nil
		}
		n := room
		if strings.Count(text[:n], "'")%2 == 1 && text[n-1] == '\'' { // not between the two of a pair
			n--
		}
		out = append(out, line(head, "'"+text[:n]+"&'", "")...)
		text = text[n:]
	}
}
