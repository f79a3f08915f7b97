// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package typing

import (
	"fmt"
	"slices"
	"strings"
)

// Overload is a family of signatures: each argument is one of several types.
type Overload struct {
	Args [][]Type
	// Rest is the set of types of any number of further arguments; nil for none.
	Rest []Type
	// Result returns the type of the result from those of the arguments as they are wanted, or false if these do not go together.
	Result func(args []Type) (Type, bool)
}

// sets are the names of sets of types in the text of signatures.
var sets = map[string]string{
	"ints":     "int int[]",
	"reals":    "real vector row_vector real[]",
	"vectors":  "vector row_vector vector[] row_vector[]",
	"list":     "vector row_vector real[]",
	"dense":    "vector row_vector matrix",
	"cdense":   "complex_vector complex_row_vector complex_matrix",
	"allarray": "int[] real[] int[,] real[,] vector[] row_vector[] matrix[] int[,,] real[,,] vector[,] row_vector[,] matrix[,]",
}

// Parse reads a type such as real, vector[] or int[,].
func Parse(s string) Type {
	t := Type{}
	if strings.HasPrefix(s, "data:") {
		t.Data, s = true, s[5:]
	}
	if i := strings.IndexByte(s, '['); i >= 0 {
		t.Dims = len(s) - i - 1
		s = s[:i]
	}
	i := slices.Index(kindNames[:], s)
	if i < 0 {
		panic(fmt.Sprintf("typing: no type %q", s))
	}
	t.Kind = Kind(i)
	return t
}

// set returns the types that a word of a signature stands for.
func set(word string) (list []Type) {
	for _, alt := range strings.Split(word, "|") {
		if s, ok := sets[alt]; ok {
			for _, w := range strings.Fields(s) {
				list = append(list, Parse(w))
			}
			continue
		}
		list = append(list, Parse(alt))
	}
	return list
}

// Sig reads a family of signatures, such as "reals reals => real". The result is a type, or $n for that of the n-th argument, from 1, or
// $n~ for that with real numbers in place of integers. A last argument with three dots may be repeated, from once on.
func Sig(s string) Overload {
	left, right, ok := strings.Cut(s, "=>")
	if !ok {
		panic("typing: no => in " + s)
	}
	var o Overload
	for _, w := range strings.Fields(left) {
		if strings.HasSuffix(w, "...") {
			o.Rest = set(strings.TrimSuffix(w, "..."))
			o.Args = append(o.Args, o.Rest)
			continue
		}
		o.Args = append(o.Args, set(w))
	}
	right = strings.TrimSpace(right)
	if strings.HasPrefix(right, "$") {
		n := int(right[1] - '1')
		o.Result = func(args []Type) (Type, bool) {
			t := args[n]
			t.Data = false
			if strings.HasSuffix(right, "~") && t.Kind == Int {
				t.Kind = Real
			}
			return t, true
		}
		return o
	}
	r := Parse(right)
	o.Result = func([]Type) (Type, bool) { return r, true }
	return o
}

// Match returns the types to which arguments are promoted, that of the result, and how many promotions it takes.
func (o Overload) Match(args []Type) (want []Type, result Type, steps int, ok bool) {
	if len(args) < len(o.Args) || len(args) > len(o.Args) && o.Rest == nil {
		return nil, Type{}, 0, false
	}
	for i, a := range args {
		choices := o.Rest
		if i < len(o.Args) {
			choices = o.Args[i]
		}
		best, least := -1, 0
		for k, c := range choices {
			if n, ok := Promotions(c, a); ok && (best < 0 || n < least) {
				best, least = k, n
			}
		}
		if best < 0 {
			return nil, Type{}, 0, false
		}
		want, steps = append(want, choices[best]), steps+least
	}
	result, ok = o.Result(want)
	return want, result, steps, ok
}

// Examples lists up to most signatures of a family.
func (o Overload) Examples(most int) (list []Signature) {
	at := make([]int, len(o.Args))
	for len(list) < most {
		s := Signature{}
		for i, k := range at {
			s.Args = append(s.Args, o.Args[i][k])
		}
		if r, ok := o.Result(s.Args); ok {
			s.Result = r
			list = append(list, s)
		}
		i := 0
		for ; i < len(at); i++ {
			if at[i]++; at[i] < len(o.Args[i]) {
				break
			}
			at[i] = 0
		}
		if i == len(at) {
			break
		}
	}
	return list
}
