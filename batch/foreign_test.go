// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A manifest of somebody else that says something twice is refused, with the key and its place.
func TestManifestsWithKeysTwice(t *testing.T) {
	for header, want := range map[string]string{
		`{"format":"euryale batch 1","command":"sweep","command":"fit g2","seed":0,"retries":0,"block":1}`:                             `the key "command" appears twice in the document`,
		`{"format":"euryale batch 1","command":"sweep","settings":{"program":"a","program":"b"},"seed":0,"retries":0,"block":1}`:       `the key "program" appears twice in "settings"`,
		`{"format":"euryale batch 1","command":"sweep","settings":{"program":"a"},"seed":0,"retries":0,"block":1}`:                     "",
		`{"format":"euryale batch 1","command":"sweep","settings":{"program":"a"},"seed":0,"retries":0,"block":1} {"command":"other"}`: "more text after the end",
	} {
		body := header + "\n\"x\" 0 3\n3 items\n"
		name := filepath.Join(t.TempDir(), "manifest.txt")
		if err := os.WriteFile(name, fmt.Appendf(nil, "%ssha256 %x\n", body, sha256.Sum256([]byte(body))), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(name)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), name)) {
			t.Errorf("%s: %v, want %q", header, err, want)
		}
	}
}
