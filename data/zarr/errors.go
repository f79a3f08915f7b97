package zarr

import "fmt"

// FormatError reports a store that is damaged or of a kind not read.
type FormatError struct {
	Store string
	Key   string // array or file inside
	What  string
	Try   string
	Err   error
}

func (e *FormatError) Error() string {
	s := "zarr: " + e.Store
	if e.Key != "" {
		s += " " + e.Key
	}
	s += ": " + e.What
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Try != "" {
		s += ": " + e.Try
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }

func bad(format string, args ...any) *FormatError {
	return &FormatError{What: fmt.Sprintf(format, args...)}
}
