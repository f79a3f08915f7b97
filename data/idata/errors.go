package idata

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// FormatError reports a file that is no JSON of draws.
type FormatError struct {
	File   string
	Offset int // bytes from the start, -1 for the whole
	What   string
	Err    error
}

func (e *FormatError) Error() string {
	where := e.File
	if e.Offset >= 0 {
		where += fmt.Sprintf(" at byte %d", e.Offset)
	}
	return errtext.Join("idata", where, e.What, errtext.Cause(e.Err))
}

func (e *FormatError) Unwrap() error { return e.Err }
