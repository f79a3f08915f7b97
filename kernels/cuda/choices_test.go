// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
)

// What the table of cards has are values of choices that there are, and each choice says what it is about.
func TestChoices(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Choices() {
		if names[c.Name] || c.About == "" || len(c.Rows) == 0 || len(c.Values) < 2 || c.Values[0] != c.Default || len(slices.Compact(slices.Sorted(slices.Values(c.Values)))) != len(c.Values) {
			t.Errorf("%+v", c)
		}
		names[c.Name] = true
	}
	cards := map[string]bool{}
	for _, l := range learned {
		if err := checkChoices(l.Values); err != nil || l.Card == "" || cards[l.Card] {
			t.Errorf("%+v: %v", l, err)
		}
		cards[l.Card] = true
	}
}

// A value that is set goes before what is known of the card, which goes before the default, and others are refused.
func TestChoose(t *testing.T) {
	pretend.Shared(t)
	d, err := newSystem().device(0, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := learned
	defer func() { learned = before }()
	learned = []Learned{{Card: "another", Values: map[string]int{"sum_blocks": 264}}, {Card: d.Info().Name, Values: map[string]int{"sum_blocks": 528}}}
	if v, none := d.Choice("sum_blocks"), (*Device)(nil).Choice("sum_blocks"); v != 528 || none != 512 {
		t.Errorf("learned %d, without a device %d", v, none)
	}
	if err := d.Choose(map[string]int{"sum_blocks": 1056}); err != nil || d.Choice("sum_blocks") != 1056 || d.Choice("elements") != 4 {
		t.Error(err, d.Choice("sum_blocks"))
	}
	for _, wrong := range []map[string]int{{"sum_block": 264}, {"sum_blocks": 0}, {"elements": -1}} {
		if err := d.Choose(wrong); !errors.Is(err, ErrArgument) || d.Choice("sum_blocks") != 1056 {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	if err := d.Choose(nil); err != nil || d.Choice("sum_blocks") != 528 {
		t.Error(err)
	}
}
