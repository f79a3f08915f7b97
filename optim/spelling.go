// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// unknown is the error for a name that is none of those known.
func unknown(what, name string, known []string) error {
	if meant := spelling.Meant(name, known); meant != "" {
		return fmt.Errorf("optim: there is no %s %q: did you mean %q?", what, name, meant)
	}
	return fmt.Errorf("optim: there is no %s %q: use one of %s", what, name, strings.Join(known, ", "))
}
