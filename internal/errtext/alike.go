// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package errtext

import (
	"fmt"
	"regexp"
	"strings"
)

// numbers are the numbers in a text.
var numbers = regexp.MustCompile(`[0-9]+([.,:-][0-9]+)*(e[+-]?[0-9]+)?`)

// Alike collects texts about items, such as files. Those that differ only in their numbers are told once.
type Alike struct {
	keys  []string
	texts map[string]string   // the first by its key
	items map[string][]string // by key
	vary  map[string]bool     // by key, whether the numbers differ
}

// Kind is a text without its numbers.
func Kind(text string) string { return numbers.ReplaceAllString(text, "0") }

// Add adds a text about an item. It reports whether it is the first of its kind.
func (a *Alike) Add(item, text string) (first bool) {
	if a.texts == nil {
		a.texts, a.items, a.vary = map[string]string{}, map[string][]string{}, map[string]bool{}
	}
	key := Kind(text)
	if a.items[key] == nil {
		first = true
		a.keys, a.texts[key] = append(a.keys, key), text
	}
	a.vary[key] = a.vary[key] || a.texts[key] != text
	a.items[key] = append(a.items[key], item)
	return first
}

// Each calls f with each kind of text as its first item has it, which it says where the numbers differ, and the items.
func (a *Alike) Each(f func(text string, items []string)) {
	for _, k := range a.keys {
		text := a.texts[k]
		if a.vary[k] {
			text += " (so of " + a.items[k][0] + "; the numbers of the others differ)"
		}
		f(text, a.items[k])
	}
}

// Named names the first three of some things, and says how many more there are.
func Named(items []string) string { return Few(items, 3) }

// Few names up to most of some things, and says how many more there are.
func Few(items []string, most int) string {
	text := strings.Join(items[:min(most, len(items))], ", ")
	if more := len(items) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
