// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Mode is the way in which an array continues beyond its ends. The continuation repeats as far as a
// filter reaches.
type Mode string

// The modes. Each comment shows how the elements a b c d continue.
const (
	Reflect  Mode = "reflect"  // d c b a | a b c d | d c b a
	Mirror   Mode = "mirror"   // d c b | a b c d | c b a
	Nearest  Mode = "nearest"  // a a a | a b c d | d d d
	Constant Mode = "constant" // k k k | a b c d | k k k
	Wrap     Mode = "wrap"     // b c d | a b c d | a b c
)

// aliases are further names that SciPy accepts in filters.
var aliases = map[Mode]Mode{"grid-mirror": Reflect, "grid-constant": Constant, "grid-wrap": Wrap}

var modes = []Mode{Reflect, Mirror, Nearest, Constant, Wrap}

// resolve returns the mode meant, or an error that suggests one.
func (m Mode) resolve(fallback Mode) (Mode, error) {
	if m == "" {
		return fallback, nil
	}
	if a, ok := aliases[m]; ok {
		return a, nil
	}
	if !slices.Contains(modes, m) {
		hint := ""
		if meant := spelling.Meant(string(m), names()); meant != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", meant)
		}
		return m, fmt.Errorf("there is no mode %q%s: use one of %q", string(m), hint, names())
	}
	return m, nil
}

func names() (out []string) {
	for _, m := range modes {
		out = append(out, string(m))
	}
	return out
}

// index returns the element 0..n-1 that stands at position i of the continued axis; -1 for the constant.
func (m Mode) index(i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch m {
	case Reflect:
		i = modulo(i, 2*n)
		return min(i, 2*n-1-i)
	case Mirror:
		if n == 1 {
			return 0
		}
		i = modulo(i, 2*n-2)
		return min(i, 2*n-2-i)
	case Nearest:
		return min(max(i, 0), n-1)
	case Wrap:
		return modulo(i, n)
	}
	return -1
}

func modulo(i, n int) int { return ((i % n) + n) % n }

// fail returns a Node with a mistake.
func fail(format string, a ...any) *ad.Node { return ad.Fail(fmt.Errorf("ndimage: "+format, a...)) }

// perAxis returns one number for each axis: v itself, or its only element for all of them.
func perAxis(v []float64, axes int) ([]float64, bool) {
	if len(v) == 1 {
		return slices.Repeat(v, axes), true
	}
	return v, len(v) == axes
}
