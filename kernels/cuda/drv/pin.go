// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import "runtime"

// pinned pins one byte array whose address the driver finds inside other memory.
func pinned(p *byte) *runtime.Pinner {
	pin := new(runtime.Pinner)
	pin.Pin(p)
	return pin
}
