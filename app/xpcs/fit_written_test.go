// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// A fit whose document, picture or report cannot be written fails with 73.
func TestFitsThatCannotBeWritten(t *testing.T) {
	file := apptest.DemoFile(t)
	for _, ending := range []string{"fit.json", ".svg", "report.html"} {
		met := false
		restore := atomicfile.Inject(func(op, name string) error {
			if op == "write" && strings.HasSuffix(name, ending) {
				met = true
				return syscall.EIO
			}
			return nil
		})
		code, _, stderr := apptest.Do(t, "fit", "g2", file, "--bins", "2", "--out", filepath.Join(t.TempDir(), "run"))
		restore()
		if !met || code != exit.CannotWrite || !strings.Contains(stderr, syscall.EIO.Error()) {
			t.Errorf("%s, met %t: exit %d, %s", ending, met, code, stderr)
		}
	}
}
