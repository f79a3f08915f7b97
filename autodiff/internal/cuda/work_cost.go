// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// cost is the number of instructions that C text makes, estimated from its operators and the functions that it calls. Branches count as taken, and
// loops once.
type cost struct{ plain, special float64 }

// functions are the instructions of those of CUDA's library of mathematics in float32 that cost more than one, without their rare ways; those of
// float64 take three times as many and no special units. They are rounded counts of images of ptxas 12.9.
var functions = map[string]cost{
	"exp": {8, 1}, "exp2": {4, 1}, "expm1": {20, 1}, "log": {16, 0}, "log2": {6, 1}, "log1p": {22, 0}, "log10": {18, 0}, "sqrt": {8, 1}, "rsqrt": {4, 1}, "sin": {25, 0}, "cos": {25, 0},
	"sincos": {40, 0}, "sincospi": {20, 0}, "tan": {45, 1}, "tanh": {15, 2}, "sinh": {25, 1}, "cosh": {20, 2}, "atan": {20, 1}, "atan2": {30, 1}, "asin": {20, 1}, "acos": {22, 1},
	"pow": {60, 2}, "cbrt": {20, 2}, "erf": {25, 1}, "erfc": {40, 1}, "lgamma": {100, 2}, "tgamma": {80, 3}, "hypot": {15, 1}, "fmod": {30, 1},
}

var (
	numbers = regexp.MustCompile(`\b(\d+\.?\d*(?:[eE][-+]?\d+)?|0x[0-9a-f]+)[a-zA-Z]*`)
	calls   = regexp.MustCompile(`\b(\w+)\(`)
	marks   = regexp.MustCompile(`//.*|\+\+|--|->|<<|>>|[<>=!]=|&&|\|\||[-+*/%<>?]`)
)

// costOf estimates the cost of an expression with the functions of C that it calls.
func costOf(expression, helper string) (c cost) {
	text := expression + helper
	for _, m := range calls.FindAllStringSubmatch(text, -1) {
		f := functions[strings.TrimSuffix(m[1], "f")]
		c.plain += f.plain
		c.special += f.special
	}
	for _, m := range marks.FindAllString(numbers.ReplaceAllString(text, "0"), -1) {
		switch {
		case m == "/":
			c.plain, c.special = c.plain+8, c.special+1
		case !strings.HasPrefix(m, "//"):
			c.plain++
		}
	}
	return cost{max(1, c.plain), c.special}
}

// work returns the instructions in float32 or in float64.
func (c cost) work(double bool) roofline.Work {
	if double {
		return roofline.Work{Float64: 3*c.plain + 10*c.special}
	}
	return roofline.Work{Float32: c.plain, Special: c.special}
}

// division is the number of instructions of a quotient and a remainder of 32-bit numbers by a constant.
func division(by int) float64 {
	switch {
	case by <= 1:
		return 0
	case bits.OnesCount(uint(by)) == 1:
		return 3
	}
	return dividing
}

// byConstant matches a division or a remainder by a number.
var byConstant = regexp.MustCompile(`[/%] \(?(?:\(\w+\))?(\d+)`)

// constant matches the name and the value of a constant of a text, of which several may be declared together.
var constant = regexp.MustCompile(`\b([A-Za-z]\w*) = (-?\d+)\b`)

// integers estimates the integer instructions of the text of a step: divisions, most of them of 64-bit numbers, and what else has an
// operator.
func integers(text string, long bool) (n float64) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "const int ") {
			continue
		}
		for _, m := range constant.FindAllStringSubmatch(line, -1) {
			text = regexp.MustCompile(`([/%] )`+m[1]+`\b`).ReplaceAllString(text, "${1}"+m[2])
		}
	}
	for _, m := range marks.FindAllString(text, -1) {
		if m != "/" && m != "%" && !strings.HasPrefix(m, "//") {
			n++
		}
	}
	each := float64(dividing)
	if long {
		each = longDivision
	}
	known := byConstant.FindAllStringSubmatch(text, -1)
	for _, m := range known {
		by, err := strconv.ParseUint(m[1], 10, 64)
		switch {
		case err == nil && by <= 1:
		case err == nil && bits.OnesCount64(by) == 1:
			n += 3
		default:
			n += each
		}
	}
	others := strings.Count(text, "/ ") + strings.Count(text, "% ") - len(known)
	return n + each*float64(max(0, others))
}
