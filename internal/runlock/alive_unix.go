//go:build unix

package runlock

import (
	"errors"
	"os"
	"syscall"
)

// running asks whether the process takes signals.
func running(p *os.Process) bool {
	err := p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
