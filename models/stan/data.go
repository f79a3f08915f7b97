// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Data are the values of variables by name, as JSON has them.
type Data map[string]json.RawMessage

// mostData is the largest file of data in bytes.
const mostData = 1 << 30

// ReadData reads the variables of the data block: a JSON object, in which arrays are nested, matrices are arrays of rows, and NaN and
// infinities stand in quotation marks or bare; or an R dump, of assignments such as y <- c(1.5, 2).
func ReadData(r io.Reader) (Data, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostData+1))
	if err != nil {
		return nil, err
	}
	if len(b) > mostData {
		return nil, fmt.Errorf("stan: the data have more than %d bytes: split them", mostData)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, errors.New("stan: the data are text in UTF-16: save the file as UTF-8")
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, errors.New("stan: the file of data is empty: write {} if the program has no data")
	}
	if isDump(b) {
		return readDump(b)
	}
	d := Data{}
	if err := json.Unmarshal(quoted(b), &d); err != nil {
		var s *json.SyntaxError
		if errors.As(err, &s) {
			line := 1 + bytes.Count(b[:min(int(s.Offset), len(b))], []byte("\n"))
			return nil, fmt.Errorf("stan: the data are not JSON: line %d: %w: check the commas and brackets there", line, err)
		}
		return nil, errors.New("stan: the data are no JSON object with the names of variables, but a list or a single value: write {\"N\": 2, \"y\": [1, 2]}, with one list for each column of a table")
	}
	return d, repeated(b)
}

// repeated fails if a JSON object has a variable twice, of which only the last would count.
func repeated(b []byte) error {
	depth, seen := 0, map[string]bool{}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			from := i + 1
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) || depth != 1 || !bytes.HasPrefix(bytes.TrimLeft(b[i+1:], " \t\r\n"), []byte(":")) {
				continue
			}
			name := string(b[from:i])
			if seen[name] {
				return fmt.Errorf("stan: the data have the variable %s twice: remove one of the two", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// quoted puts bare NaN and infinities in quotation marks.
func quoted(b []byte) []byte {
	if !bytes.ContainsAny(b, "NI") {
		return b
	}
	out := make([]byte, 0, len(b)+64)
	for i := 0; i < len(b); {
		c := b[i]
		if c == '"' {
			j := i + 1
			for j < len(b) && b[j] != '"' {
				if b[j] == '\\' {
					j++
				}
				j++
			}
			j = min(j+1, len(b))
			out, i = append(out, b[i:j]...), j
			continue
		}
		if n := bytes.IndexAny(b[i:], `"-IN`); n != 0 { // nothing to put in quotation marks before
			if n < 0 {
				n = len(b) - i
			}
			out, i = append(out, b[i:i+n]...), i+n
			continue
		}
		word := ""
		for _, w := range []string{"-Infinity", "-Inf", "Infinity", "Inf", "NaN"} {
			if bytes.HasPrefix(b[i:], []byte(w)) {
				word = w
				break
			}
		}
		if word != "" {
			out, i = append(append(append(out, '"'), word...), '"'), i+len(word)
			continue
		}
		out, i = append(out, c), i+1
	}
	return out
}

var words = map[string]float64{"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

// reader reads the numbers of a variable.
type reader struct {
	name  string
	whole bool
	out   []float64
}

// value reads a variable of a type whose shape is known.
func (d Data) value(name string, t typing.Type, shape []int) (value.Value, error) {
	raw, ok := d[name]
	if !ok {
		return value.Value{}, fmt.Errorf("Exception: variable does not exist; processing stage=data initialization; variable name=%s; base type=%s: add it to the data%s", name, baseName(t), d.near(name))
	}
	if t.Kind.IsComplex() {
		r := t
		r.Kind = r.Kind.Realed()
		if t.Kind == typing.Complex {
			r.Kind = typing.Real
		}
		v, err := Data{name: raw}.value(name, r.Array(1), append(append([]int{}, shape...), 2))
		if err != nil {
			return v, err
		}
		n := value.Size(shape)
		re, im := make([]int, n), make([]int, n)
		for i := range n {
			re[i], im[i] = 2*i, 2*i+1
		}
		return value.Complex(t, v.Take(re, r, 0, shape...), v.Take(im, r, 0, shape...)), nil
	}
	r := &reader{name: name, whole: t.Kind == typing.Int}
	found, err := r.read(raw)
	if err != nil {
		return value.Value{}, err
	}
	if len(shape) == 1 && shape[0] == 1 && len(found) == 0 { // a bare number for a vector of one
		found = []int{1}
	}
	if value.Size(shape) == 0 && len(r.out) == 0 {
		found = shape
	}
	if len(found) != len(shape) {
		return value.Value{}, mismatch(name, max(0, min(len(found), len(shape))), shape, found)
	}
	for i := range shape {
		if shape[i] != found[i] {
			return value.Value{}, mismatch(name, i, shape, found)
		}
	}
	return value.Known(t, r.out, shape...), nil
}

// param reads a variable that may be a tuple: a JSON object of its elements by number, from "1" on, and nested arrays of such for an array of
// tuples.
func (d Data) param(name string, t typing.Type, p stage.Param) (value.Value, error) {
	if t.Kind != typing.Tuple {
		return d.value(name, t, p.Shape)
	}
	raw, ok := d[name]
	if !ok {
		return value.Value{}, fmt.Errorf("Exception: variable does not exist; processing stage=data initialization; variable name=%s; base type=tuple: add it to the data%s", name, d.near(name))
	}
	if t.Dims > 0 {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil || len(list) != p.Shape[0] {
			return value.Value{}, fmt.Errorf("variable %s is an array of %d tuples: write it as a JSON array of %d", name, p.Shape[0], p.Shape[0])
		}
		out := value.Value{Type: t, Shape: p.Shape}
		each := len(p.Parts) / max(1, len(list))
		for i, e := range list {
			q := stage.Param{Decl: p.Decl, Type: p.Type, Shape: p.Shape[1:], Parts: p.Parts[i*each : (i+1)*each]}
			if t.Dims == 1 {
				q = p.Parts[i]
			}
			place := fmt.Sprintf("%s[%d]", name, i+1)
			v, err := Data{place: e}.param(place, t.Element(), q)
			if err != nil {
				return v, err
			}
			out.Elems = append(out.Elems, v)
		}
		return out, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || len(fields) != len(t.Elems) {
		return value.Value{}, fmt.Errorf("variable %s is a tuple of %d: write it as a JSON object {\"1\": ..., \"2\": ...} with a value for each element", name, len(t.Elems))
	}
	out := value.Value{Type: t}
	for i, e := range t.Elems {
		key, place := strconv.Itoa(i+1), fmt.Sprintf("%s.%d", name, i+1)
		v, err := Data{place: fields[key]}.param(place, e, p.Parts[i])
		if fields[key] == nil {
			err = fmt.Errorf("the tuple %s has no element %q: number its elements from 1 to %d", name, key, len(t.Elems))
		}
		if err != nil {
			return v, err
		}
		out.Elems = append(out.Elems, v)
	}
	return out, nil
}

// near says which variables the data have, and which of them is spelt almost like a name.
func (d Data) near(name string) string {
	names := slices.Sorted(maps.Keys(d))
	if len(names) == 0 {
		return ", which have no variables"
	}
	hint := ""
	if n := spelling.Meant(strings.ToLower(name), lowered(names)); n != "" && (len(name) > 2 || n == strings.ToLower(name)) {
		at := slices.Index(lowered(names), n)
		hint = fmt.Sprintf(" (did you mean %q to be %q?)", names[at], name)
	}
	if len(names) > 8 {
		return fmt.Sprintf(", which have %s and %d more%s", strings.Join(names[:8], ", "), len(names)-8, hint)
	}
	return fmt.Sprintf(", which have %s%s", strings.Join(names, ", "), hint)
}

// lowered writes names in small letters, with underscores for the points that R's names have.
func lowered(names []string) (low []string) {
	for _, n := range names {
		low = append(low, strings.ToLower(strings.ReplaceAll(n, ".", "_")))
	}
	return low
}

func baseName(t typing.Type) string {
	if t.Kind == typing.Int {
		return "int"
	}
	return "double"
}

func mismatch(name string, at int, want, found []int) error {
	return fmt.Errorf("mismatch in dimension declared and found in context; processing stage=data initialization; variable name=%s; position=%d; dims declared=%s; dims found=%s: give the variable the declared size", name, at, dims(want), dims(found))
}

func dims(s []int) string {
	var list []string
	for _, n := range s {
		list = append(list, strconv.Itoa(n))
	}
	return "(" + strings.Join(list, ",") + ")"
}

// read reads a number or nested arrays, and returns the shape.
func (r *reader) read(raw json.RawMessage) ([]int, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return r.next(dec, 0)
}

func (r *reader) next(dec *json.Decoder, depth int) ([]int, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", r.name, err)
	}
	switch t := t.(type) {
	case json.Number:
		return nil, r.number(t.String())
	case string:
		x, ok := words[t]
		if _, err := strconv.ParseFloat(t, 64); !ok && err == nil {
			return nil, fmt.Errorf("variable: %s, error: string values not allowed: write %s without quotation marks", r.name, t)
		}
		if !ok {
			return nil, fmt.Errorf("variable: %s, error: string values not allowed: %q is not a number. NaN, Inf and -Inf are written so; what is missing is left out, or declared as parameters", r.name, t)
		}
		if r.whole {
			return nil, r.notWhole()
		}
		r.out = append(r.out, x)
		return nil, nil
	case json.Delim:
		if t != '[' {
			return nil, fmt.Errorf("variable %s is a JSON object, and numbers or arrays of them are wanted", r.name)
		}
		if depth > 32 {
			return nil, fmt.Errorf("variable %s: arrays nest more than 32 deep: check the brackets", r.name)
		}
		var inner []int
		n := 0
		for ; dec.More(); n++ {
			s, err := r.next(dec, depth+1)
			if err != nil {
				return nil, err
			}
			if n > 0 && dims(s) != dims(inner) {
				return nil, fmt.Errorf("variable: %s, error: non-rectangular array: element 1 has size %s, and element %d size %s: give all rows the same length", r.name, dims(inner), n+1, dims(s))
			}
			inner = s
		}
		_, err := dec.Token()
		return append([]int{n}, inner...), err
	case bool:
		return nil, fmt.Errorf("variable: %s, error: boolean values not allowed: write 1 and 0", r.name)
	}
	return nil, fmt.Errorf("variable: %s, error: null values not allowed: write NaN, or leave the element out", r.name)
}

func (r *reader) notWhole() error {
	return fmt.Errorf("int variable contained non-int values; processing stage=data initialization; variable name=%s; base type=int: write whole numbers up to 2147483647, without a point", r.name)
}

func (r *reader) number(s string) error {
	if r.whole {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return r.notWhole()
		}
		r.out = append(r.out, float64(n))
		return nil
	}
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case math.IsInf(x, 0):
		return fmt.Errorf("variable %s has the number %s, and the largest is 1.8e308: correct it, or write \"Inf\" if it is infinite", r.name, s)
	case err != nil && !errors.Is(err, strconv.ErrRange): // what underflows is 0
		return fmt.Errorf("variable %s: %w", r.name, err)
	}
	r.out = append(r.out, x)
	return nil
}

// names lists the variables that the data block declares.
func (p *Program) names() (list []string) {
	b := p.tree.Blocks[syntax.Data]
	if b == nil {
		return nil
	}
	for _, s := range b.List {
		list = append(list, s.(*syntax.Declare).Name)
	}
	return list
}
