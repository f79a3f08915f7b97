// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// formulaField is models that a file describes by formulas.
func formulaField() field {
	return field{commands: []command{
		{verb: "fit", make: (*app).fitNLSQ, takes: takesDevice},
		{verb: "sample", make: (*app).sampleExpr, takes: takesOut | takesResume | takesDevice},
	}}
}
