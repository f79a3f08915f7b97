// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import "github.com/euryale-dev/euryale/app/frame"

// look says how people look at problem files.
func look(name string, folder bool) *frame.Look {
	if folder || !isProblem(name) {
		return nil
	}
	return &frame.Look{Kind: "Problems", Works: []string{"fit nlsq", "sample expr"}}
}
