// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package exportdata_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/exportdata"
)

func TestLoad(t *testing.T) {
	p, err := exportdata.Load(".", nil, "strings")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Matched) != 1 || p.Matched[0].Name != "strings" {
		t.Errorf("%+v", p.Matched)
	}
	for _, path := range []string{"strings", "io"} { // what was asked for, and what it imports
		if got, err := p.Import(path); err != nil || got.Path() != path || got.Scope().Len() == 0 {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	if _, err := p.Import("net/http"); err == nil || !strings.Contains(err.Error(), "net/http") {
		t.Error(err)
	}
	if _, err := exportdata.Load(".", nil, "no/such/package"); err == nil || !strings.Contains(err.Error(), "no/such/package") {
		t.Error(err)
	}
	if _, err := exportdata.Load(".", []string{"GOFLAGS=-nonsense"}, "strings"); err == nil {
		t.Error("the environment was not used")
	}
}
