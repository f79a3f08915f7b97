// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"

	"github.com/spf13/cobra"
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
