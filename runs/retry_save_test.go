// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"context"
	"io/fs"
	"syscall"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/runs"
)

// A limit on the size of files does not go away by waiting, so that nothing is tried again.
func TestNoPatienceWithALimitOnFiles(t *testing.T) {
	tries := 0
	save := func() error {
		tries++
		return &fs.PathError{Op: "write", Path: "draws", Err: syscall.EFBIG}
	}
	if err := runs.Patiently(context.Background(), time.Hour, save, func(error) {}); err == nil || tries != 1 {
		t.Errorf("%v after %d tries", err, tries)
	}
}
