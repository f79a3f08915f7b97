// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
)

// PixelLimit is the largest number of pixels of an image or a frame that a command reads, before which no memory is taken for one: the flag
// --max-pixels. The zero value, and nil, is the default of the formats.
type PixelLimit struct{ n int }

// AddPixelLimit returns the limit of a command, whose flag it adds where the command does not have it yet.
func AddPixelLimit(c *cobra.Command) *PixelLimit {
	const name = "max-pixels"
	if f := c.Flags().Lookup(name); f != nil {
		return f.Value.(*PixelLimit)
	}
	l := new(PixelLimit)
	c.Flags().Var(l, name, "largest number of pixels of a frame or an image, which guards against damaged files (default 67108864)")
	return l
}

// Pixels returns the limit, 0 for the default.
func (l *PixelLimit) Pixels() int {
	if l == nil {
		return 0
	}
	return l.n
}

// String returns the number, "" for the default.
func (l *PixelLimit) String() string {
	if l.n == 0 {
		return ""
	}
	return strconv.Itoa(l.n)
}

// Set reads the number.
func (l *PixelLimit) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1<<31 {
		return errors.New("want a whole number from 1 to 2147483648")
	}
	l.n = n
	return nil
}

// Type returns the word for the value in help texts.
func (l *PixelLimit) Type() string { return "int" }
