// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// generalField is work lists, and what the program says of itself.
func generalField() field {
	return field{commands: []command{
		{make: (*app).batch, takes: takesOut},
		{verb: "bench", make: (*app).benchGPU, takes: takesDevice},
		{make: (*app).info},
	}}
}
