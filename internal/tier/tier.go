// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package tier says how much a test may do: tests of the quick tier share four minutes, those of the slow one (build tag slow,
// make test-slow) may take minutes each.
package tier

// Of returns quick in the quick tier and slow in the slow one: a number of seeds, say, or the cases that are run.
func Of[T any](quick, slow T) T {
	if Slow {
		return slow
	}
	return quick
}

// SlowOnly skips a test in the quick tier.
func SlowOnly(t interface {
	Helper()
	Skip(args ...any)
}) {
	t.Helper()
	if !Slow {
		t.Skip("takes seconds: make test-slow runs it")
	}
}
