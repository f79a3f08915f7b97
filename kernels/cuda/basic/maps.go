// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The expressions of maps in CUDA C. A function in capitals stands for that of the precision, such as
// EXP for expf and exp.
var (
	single = []formula{
		{"neg", "-x"}, {"inv", "1 / x"}, {"square", "x * x"}, {"cube", "x * x * x"}, {"abs", "FABS(x)"},
		{"sign", "x > 0 ? 1 : x < 0 ? -1 : x"}, {"relu", "x > 0 || x != x ? x : 0"},
		{"exp", "EXP(x)"}, {"tanh", "TANH(x)"}, {"log", "LOG(x)"}, {"log2", "LOG2(x)"}, {"log10", "LOG10(x)"},
		{"sqrt", "SQRT(x)"}, {"cbrt", "CBRT(x)"}, {"invsqrt", "1 / SQRT(x)"},
		{"sigmoid", "1 / (1 + EXP(-x))"},
	}
	paired = []formula{
		{"add", "x + y"}, {"sub", "x - y"}, {"mul", "x * y"}, {"div", "x / y"}, {"pow", "POW(x, y)"}, {"mod", "FMOD(x, y)"},
		{"minbetween", "x != x || x < y ? x : y"}, {"maxbetween", "x != x || x > y ? x : y"},
	}
	comparisons = []formula{{"lt", "x < y"}, {"lte", "x <= y"}, {"gt", "x > y"}, {"gte", "x >= y"}, {"eq", "x == y"}, {"ne", "x != y"}}
)

type formula struct{ name, text string }

// in returns the expression in a precision.
func (f formula) in(t cuda.Type) string {
	text := f.text
	for _, name := range []string{"FABS", "EXP", "TANH", "LOG2", "LOG10", "LOG", "SQRT", "CBRT", "POW", "FMOD"} {
		to := strings.ToLower(name)
		if t == cuda.Float32 {
			to += "f"
		}
		text = strings.ReplaceAll(text, name+"(", to+"(")
	}
	return text
}

// suffixes name the precisions in kernels.
var suffixes = map[cuda.Type]string{cuda.Float32: "f32", cuda.Float64: "f64"}

// list returns all maps of a precision. Those of two operands are there for two arrays (add), an array
// and a number (add_ts) and a number and an array (add_st); comparisons give numbers 0 and 1, and with
// _bool bytes.
func list(t cuda.Type) []cuda.Map {
	var all []cuda.Map
	add := func(name, expression string, bytes bool, inputs string, scalars string) {
		all = append(all, cuda.Map{Name: name + "_" + suffixes[t], Type: t, Inputs: strings.Fields(inputs), Scalars: strings.Fields(scalars), Bool: bytes, Expression: expression})
	}
	for _, f := range single {
		add(f.name, f.in(t), false, "x", "")
	}
	add("clamp", "x < lo ? lo : x > hi ? hi : x", false, "x", "lo hi")
	for _, f := range paired {
		add(f.name, f.in(t), false, "x y", "")
		add(f.name+"_ts", f.in(t), false, "x", "y")
		add(f.name+"_st", f.in(t), false, "y", "x")
	}
	for _, f := range comparisons {
		for _, bytes := range []bool{false, true} {
			name := f.name
			if bytes {
				name += "_bool"
			}
			add(name, f.in(t), bytes, "x y", "")
			add(name+"_ts", f.in(t), bytes, "x", "y")
			add(name+"_st", f.in(t), bytes, "y", "x")
		}
	}
	return all
}

// find returns a map by its name, without the precision.
func find(name string, t cuda.Type) (cuda.Map, error) {
	for _, m := range list(t) {
		if m.Name == name+"_"+suffixes[t] {
			return m, nil
		}
	}
	return cuda.Map{}, fmt.Errorf("basic: there is no map %s: see Kernels.Map for their names", name)
}
