package netcdf

import "fmt"

// FormatError reports a file that is not netCDF 4, or has parts that are not
// read.
type FormatError struct {
	File string
	Key  string // path inside
	What string
	Try  string
	Err  error
}

func (e *FormatError) Error() string {
	s := "netcdf: " + e.File
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

func bad(key, format string, args ...any) *FormatError {
	return &FormatError{Key: key, What: fmt.Sprintf(format, args...)}
}
