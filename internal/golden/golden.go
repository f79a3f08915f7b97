// Package golden finds the reference numbers that tests compare with.
//
// They live beside the repository in shared/reference, or wherever
// $EURYALE_REFERENCE points, and are not part of the module: a test that needs
// them skips aloud where they are absent.
//
//	f := golden.Path(t, "cuda", "rng_philox.json")
package golden

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the reference file or folder named by elem and skips the test
// when it does not exist.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{root(t)}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("golden: no reference %s: set EURYALE_REFERENCE to the folder that holds it", p)
	}
	return p
}

// JSON decodes the reference file named by elem into v, or skips the test.
func JSON(t testing.TB, v any, elem ...string) {
	t.Helper()
	p := Path(t, elem...)
	b, err := os.ReadFile(p)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("golden: %s: %v", p, err)
	}
}

// Float is a float64 whose JSON may also be one of the strings NaN, NA, Inf,
// Infinity, -Inf and -Infinity, or a truth value.
type Float float64

// UnmarshalJSON reads a number or the name of a non-finite one.
func (f *Float) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`, `"NA"`, "null":
		*f = Float(math.NaN())
	case `"Inf"`, `"Infinity"`, `"+Inf"`:
		*f = Float(math.Inf(1))
	case `"-Inf"`, `"-Infinity"`:
		*f = Float(math.Inf(-1))
	case "true":
		*f = 1
	case "false":
		*f = 0
	default:
		var x float64
		if err := json.Unmarshal(b, &x); err != nil {
			return fmt.Errorf("golden: %s is neither a number nor NaN or Inf", b)
		}
		*f = Float(x)
	}
	return nil
}

func root(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("EURYALE_REFERENCE"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared", "reference")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("golden: no go.mod above the test")
		}
		dir = up
	}
}
