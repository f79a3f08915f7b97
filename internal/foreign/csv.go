// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"encoding/csv"
	"io"
)

// CSV returns a writer of a table in which texts may come from outside the program: they are written as Text shows them, since tables are
// shown on terminals too.
func CSV(w io.Writer) *csv.Writer { return csv.NewWriter(Writer(w)) }
