// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package drv is the CUDA driver as Go sees it: a table of its entry points, opened at run time,
// and one method for each that turns the driver's result into a typed error.
//
//	d, err := drv.Open()
//	if errors.Is(err, drv.ErrNoDriver) {
//		return useProcessor() // the error lists every file that was tried
//	}
//	n, err := d.DeviceCount()
//
// Entry points are taken by the versioned names of the binary interface and never through a header,
// so one binary serves all drivers since version 450; entry points that an old driver lacks are
// optional, and [Driver.Has] reports whether they are there. Methods work on the context that is
// current on the calling thread: see [Driver.Enter]. All of them are safe for concurrent use.
//
// The package holds no policy. Package cuda manages devices, memory and streams, and decides what
// an error means for a device.
package drv
