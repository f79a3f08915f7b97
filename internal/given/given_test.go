package given

import (
	"context"
	"testing"
)

func TestArgs(t *testing.T) {
	var none *int
	var f func()
	var ctx context.Context
	for want, named := range map[string][]any{
		"":                              {"n", 0, "list", []int(nil), "ctx", context.Background()},
		"p.F: the argument ctx is nil":  {"n", 1, "ctx", ctx},
		"p.F: the argument none is nil": {"none", none, "f", f},
		"p.F: the argument f is nil":    {"f", f},
	} {
		got := ""
		if err := Args("p.F", named...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
