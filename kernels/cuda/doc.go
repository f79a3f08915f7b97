// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cuda computes on NVIDIA GPUs. A [Device] is opened by its number; it has memory in
// [Buffer] values, does work in the order of [Stream] values, and runs the kernels of a [Module],
// which is compiled from text when it is needed.
//
//	dev, err := cuda.Open(0, cuda.Settings{})
//	if err != nil {
//		return err // says which libraries were tried, or what is wrong with the driver
//	}
//	defer dev.Close()
//	m, err := dev.Compile(rtc.Source{Name: "scale.cu", Text: text})
//	if err != nil {
//		return err // the compiler's messages with the lines that they are about
//	}
//	scale, err := m.Function("scale")
//	x, err := dev.Alloc(8 * len(values))
//	err = dev.CopyIn(ctx, x, 0, values)
//	err = scale.Launch(dev.Default(), cuda.Blocks(len(values), 256), cuda.Dim{X: 256}, 0, x, 2.0, int32(len(values)))
//	err = dev.CopyOut(ctx, values, x, 0)
//
// Nothing is linked: the driver and the compiler are looked for at run time, so one binary runs
// everywhere, and [Available] says why there is no GPU. Everything is safe for concurrent use.
//
// Work is asynchronous. Copies into host memory wait for it; so does Synchronize. A kernel that does
// something forbidden is therefore noticed later than it was launched: the error lists the launches
// since the last synchronisation, and EURYALE_CUDA_SYNC=1 makes every launch wait. After such a
// failure the driver refuses the device to this process; every call returns [ErrDeviceLost] with the
// first cause, and what was copied to the host before is valid.
//
// A process that has opened a device must not fork.
package cuda
