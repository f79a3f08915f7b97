package idata

import "fmt"

// FormatError reports a file that is no JSON of draws.
type FormatError struct {
	File   string
	Offset int // bytes from the start, -1 for the whole
	What   string
	Err    error
}

func (e *FormatError) Error() string {
	s := "idata: " + e.File
	if e.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	s += ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }
