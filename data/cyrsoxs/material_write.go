// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"fmt"
	"io"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// WriteMaterial writes a table of optical constants as NRSS does, and overwrites an existing file.
// Vacuum has no table of its own: write its Sample.
func WriteMaterial(name string, m *Material) error {
	if m.IsVacuum() {
		return &FormatError{Format: "cyrsoxs", File: name, What: "vacuum has no energies", Try: "write the result of Material.Sample at the energies of the run", Err: ErrIncomplete}
	}
	if err := m.mistakes().in(name); err != nil {
		return err
	}
	return atomicfile.Write(name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, m.String())
		return err
	})
}

// String returns the text of the file.
func (m *Material) String() string {
	var b strings.Builder
	for i, e := range m.Energies {
		fmt.Fprintf(&b, "%s%d:\n{\n", energyGroup, i)
		for _, col := range columns {
			fmt.Fprintf(&b, "%s = %s;\n", col.key, number(*col.place(&e, &m.Constants[i])))
		}
		b.WriteString("}\n")
	}
	return b.String()
}
