// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// parser scans JSON text that may contain NaN and infinities as bare words.
type parser struct {
	b  []byte
	at int
}

// maxDepth is the largest nesting depth of lists; it exceeds NumPy's limit on axes.
const maxDepth = 70

// fault returns an error at the current position.
func (p *parser) fault(format string, args ...any) error {
	return &FormatError{Format: "idata", Offset: int64(p.at), What: fmt.Sprintf(format, args...)}
}

func (p *parser) space() {
	for p.at < len(p.b) && (p.b[p.at] == ' ' || p.b[p.at] == '\n' || p.b[p.at] == '\t' || p.b[p.at] == '\r') {
		p.at++
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (p *parser) peek() byte {
	p.space()
	if p.at == len(p.b) {
		return 0
	}
	return p.b[p.at]
}

// take skips the byte c if it comes next, and reports whether it did.
func (p *parser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// object calls f for every key in order; f must read the value.
func (p *parser) object(f func(key string) error) error {
	if !p.take('{') {
		return p.fault("found %s, want an object", p.next())
	}
	seen := map[string]bool{}
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') {
			return p.fault("found %s, want a comma or the end of the object", p.next())
		}
		key, err := p.text()
		if err != nil {
			return err
		}
		if seen[key] {
			return p.fault("the key %q appears twice: remove one", key)
		}
		seen[key] = true
		if !p.take(':') {
			return p.fault("found %s, want a colon after %q", p.next(), key)
		}
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}

// next returns the text that comes next, for error messages.
func (p *parser) next() string {
	p.space()
	if p.at == len(p.b) {
		return "the end of the file"
	}
	return fmt.Sprintf("%.20q", p.b[p.at:min(p.at+20, len(p.b))])
}

// text reads a string.
func (p *parser) text() (string, error) {
	if p.peek() != '"' {
		return "", p.fault("found %s, want a string", p.next())
	}
	for i := p.at + 1; i < len(p.b); i++ {
		switch p.b[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal(p.b[p.at:i+1], &s); err != nil {
				return "", p.fault("string %.40q: %v", p.b[p.at:i+1], err)
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.fault("a string has no end: close it with a quotation mark")
}

// skip skips a value of any type.
func (p *parser) skip(depth int) error {
	if depth > maxDepth {
		return p.fault("values are nested more than %d levels deep", maxDepth)
	}
	switch p.peek() {
	case '{':
		return p.object(func(string) error { return p.skip(depth + 1) })
	case '[':
		p.at++
		for first := true; !p.take(']'); first = false {
			if !first && !p.take(',') {
				return p.fault("found %s, want a comma or the end of the list", p.next())
			}
			if err := p.skip(depth + 1); err != nil {
				return err
			}
		}
		return nil
	}
	return p.leaf(&array{})
}

// array reads a single value or nested lists of numbers, booleans or text.
func (p *parser) array() (*array, error) {
	a := &array{}
	if err := p.into(a, 0); err != nil {
		return nil, err
	}
	return a, nil
}

func (p *parser) into(a *array, depth int) error {
	if p.peek() != '[' {
		if a.leaves > 0 && depth != a.rank {
			return p.fault("a value is at depth %d, but the first one is at depth %d: want lists of equal depth", depth, a.rank)
		}
		a.rank = depth
		return p.leaf(a)
	}
	if depth >= maxDepth || a.leaves > 0 && depth >= a.rank {
		return p.fault("a list is at depth %d: want lists of equal depth, at most %d", depth, maxDepth)
	}
	p.at++
	n := 0
	for first := true; !p.take(']'); first = false {
		if !first && !p.take(',') {
			return p.fault("found %s, want a comma or the end of the list", p.next())
		}
		if err := p.into(a, depth+1); err != nil {
			return err
		}
		n++
	}
	for len(a.shape) <= depth {
		a.shape = append(a.shape, -1)
	}
	if a.shape[depth] >= 0 && a.shape[depth] != n {
		return p.fault("a list has %d elements, but others at this depth have %d: want lists of equal lengths", n, a.shape[depth])
	}
	a.shape[depth] = n
	return nil
}

// leaf reads one value.
func (p *parser) leaf(a *array) error {
	if p.peek() == '"' {
		s, err := p.text()
		if err != nil {
			return err
		}
		return a.addText(p, s)
	}
	start := p.at
	for p.at < len(p.b) && !slices.Contains([]byte(",]} \n\t\r"), p.b[p.at]) && p.at-start < 400 {
		p.at++
	}
	word := string(p.b[start:p.at])
	switch word {
	case "true", "false":
		return a.addBool(p, word == "true")
	case "null", "NaN":
		return a.addFloat(p, math.NaN())
	case "Infinity":
		return a.addFloat(p, math.Inf(1))
	case "-Infinity":
		return a.addFloat(p, math.Inf(-1))
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil && word[0] != '+' {
		return a.addInt(p, n)
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil && !math.IsInf(v, 0) || word == "" || !slices.Contains([]byte("-0123456789"), word[0]) || slices.ContainsFunc([]byte(word), func(c byte) bool { return !slices.Contains([]byte("+-.eE0123456789"), c) }) {
		p.at = start
		return p.fault("found %.40q, want a number, a truth value or text", word)
	}
	return a.addFloat(p, v)
}
