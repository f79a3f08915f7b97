// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// formulaField is models that a file describes by formulas.
func formulaField() field {
	return field{commands: []command{
		{"fit", (*app).fitNLSQ, takesDevice},
		{"sample", (*app).sampleExpr, takesOut | takesResume | takesDevice},
	}}
}
