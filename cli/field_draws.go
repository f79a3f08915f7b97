// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// drawsField is the work with draws, whatever made them.
func drawsField() field {
	return field{commands: []command{
		{"", (*app).summary, 0},
		{"", (*app).diagnose, 0},
		{"", (*app).loo, 0},
		{"", (*app).compare, 0},
		{"", (*app).sbc, takesDevice},
		{"", (*app).convert, 0},
		{"", (*app).plot, 0},
	}}
}
