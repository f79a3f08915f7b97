// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
)

// JSON checks a document before it is decoded, and returns it without the byte order mark and the checksum (see Seal). It
// returns an error, with line and column, if the document is not JSON, has something after its end,
// or has a key twice in one object, and an error if its checksum is not that of its bytes.
func JSON(b []byte) ([]byte, error) {
	if what := NotText(b); what != "" {
		return nil, fmt.Errorf("the file is not JSON but %s", what)
	}
	b = Unmarked(b)
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := document(d, ""); err != nil {
		if text := bytes.TrimSpace(b); len(text) > 0 && text[0] != '{' && text[0] != '[' {
			line, _, _ := bytes.Cut(text, []byte("\n"))
			return nil, fmt.Errorf("the file is not JSON: it begins with %q, where { is wanted", Short(string(bytes.TrimSpace(line)), 60))
		}
		return nil, placed(b, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, placed(b, d.InputOffset(), errors.New("there is more text after the end of the document: want one object"))
	}
	return unseal(b)
}

// Decode checks a document as JSON does and decodes it. If it is strict, fields that v does not have are errors.
func Decode(b []byte, v any, strict bool) error {
	b, err := JSON(b)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if strict {
		d.DisallowUnknownFields()
	}
	return InWords(b, d.Decode(v))
}

// decimalComma is a number with a comma behind a key, as in "voxel": 2,5.
var decimalComma = regexp.MustCompile(`:\s*(-?[0-9]+)\s*,\s*([0-9]+(?:[eE][+-]?[0-9]+)?)\s*[,}\n]?`)

// placed adds the position to an error.
func placed(b []byte, at int64, err error) error {
	if errors.As(err, new(*json.SyntaxError)) { // of what comes next
		at += int64(len(b[at:]) - len(bytes.TrimLeft(b[at:], " \t\r\n:,")))
	}
	line, column := Position(b, at)
	if m := decimalComma.FindSubmatch(b[max(0, min(at, int64(len(b)))-40):min(at+40, int64(len(b)))]); m != nil && errors.As(err, new(*json.SyntaxError)) {
		return fmt.Errorf("line %d: %s,%s has a comma as the decimal sign: write %s.%s", line, m[1], m[2], m[1], m[2])
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"} {
		if at <= int64(len(b)) && errors.As(err, new(*json.SyntaxError)) && bytes.HasPrefix(b[at:], []byte(word)) {
			err = fmt.Errorf("%s is not JSON: leave the value out, or write %q or null where it may be missing", word, map[byte]string{'N': "NaN", 'n': "NaN", 'I': "Infinity", 'i': "Infinity", '-': "-Infinity"}[word[0]])
			break
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the document ends too early: was the file copied completely?")
	}
	return fmt.Errorf("line %d, column %d: %w", line, column, err)
}

// embedded are the names of embedded structs in the path of a field, which documents do not have.
var embedded = regexp.MustCompile(`\b[A-Z][a-z]+[A-Z][A-Za-z]*\.`)

// InWords returns an error of encoding/json in words that do not name types of Go: the place in the document b, the
// field, and what it should have. Without b, the place is left out. Other errors stay as they are.
func InWords(b []byte, err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		name := strings.TrimPrefix(err.Error(), "json: unknown field ")
		err = fmt.Errorf("there is no field %s: remove it, or correct its name", name)
		if at := bytes.Index(b, []byte(name)); at >= 0 {
			line, column := Position(b, int64(at))
			err = fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return err
	case !errors.As(err, &kind):
		return err
	}
	have, number, _ := strings.Cut(kind.Value, " ")
	if have == "number" && number != "" {
		have = number
	} else if names := map[string]string{"array": "a list", "object": "an object", "bool": "true or false", "number": "a number", "string": "a text"}; names[have] != "" {
		have = names[have]
	}
	text := fmt.Sprintf("the value is %s: want %s", have, jsonName(kind.Type))
	if kind.Field != "" {
		text = fmt.Sprintf("field %s is %s: want %s", embedded.ReplaceAllString(kind.Field, ""), have, jsonName(kind.Type))
	}
	if err != error(kind) { // of a part of the document, which does not know its place
		return errors.New(strings.Replace(err.Error(), kind.Error(), text, 1))
	}
	if b == nil {
		return errors.New(text)
	}
	line, column := Position(b, kind.Offset-1)
	return fmt.Errorf("line %d, column %d: %s", line, column, text)
}

// jsonName returns what JSON calls a type of Go.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonName(t.Elem())
	case reflect.Map, reflect.Struct:
		return "an object {...}"
	case reflect.Slice, reflect.Array:
		return "a list [...]"
	case reflect.Float64, reflect.Float32:
		return "a number"
	case reflect.String:
		return "a text in quotation marks"
	case reflect.Bool:
		return "true or false"
	}
	return "a whole number"
}

// Position returns the line and column of a byte, both from 1.
func Position(b []byte, at int64) (line, column int) {
	before := b[:min(at, int64(len(b)))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// deepest is the largest nesting depth of objects and lists.
const deepest = 1000

// document reads one value; where names its place.
func document(d *json.Decoder, where string) error {
	type level struct {
		keys  map[string]bool // keys seen so far; nil in a list
		key   bool            // whether the next token is a key
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
					return fmt.Errorf("the key %q appears twice in %s: remove one", Short(name, 60), named(stack[top].where))
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
			return fmt.Errorf("objects and lists are nested more than %d levels deep", deepest)
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
