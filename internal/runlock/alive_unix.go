//go:build unix

package runlock

import (
	"errors"
	"os"
	"syscall"
)

// running reports whether the process accepts signals.
func running(p *os.Process) bool {
	err := p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, os.ErrPermission)
}
