// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

// allFields are the fields of the program.
func allFields() []field {
	return []field{xpcsField(), spectraField(), rsoxsField(), assemblyField(), formulaField(), drawsField(), generalField()}
}
