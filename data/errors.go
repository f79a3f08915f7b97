// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package data holds the errors that the readers and writers of all file formats return. The formats are in packages of their own below it.
//
//	if bad := (*data.FormatError)(nil); errors.As(err, &bad) {
//		fmt.Println(bad.File, bad.Place, bad.Try)
//	}
package data

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// FormatError says what is wrong with a file, and where.
type FormatError struct {
	Format string // name of the package that reads the format, such as hdf5
	File   string // name of the file or store; "" for values that come from no file
	Place  string // path of an object in the file, or name of a column, key, extension or record
	Line   int    // line of a text, from 1; 0 for none
	Column int    // column of the line, from 1; 0 for none
	Offset int64  // position in the decompressed file or record in bytes; 0 or less for none
	What   string // description of the mistake, with the numbers
	Try    string // remedy to try
	Err    error  // underlying error, or one of those below; may be nil
}

// Error returns format, file, place, what is wrong, the cause and what to try.
func (e *FormatError) Error() string {
	at, place := "", e.Place
	switch {
	case e.Line > 0:
		at = fmt.Sprintf("line %d", e.Line)
		if e.Column > 0 {
			at += fmt.Sprintf(", column %d", e.Column)
		}
		if place != "" {
			at, place = at+" ("+place+")", ""
		}
	case e.Offset > 0:
		at = fmt.Sprintf("at byte %d", e.Offset)
	}
	cause := ""
	if _, said := e.Err.(kind); !said {
		cause = errtext.Cause(e.Err)
	}
	return errtext.Join(e.Format, e.File, place, at, e.What, cause, e.Try)
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// MissingError says that a file has no such part.
type MissingError struct {
	Format string   // name of the package that reads the format
	File   string   // name of the file; "" for values that come from no file
	Place  string   // part of the file that was searched; "" for the whole file
	Kind   string   // kind of part, such as column; may be ""
	Name   string   // name that was asked for
	Near   []string // existing names, the most similar first
}

// Error names the file, the missing name and up to four similar ones.
func (e *MissingError) Error() string {
	what := "there is no " + e.Name
	if e.Kind != "" {
		what = "there is no " + e.Kind + " " + e.Name
	}
	near := "nothing has a similar name"
	if len(e.Near) > 0 {
		near = "nearest are " + strings.Join(e.Near[:min(len(e.Near), 4)], ", ")
	}
	return errtext.Join(e.Format, e.File, e.Place, what, near)
}

// Unwrap returns ErrNotFound, so that errors.Is matches it.
func (e *MissingError) Unwrap() error { return ErrNotFound }

// kind is the error of a kind of mistake. Texts of errors say it in words of their own.
type kind string

func (k kind) Error() string { return string(k) }

// The kinds of mistakes that errors.Is tells apart.
const (
	ErrNotFound    = kind("not found")      // a part that the file does not have
	ErrUnsupported = kind("not supported")  // a valid part that is not read; the comment of the package lists what is
	ErrType        = kind("wrong type")     // values that cannot be converted to the type asked for
	ErrChecksum    = kind("wrong checksum") // values that do not agree with their checksum
	ErrIncomplete  = kind("incomplete")     // a required part is missing
	ErrRefused     = kind("refused")        // programs in place of data, such as pickles, which are not run
)
