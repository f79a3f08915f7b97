// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

func TestTopKeys(t *testing.T) {
	keys := apptest.TopKeys(`{"engine":"g2","file":F,"bins":[{"bin","x":{name:value}}],"status":"a|b"}`)
	if len(keys) != 4 || !keys["engine"] || !keys["file"] || !keys["bins"] || !keys["status"] {
		t.Errorf("%v", keys)
	}
	blocks, err := apptest.Documented()
	if err != nil || len(blocks) < 30 || len(blocks["fit g2"]) != 2 {
		t.Errorf("%d commands have documents, fit g2 has %d: %v", len(blocks), len(blocks["fit g2"]), err)
	}
	if got := apptest.Undocumented([]string{"fit", "g2", "--json"}, `{"engine": "g2", "model": "single", "device": "cpu", "nothing": 1}`); !slices.Equal(got, []string{"nothing"}) {
		t.Errorf("%v", got)
	}
}
