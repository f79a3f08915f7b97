// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frame

import "runtime/debug"

// Version returns the version of Euryale, or the commit of a local build. A user's program requires the module.
func Version() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append(b.Deps, &b.Main) {
		if m.Path == "github.com/euryale-dev/euryale" && m.Version != "" {
			return m.Version
		}
	}
	return "devel"
}
