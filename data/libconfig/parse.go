// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Limits on a file.
const (
	maxBytes  = 16 << 20
	maxValues = 1 << 20
	maxDepth  = 64
)

// Open reads the named file.
func Open(name string) (*Value, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, fmt.Errorf("libconfig: %w", err)
	}
	defer f.Close()
	return Read(f, name)
}

// Read reads a file; name is used in messages. The result is its root group.
func Read(r io.Reader, name string) (*Value, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, &FormatError{Format: "libconfig", File: name, What: "the file cannot be read", Err: err}
	}
	if len(text) > maxBytes {
		return nil, &FormatError{Format: "libconfig", File: name, What: fmt.Sprintf("the file has more than %d MiB", maxBytes>>20), Try: "give a configuration file"}
	}
	return Parse(text, name)
}

// Parse reads the text of a file; name is used in messages.
func Parse(text []byte, name string) (*Value, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // mark of Windows programs
	p := &parser{scanner: scanner{file: name, text: text, line: 1}}
	root := p.value(p.mark(), Group)
	if err := p.settings(root, 0); err != nil {
		return nil, err
	}
	if !p.end() {
		return nil, p.fail(p.mark(), "remove it", "found %s outside of any group", p.found())
	}
	return root, nil
}

// parser makes values from what the scanner finds.
type parser struct {
	scanner
	values int
}

func (p *parser) value(m mark, k Kind) *Value {
	p.values++
	return &Value{Kind: k, Line: m.line, Column: m.column, file: p.file}
}

// settings reads the contents of a group up to its end.
func (p *parser) settings(g *Value, depth int) error {
	seen := map[string]*Value{}
	for {
		if err := p.skip(); err != nil {
			return err
		}
		if p.end() || p.peek() == '}' {
			return nil
		}
		m := p.mark()
		name, err := p.name()
		if err != nil {
			return err
		}
		if old := seen[name]; old != nil {
			return p.fail(m, "keep one of them", "the setting %s already exists, in line %d", name, old.Line)
		}
		v, err := p.setting(name, depth)
		if err != nil {
			return err
		}
		seen[name] = v
		g.Items = append(g.Items, v)
	}
}

// setting reads what follows a name.
func (p *parser) setting(name string, depth int) (*Value, error) {
	if err := p.skip(); err != nil {
		return nil, err
	}
	if !p.take("=:") {
		return nil, p.fail(p.mark(), "write "+name+" = value;", "found %s after %s, want = or :", p.found(), name)
	}
	v, err := p.any(depth)
	if err != nil {
		return nil, err
	}
	v.Name = name
	if err := p.skip(); err != nil {
		return nil, err
	}
	p.take(";,")
	return v, nil
}

// any reads a value of any kind.
func (p *parser) any(depth int) (*Value, error) {
	if err := p.skip(); err != nil {
		return nil, err
	}
	m := p.mark()
	if depth >= maxDepth {
		return nil, p.fail(m, "use fewer levels", "more than %d groups and lists are nested", maxDepth)
	}
	if p.values >= maxValues {
		return nil, p.fail(m, "give a configuration file", "the file has more than %d values", maxValues)
	}
	switch p.peek() {
	case '{':
		return p.group(m, depth)
	case '[':
		return p.elements(p.value(m, Array), "]", depth)
	case '(':
		return p.elements(p.value(m, List), ")", depth)
	case '"':
		v := p.value(m, String)
		var err error
		v.Text, err = p.quoted()
		return v, err
	}
	return p.scalar(m)
}

func (p *parser) group(m mark, depth int) (*Value, error) {
	g := p.value(m, Group)
	p.advance(1)
	if err := p.settings(g, depth+1); err != nil {
		return nil, err
	}
	if !p.take("}") {
		return nil, p.fail(m, "close it with }", "the group has no end")
	}
	return g, nil
}

// elements reads an array or list up to its closing bracket.
func (p *parser) elements(list *Value, closing string, depth int) (*Value, error) {
	m := p.mark()
	p.advance(1)
	for {
		if err := p.skip(); err != nil {
			return nil, err
		}
		if p.take(closing) {
			return list, nil
		}
		if p.end() {
			return nil, p.fail(m, "close it with "+closing, "the %s has no end", list.Kind)
		}
		v, err := p.any(depth + 1)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, v)
		if err := p.fits(list, v); err != nil {
			return nil, err
		}
		if err := p.skip(); err != nil {
			return nil, err
		}
		if !p.end() && !p.take(",") && string(p.peek()) != closing {
			return nil, p.fail(p.mark(), "separate elements by commas", "found %s in %s, want , or %s", p.found(), list.Kind, closing)
		}
	}
}

// fits checks that the elements of an array are scalars of the same kind.
func (p *parser) fits(list, v *Value) error {
	number := func(k Kind) bool { return k == Int || k == Float }
	first := list.Items[0].Kind
	at := mark{v.Line, v.Column}
	switch {
	case list.Kind != Array:
	case v.Kind >= Array:
		return p.fail(at, "use a list: ( ) instead of [ ]", "there is %s inside an array", v.Kind.article())
	case v.Kind != first && !(number(v.Kind) && number(first)):
		return p.fail(at, "use a list: ( ) instead of [ ]", "there is %s in an array that begins with %s", v.Kind.article(), first.article())
	}
	return nil
}

// scalar reads a number or truth value.
func (p *parser) scalar(m mark) (*Value, error) {
	word := p.word()
	v := p.value(m, Bool)
	switch {
	case word == "":
		return nil, p.fail(m, "", "found %s, want a value", p.found())
	case strings.EqualFold(word, "true"):
		v.Bool = true
		return v, nil
	case strings.EqualFold(word, "false"):
		return v, nil
	}
	if n, ok := whole(word); ok {
		v.Kind, v.Int = Int, n
		return v, nil
	}
	if x, ok := fraction(word); ok {
		v.Kind, v.Float = Float, x
		return v, nil
	}
	try := "write text in quotes"
	if isDigit(word[0]) || strings.IndexByte("+-.", word[0]) >= 0 {
		try = "write numbers such as 12, 0x1F, 12L, 1.5, 1e-3 that fit 64 bits"
	}
	if len(word) > 40 {
		word = word[:40] + "..."
	}
	return nil, p.fail(m, try, "%s is neither a number nor true or false", word)
}

// whole parses an integer: decimal, 0x, 0b, 0o or 0q, optionally followed by L or LL.
func whole(word string) (int64, bool) {
	digits := strings.TrimSuffix(strings.TrimSuffix(word, "L"), "L")
	lower := strings.ToLower(digits)
	for prefix, radix := range map[string]int{"0x": 16, "0b": 2, "0o": 8, "0q": 8} {
		if rest, ok := strings.CutPrefix(lower, prefix); ok && rest != "" && rest[0] != '+' && rest[0] != '-' {
			n, err := strconv.ParseInt(rest, radix, 64)
			return n, err == nil
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

// fraction parses a number with a point or an exponent.
func fraction(word string) (float64, bool) {
	if strings.Trim(word, "+-.0123456789eE") != "" || !strings.ContainsAny(word, ".eE") {
		return 0, false // neither Go's own forms nor huge whole numbers are meant
	}
	x, err := strconv.ParseFloat(word, 64)
	return x, err == nil && !math.IsInf(x, 0)
}
