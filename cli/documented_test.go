// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"
	"testing"
)

func TestTopKeys(t *testing.T) {
	keys := topKeys(`{"engine":"g2","file":F,"bins":[{"bin","x":{name:value}}],"status":"a|b"}`)
	if len(keys) != 4 || !keys["engine"] || !keys["file"] || !keys["bins"] || !keys["status"] {
		t.Errorf("%v", keys)
	}
	blocks, err := documented()
	if err != nil || len(blocks) < 30 || len(blocks["fit g2"]) != 2 {
		t.Errorf("%d commands have documents, fit g2 has %d: %v", len(blocks), len(blocks["fit g2"]), err)
	}
	if got := undocumented([]string{"fit", "g2", "--json"}, `{"engine": "g2", "model": "single", "device": "cpu", "nothing": 1}`); !slices.Equal(got, []string{"nothing"}) {
		t.Errorf("%v", got)
	}
}
