package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// JSON looks at a document before it is decoded, and returns it without the mark of UTF-8.
// What is not JSON, has something behind its end or a key twice in one object is an error
// that says in which line and column.
func JSON(b []byte) ([]byte, error) {
	if what := NotText(b); what != "" {
		return nil, fmt.Errorf("it is not JSON but %s", what)
	}
	b = Unmarked(b)
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := document(d, ""); err != nil {
		return nil, placed(b, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, placed(b, d.InputOffset(), errors.New("more after the end of the document: want one object"))
	}
	return b, nil
}

// placed says where an error is.
func placed(b []byte, at int64, err error) error {
	if errors.As(err, new(*json.SyntaxError)) { // of what comes next
		at += int64(len(b[at:]) - len(bytes.TrimLeft(b[at:], " \t\r\n:,")))
	}
	line, column := Position(b, at)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the document ends early")
	}
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// Position is the line and column of a byte, from 1.
func Position(b []byte, at int64) (line, column int) {
	before := b[:min(at, int64(len(b)))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// deepest is how far objects and lists may stand in each other.
const deepest = 1000

// document reads one value; where names it.
func document(d *json.Decoder, where string) error {
	type level struct {
		keys  map[string]bool // nil in a list
		key   bool            // a key comes next
		where string
	}
	var stack []level
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		top := len(stack) - 1
		if top >= 0 && stack[top].key {
			if name, ok := t.(string); ok {
				if stack[top].keys[name] {
					return fmt.Errorf("%q stands twice in %s", Short(name, 60), named(stack[top].where))
				}
				stack[top].keys[name] = true
				stack[top].key = false
				where = name
				continue
			}
		}
		switch t {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true, where})
		case json.Delim('['):
			stack = append(stack, level{nil, false, where})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if len(stack) > deepest {
			return fmt.Errorf("objects and lists stand more than %d deep", deepest)
		}
		if len(stack) == 0 {
			return nil
		}
		if top = len(stack) - 1; stack[top].keys != nil && t != json.Delim('{') {
			stack[top].key = true
		}
	}
}

func named(where string) string {
	if where == "" {
		return "the document"
	}
	return fmt.Sprintf("%q", Short(where, 60))
}
