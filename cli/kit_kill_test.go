// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// dieAt makes the process kill itself at an operation, for killAt.
func dieAt(k int) {
	var n atomic.Int64
	atomicfile.Inject(func(string, string) error {
		if n.Add(1) == int64(k) {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {} // until it comes
		}
		return nil
	})
}

// killAt kills a process of its own at the k-th operation.
func killAt(t *testing.T, k int, args []string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1", "EURYALE_TEST_KILL="+strconv.Itoa(k))
	if b, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.Exited() {
		t.Logf("operation %d does not kill: %v %s", k, err, b) // fewer checkpoints than before
	}
	return false
}
