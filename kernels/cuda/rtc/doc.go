// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package rtc compiles CUDA C at run time with NVIDIA's compiler library, NVRTC, and caches the
// results on disk.
//
//	c, err := rtc.Open(rtc.Settings{})
//	if errors.Is(err, rtc.ErrNoCompiler) {
//		return err // lists every file that was tried
//	}
//	image, err := c.Compile(rtc.Source{Name: "axpy.cu", Text: text}, rtc.Target{Major: 9, Minor: 0})
//
// The library is found where toolkits, containers and Python wheels put it; nobody needs a toolkit
// or a header. For a device that the compiler does not know, because it is older than the device,
// the image is PTX of the newest architecture that it knows, which the driver compiles further.
//
// Images are kept in the user's cache folder under the hash of everything that they depend on. A
// missing folder, a full disk or a damaged entry costs time and nothing else.
package rtc
