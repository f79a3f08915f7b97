// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/runs"
)

// Number is a float64 that is written to JSON as a string if it is not finite.
type Number float64

// MarshalJSON writes NaN and infinities as strings.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// UnmarshalJSON reads a number, or a string that names a non-finite one.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch strings.Trim(string(b), `"`) {
	case "NaN":
		*n = Number(math.NaN())
		return nil
	case "Infinity", "Inf", "+Inf":
		*n = Number(math.Inf(1))
		return nil
	case "-Infinity", "-Inf":
		*n = Number(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Numbers returns a list as JSON documents hold it.
func Numbers(v []float64) []Number {
	out := make([]Number, len(v))
	for i, x := range v {
		out[i] = Number(x)
	}
	return out
}

// Named maps names to values.
func Named(names []string, v []float64) map[string]Number {
	out := map[string]Number{}
	for i, n := range names {
		out[n] = Number(v[i])
	}
	return out
}

// Document prints v as the command's only JSON document.
func (a *App) Document(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	_, err = fmt.Fprintf(a.Stdout, "%s\n", b)
	return exit.With(exit.CannotWrite, err)
}

// WriteFile writes a file under a temporary name and then renames it.
func WriteFile(path string, b []byte) error {
	return exit.With(exit.CannotWrite, runs.WriteFile(path, b))
}

// WriteJSON writes a document into a file under a temporary name and then renames it.
func WriteJSON(path string, v any) error { return written(runs.WriteJSON(path, v)) }

// NumberText writes a number with all its digits, as tables hold it.
func NumberText(v Number) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }

// WithUnit appends a unit to a number, if there is one.
func WithUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// Indent indents all lines of a text by two spaces.
func Indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// Writing returns the exit code for an error from writing a file, and otherwise for any
// other error.
func Writing(err error, otherwise int) error {
	if errors.As(err, new(syscall.Errno)) || errors.Is(err, fs.ErrExist) {
		return exit.With(exit.CannotWrite, err)
	}
	return exit.With(otherwise, err)
}
