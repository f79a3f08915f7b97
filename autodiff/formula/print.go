// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import "fmt"

// Language says how the parts of a formula are written in another language, which has + - * / ^ and parentheses as formulas have them.
type Language struct {
	Number   func(x float64) string
	Name     func(name, index string) string // index is "" for none
	Function func(name string) string        // "" if the language lacks it
}

// Print writes the formula in another language.
func (f *Formula) Print(l Language) (string, error) { return l.print(f.root, 0) }

// binding says how tightly operators bind.
var binding = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "^": 4}

// print writes a term, in parentheses if what surrounds it binds more tightly than its operator.
func (l Language) print(t *term, around int) (string, error) {
	switch t.op {
	case "number":
		return l.Number(t.num), nil
	case "name":
		return l.Name(t.name, t.index), nil
	}
	own, operator := binding[t.op]
	if !operator {
		return l.call(t)
	}
	sides := []int{own, own + 1} // from the left
	switch t.op {
	case "^":
		sides = []int{own + 1, own}
	case "neg":
		sides = []int{own}
	}
	in := make([]string, len(t.in))
	for i, x := range t.in {
		var err error
		if in[i], err = l.print(x, sides[i]); err != nil {
			return "", err
		}
	}
	text := "-" + in[0]
	if len(in) == 2 {
		text = in[0] + " " + t.op + " " + in[1]
	}
	if own < around {
		text = "(" + text + ")"
	}
	return text, nil
}

func (l Language) call(t *term) (string, error) {
	name := l.Function(t.op)
	if name == "" {
		return "", fmt.Errorf("formula: the function %s cannot be written in the other language: write it with functions that it has", t.op)
	}
	for i, x := range t.in {
		arg, err := l.print(x, 0)
		if err != nil {
			return "", err
		}
		if i == 0 {
			name += "(" + arg
			continue
		}
		name += ", " + arg
	}
	return name + ")", nil
}
