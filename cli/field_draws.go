// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// drawsField is the work with draws, whatever made them.
func drawsField() field {
	return field{commands: []command{
		{make: (*app).summary},
		{make: (*app).diagnose},
		{make: (*app).loo},
		{make: (*app).compare},
		{make: (*app).sbc, takes: takesDevice},
		{make: (*app).convert},
		{make: (*app).plot},
	}}
}
