// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Whole describes what is wrong with the value of an integer flag; it returns nil if the
// value is in range.
func Whole(flag string, v, low, high int) []string {
	switch {
	case low == high && v != low:
		return []string{fmt.Sprintf("--%s %d: the only value is %d here", flag, v, low)}
	case v < low || v > high:
		return []string{fmt.Sprintf("--%s %d: want %d to %d", flag, v, low, high)}
	}
	return nil
}

// CompleteFlag offers values of a flag for shell completion.
func CompleteFlag(c *cobra.Command, flag string, values []string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// Slider gives a flag that takes a number the range in which the page of view lets people slide it. The command takes other numbers, too.
func Slider(c *cobra.Command, flag string, low, high float64) {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	if err := c.Flags().SetAnnotation(flag, sliderKey, []string{text(low), text(high)}); err != nil {
		panic(err)
	}
}

const sliderKey = "slider"

// SliderOf returns the range of a flag, or nil.
func SliderOf(f *pflag.Flag) []string { return f.Annotations[sliderKey] }
