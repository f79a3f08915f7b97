// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import device "github.com/euryale-dev/euryale/kernels/cuda"

// Device returns the device that the code was compiled for.
func (c *Code) Device() *device.Device { return c.d }
