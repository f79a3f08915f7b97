// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// A run whose model disagrees with its data passes no strict check because its document is damaged or missing.
func TestDamagedDocumentsDoNotPass(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	problem := filepath.Join(t.TempDir(), "p.json")
	text := `{"expr": "a*x", "data": {"x": [1, 2, 3, 4, 5, 6], "y": [1, 4, 9, 16, 25, 36], "s": [0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}, "sigma": "s", "priors": {"a": "normal(0,10)"}}`
	if err := os.WriteFile(problem, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := apptest.Do(t, "sample", "expr", "--problem", problem, "--out", dir, "--no-report", "--warmup", "200", "--draws", "200", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	strict := func() (int, string) {
		code, out, stderr := apptest.Do(t, "diagnose", dir, "--strict")
		return code, out + stderr
	}
	if code, out := strict(); code != exit.Failed || !strings.Contains(out, "model check") {
		t.Fatalf("exit %d: %s", code, out)
	}
	name := filepath.Join(dir, "summary.json")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damaged := map[string][]byte{"cut": whole[:len(whole)/2], "object": []byte("{}\n"), "null": []byte("null"), "empty": {}, "turned": bytes.Replace(whole, []byte(`"ok": false`), []byte(`"ok": true`), 1)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := bytes.Clone(whole)
		b[r.IntN(len(b))] ^= byte(1 << r.IntN(8))
		damaged[string(b)] = b
	}
	for what, b := range damaged {
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
		// A changed byte of the name of the checksum leaves the document as it was.
		if code, out := strict(); code != exit.Data && !(code == exit.Failed && len(what) > 10) || code == exit.Data && !strings.Contains(out, "--resume") {
			t.Errorf("%.20s: exit %d: %s", what, code, out)
		}
	}
	os.Remove(name)
	if code, out := strict(); code != exit.Failed || !strings.Contains(out, "is not known") {
		t.Errorf("removed: exit %d: %s", code, out)
	}
	if code, out, _ := apptest.Do(t, "diagnose", dir); code != exit.OK || !strings.Contains(out, "is not known") || !strings.Contains(out, "--resume") {
		t.Errorf("removed: exit %d: %s", code, out)
	}
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Skip(err)
	}
	if code, out := strict(); code != exit.Data {
		t.Errorf("pipe: exit %d: %s", code, out)
	}
}
