// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strings"
	"testing"
)

// Bounds in the wrong order are an error that names the parameter.
func TestBoundsInTheWrongOrder(t *testing.T) {
	_, err := Parse([]byte(`{"expr": "a*x", "data": {"x": [1, 2], "y": [1, 2]}, "start": {"a": 1}, "bounds": {"a": [5, 1]}}`))
	if err == nil || !strings.Contains(err.Error(), "bounds of a: in [5, 1]") {
		t.Error(err)
	}
}
