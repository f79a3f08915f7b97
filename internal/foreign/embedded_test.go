// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// OneEmbedded is a struct whose name no document has.
type OneEmbedded struct {
	Exposure float64 `json:"exposure"`
}

// Fields of embedded structs are named as documents name them.
func TestEmbeddedFieldsInWords(t *testing.T) {
	var doc struct {
		OneEmbedded
	}
	b := []byte(`{"exposure": [1, 2]}`)
	err := foreign.InWords(b, json.Unmarshal(b, &doc))
	if err == nil || !strings.Contains(err.Error(), "field exposure is a list: want a number") {
		t.Error(err)
	}
}
