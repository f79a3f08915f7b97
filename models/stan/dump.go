// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// dump reads assignments of R, as its function dump and rstan's stan_rdump write them: numbers, c(...), a:b, and structure(..., .Dim = c(...))
// whose numbers run down the columns.
type dump struct {
	text string
	at   int
	line int
}

// array is a vector or an array of R. Its shape is nil for a number.
type array struct {
	numbers []string // as JSON has them
	shape   []int
}

// mostSequence bounds how many numbers a:b may stand for.
const mostSequence = 1 << 24

// isDump says whether data look like assignments of R.
func isDump(b []byte) bool {
	d := &dump{text: string(b[:min(len(b), 4096)]), line: 1}
	d.blank()
	if _, ok := d.name(); !ok {
		return false
	}
	d.blank()
	return d.assigns()
}

// readDump reads all assignments.
func readDump(b []byte) (Data, error) {
	d, out := &dump{text: string(b), line: 1}, Data{}
	for {
		if d.blank(); d.at == len(d.text) {
			return out, nil
		}
		if d.take(";") {
			continue
		}
		name, ok := d.name()
		if !ok {
			return nil, d.expected("the name of a variable")
		}
		if d.blank(); !d.assigns() {
			return nil, d.expected("<- after " + foreign.Text(name))
		}
		v, err := d.value()
		if err != nil {
			return nil, err
		}
		out[strings.ReplaceAll(name, ".", "_")] = v.json()
	}
}

func (d *dump) expected(want string) error {
	found := "the end of the file"
	if rest := d.text[d.at:]; rest != "" {
		rest, _, _ = strings.Cut(rest, "\n")
		found = strconv.Quote(foreign.Text(rest[:min(len(rest), 30)]))
	}
	return fmt.Errorf("stan: the data are no R dump: line %d: found %s where %s is wanted: write N <- 8, y <- c(1.5, 2) or m <- structure(c(1, 2, 3, 4), .Dim = c(2, 2)), or JSON", d.line, found, want)
}

// blank skips white space and comments.
func (d *dump) blank() {
	for d.at < len(d.text) {
		switch c := d.text[d.at]; {
		case c == '\n':
			d.line++
		case c == '#':
			for d.at+1 < len(d.text) && d.text[d.at+1] != '\n' {
				d.at++
			}
		case !unicode.IsSpace(rune(c)):
			return
		}
		d.at++
	}
}

// take skips a mark after white space.
func (d *dump) take(mark string) bool {
	d.blank()
	if !strings.HasPrefix(d.text[d.at:], mark) {
		return false
	}
	d.at += len(mark)
	return true
}

func (d *dump) assigns() bool { return d.take("<-") || d.take("=") }

// name reads a name, in quotation marks or not.
func (d *dump) name() (string, bool) {
	rest := d.text[d.at:]
	if rest != "" && strings.ContainsRune("\"'`", rune(rest[0])) {
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 1 {
			return "", false
		}
		d.at += end + 2
		return rest[1 : 1+end], true
	}
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !unicode.IsLetter(r) && r != '.' && (n == 0 || r != '_' && !unicode.IsDigit(r)) {
			break
		}
		n += size
	}
	d.at += n
	return rest[:n], n > 0
}

// value reads the value of an assignment.
func (d *dump) value() (array, error) {
	d.blank()
	from := d.at
	word, named := d.name()
	if !named || !d.take("(") {
		d.at = from
		v := array{}
		several, err := d.element(&v)
		if several {
			v.shape = []int{len(v.numbers)}
		}
		return v, err
	}
	switch word {
	case "c":
		return d.vector()
	case "structure":
		return d.structure()
	case "integer", "double", "numeric":
		size := array{}
		if _, err := d.element(&size); err != nil {
			return size, err
		}
		n, err := strconv.Atoi(size.numbers[0])
		if err != nil || n < 0 || n > mostSequence || !d.take(")") {
			return size, d.expected("a length and )")
		}
		v := array{shape: []int{n}}
		for range n {
			v.numbers = append(v.numbers, "0")
		}
		return v, nil
	}
	d.at = from
	return array{}, d.expected("a number, c(...), structure(...) or integer(0)")
}

// vector reads the elements of c(...).
func (d *dump) vector() (v array, err error) {
	for !d.take(")") {
		if len(v.numbers) > 0 && !d.take(",") {
			return v, d.expected(", or )")
		}
		if _, err = d.element(&v); err != nil {
			return v, err
		}
	}
	v.shape = []int{len(v.numbers)}
	return v, nil
}

// structure reads the rest of structure(values, .Dim = sizes), and passes over other attributes.
func (d *dump) structure() (array, error) {
	v, err := d.value()
	if err != nil {
		return v, err
	}
	for d.take(",") {
		d.blank()
		name, ok := d.name()
		if !ok || !d.take("=") {
			return v, d.expected("an attribute such as .Dim = c(2, 3)")
		}
		if name != "Dim" && name != ".Dim" && name != "dim" {
			return v, d.expected(".Dim = c(2, 3), and no other attribute")
		}
		sizes, err := d.value()
		if err != nil {
			return v, err
		}
		n := 1
		v.shape = nil
		for _, s := range sizes.numbers {
			k, err := strconv.Atoi(s)
			if err != nil || k < 0 {
				return v, d.expected("sizes that are whole numbers")
			}
			v.shape, n = append(v.shape, k), n*k
		}
		if n != len(v.numbers) {
			return v, fmt.Errorf("stan: the data are no R dump: line %d: structure has %d numbers, and .Dim = %v wants %d: give as many", d.line, len(v.numbers), v.shape, n)
		}
	}
	if !d.take(")") {
		return v, d.expected(")")
	}
	return v, nil
}

// element reads a number, or the numbers from a to b, and says whether it was the latter.
func (d *dump) element(v *array) (several bool, err error) {
	first, err := d.number()
	if err != nil {
		return false, err
	}
	if !d.take(":") {
		v.numbers = append(v.numbers, first)
		return false, nil
	}
	last, err := d.number()
	if err != nil {
		return true, err
	}
	a, e1 := strconv.Atoi(first)
	b, e2 := strconv.Atoi(last)
	if e1 != nil || e2 != nil || max(a, b)-min(a, b) > mostSequence {
		return true, d.expected("whole numbers on both sides of :")
	}
	step := 1
	if b < a {
		step = -1
	}
	for k := a; k != b+step; k += step {
		v.numbers = append(v.numbers, strconv.Itoa(k))
	}
	return true, nil
}

// ofR are the words that R writes for numbers.
var ofR = map[string]string{"NaN": `"NaN"`, "NA": `"NaN"`, "NA_real_": `"NaN"`, "NA_integer_": `"NaN"`, "Inf": `"Inf"`, "-Inf": `"-Inf"`, "TRUE": "1", "FALSE": "0"}

// number reads a number as JSON has it.
func (d *dump) number() (string, error) {
	d.blank()
	rest := d.text[d.at:]
	n := strings.IndexFunc(rest, func(r rune) bool {
		return r == ',' || r == ')' || r == ':' || r == ';' || r == '#' || unicode.IsSpace(r)
	})
	if n < 0 {
		n = len(rest)
	}
	word := strings.TrimPrefix(rest[:n], "+")
	out, ok := ofR[word]
	if x, err := strconv.ParseFloat(strings.TrimSuffix(word, "L"), 64); !ok && err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
		out, ok = strconv.FormatFloat(x, 'g', -1, 64), true
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			out = strconv.FormatFloat(x, 'f', 0, 64)
		}
	}
	if !ok {
		return "", d.expected("a number")
	}
	d.at += n
	return out, nil
}

// json writes the array as nested rows.
func (v array) json() json.RawMessage {
	if v.shape == nil {
		return json.RawMessage(v.numbers[0])
	}
	var b strings.Builder
	v.nest(&b, 0, 0, 1)
	return json.RawMessage(b.String())
}

// nest writes the elements whose first indices are given by their offset in R's order, in which the first index runs fastest.
func (v array) nest(b *strings.Builder, axis, offset, stride int) {
	if axis == len(v.shape) {
		b.WriteString(v.numbers[offset])
		return
	}
	b.WriteByte('[')
	for i := range v.shape[axis] {
		if i > 0 {
			b.WriteByte(',')
		}
		v.nest(b, axis+1, offset+i*stride, stride*v.shape[axis])
	}
	b.WriteByte(']')
}
