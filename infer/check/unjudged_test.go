// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/check"
)

// The zero verdict, as of a fit that was interrupted, does not say that the model agrees.
func TestUnjudged(t *testing.T) {
	var v check.Verdict
	for _, s := range []string{v.Summary(), v.String(), v.HTML()} {
		if !strings.Contains(s, "was not judged") || strings.Contains(s, "agrees") {
			t.Error(s)
		}
	}
}
