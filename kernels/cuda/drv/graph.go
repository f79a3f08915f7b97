// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import "unsafe"

// CaptureBegin makes a stream collect its work as a graph instead of doing it. Calls from other
// threads are not restricted; on the calling thread, calls that a capture does not allow fail.
func (d *Driver) CaptureBegin(s Stream) error {
	const threadLocal = 1
	return d.call(cuStreamBeginCapture, uintptr(s), threadLocal)
}

// CaptureEnd returns the graph that a stream collected. After a failed capture it returns an error and
// the stream works as before.
func (d *Driver) CaptureEnd(s Stream) (Graph, error) {
	g := new(Graph)
	err := d.call(cuStreamEndCapture, uintptr(s), uintptr(unsafe.Pointer(g)))
	return *g, err
}

// GraphInstantiate makes a graph ready to run.
func (d *Driver) GraphInstantiate(g Graph) (GraphExec, error) {
	e := new(GraphExec)
	err := d.call(cuGraphInstantiateWithFlags, uintptr(unsafe.Pointer(e)), uintptr(g), 0)
	return *e, err
}

// GraphLaunch puts all work of a graph on a stream.
func (d *Driver) GraphLaunch(e GraphExec, s Stream) error {
	return d.errorOf(cuGraphLaunch, d.hot2(cuGraphLaunch, uintptr(e), uintptr(s)))
}

// GraphUpdate gives an instantiated graph the parameters of another graph with the same nodes. It
// fails with GraphExecUpdateFailure if they differ.
func (d *Driver) GraphUpdate(e GraphExec, g Graph) error {
	info := new([4]uint64) // CUgraphExecUpdateResultInfo: result, node, from node
	return d.call(cuGraphExecUpdate, uintptr(e), uintptr(g), uintptr(unsafe.Pointer(info)))
}

// GraphDestroy frees a graph.
func (d *Driver) GraphDestroy(g Graph) error { return d.call(cuGraphDestroy, uintptr(g)) }

// GraphExecDestroy frees an instantiated graph.
func (d *Driver) GraphExecDestroy(e GraphExec) error { return d.call(cuGraphExecDestroy, uintptr(e)) }
