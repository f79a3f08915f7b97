// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"runtime"
	"strings"
	"sync"
)

// builders are packages whose functions build graphs for their callers.
var builders sync.Map // path of a package

// BuildsGraphs makes mistakes in graphs that the calling package builds those of its own callers. Packages call it in init.
func BuildsGraphs() {
	pc := make([]uintptr, 1)
	caller, _ := runtime.CallersFrames(pc[:runtime.Callers(2, pc)]).Next()
	builders.Store(packageOf(caller.Function), true)
}

// IsBuilder reports whether a function, by the full name that package runtime gives it, is in a package that builds graphs, or in a
// package below it that cannot be imported from elsewhere.
func IsBuilder(function string) bool {
	path := packageOf(function)
	if _, is := builders.Load(path); is {
		return true
	}
	_, is := builders.Load(path[:max(0, strings.LastIndex(path, "/internal/"))])
	return is
}
