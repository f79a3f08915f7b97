// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels/cuda/dl"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// UniqueID names a group of devices, which different processes or threads can then join.
type UniqueID [128]byte

// Reduction is the way in which NCCL combines numbers of several devices.
type Reduction int

// The reductions, with NCCL's numbers.
const (
	Sum Reduction = iota
	Product
	Max
	Min
)

// NCCL is an open NCCL library.
type NCCL struct {
	library
	uniqueID, initRank, initAll, destroy, allReduce, broadcast, groupStart, groupEnd uintptr
}

// OpenNCCL finds and opens NCCL. The error wraps ErrNotFound.
func OpenNCCL() (NCCL, error) {
	o, err := load(specNCCL)
	if err != nil {
		return NCCL{}, err
	}
	if v := o.number("ncclGetVersion"); v >= 10000 { // 2.27.3 is 22703; before 2.9, 2.8.4 was 2804
		o.version = dotted(v, 10000, 100)
	} else {
		o.version = dotted(v, 1000, 100)
	}
	n := NCCL{library: o.library, uniqueID: o.need("ncclGetUniqueId"), initRank: o.need("ncclCommInitRank"), initAll: o.need("ncclCommInitAll"),
		destroy: o.need("ncclCommDestroy"), allReduce: o.need("ncclAllReduce"), broadcast: o.need("ncclBroadcast"),
		groupStart: o.need("ncclGroupStart"), groupEnd: o.need("ncclGroupEnd")}
	return n, o.done()
}

// UniqueID makes the name of a new group.
func (n NCCL) UniqueID() (UniqueID, error) {
	id := new(UniqueID)
	err := n.call(n.uniqueID, "ncclGetUniqueId", uintptr(unsafe.Pointer(id)))
	return *id, err
}

// InitRank joins the current context to a group as one of size members. It waits for the others,
// unless it is called between GroupStart and GroupEnd; the handle is then written by GroupEnd, so
// comm must stay pinned until GroupEnd returns.
func (n NCCL) InitRank(comm *Handle, size int, id UniqueID, rank int) error {
	// The identity is passed by value. On amd64 that puts its 16 words on the stack, behind the six
	// registers of integers; on arm64 it is copied and its address takes a register.
	switch runtime.GOARCH {
	case "amd64":
		args := make([]uintptr, 0, 22)
		args = append(args, uintptr(unsafe.Pointer(comm)), uintptr(size), uintptr(rank), 0, 0, 0)
		for i := 0; i < len(id); i += 8 {
			args = append(args, *(*uintptr)(unsafe.Pointer(&id[i])))
		}
		var pin runtime.Pinner
		pin.Pin(comm)
		defer pin.Unpin()
		return n.call(n.initRank, "ncclCommInitRank", args...)
	case "arm64":
		p := &id
		return n.call(n.initRank, "ncclCommInitRank", uintptr(unsafe.Pointer(comm)), uintptr(size), uintptr(unsafe.Pointer(p)), uintptr(rank))
	}
	return fmt.Errorf("%w: NCCL cannot be called on %s: use the ring instead, with GroupSettings.NoNCCL", ErrNotSupported, runtime.GOARCH)
}

// InitAll makes a group of the devices with these ordinals and returns a communicator for each.
func (n NCCL) InitAll(ordinals []int) ([]Handle, error) {
	comms, devices := make([]Handle, len(ordinals)), make([]int32, len(ordinals))
	for i, o := range ordinals {
		devices[i] = int32(o)
	}
	err := n.call(n.initAll, "ncclCommInitAll", uintptr(unsafe.Pointer(&comms[0])), uintptr(len(ordinals)), uintptr(unsafe.Pointer(&devices[0])))
	return comms, err
}

// Destroy destroys a communicator.
func (n NCCL) Destroy(comm Handle) error { return n.call(n.destroy, "ncclCommDestroy", uintptr(comm)) }

// numberType returns NCCL's number of a type.
func numberType(t Type) uintptr { return 7 + uintptr(t) }

// AllReduce combines count numbers of all members; every member gets the result. A thread that acts for
// several members calls it for each between GroupStart and GroupEnd.
func (n NCCL) AllReduce(dst, src drv.DevicePtr, count int, t Type, op Reduction, comm Handle, s drv.Stream) error {
	return n.call(n.allReduce, "ncclAllReduce", uintptr(src), uintptr(dst), uintptr(count), numberType(t), uintptr(op), uintptr(comm), uintptr(s))
}

// Broadcast copies count numbers from the member root to all members.
func (n NCCL) Broadcast(dst, src drv.DevicePtr, count int, t Type, root int, comm Handle, s drv.Stream) error {
	return n.call(n.broadcast, "ncclBroadcast", uintptr(src), uintptr(dst), uintptr(count), numberType(t), uintptr(root), uintptr(comm), uintptr(s))
}

// GroupStart begins a group of calls that one thread makes for several members. GroupEnd starts
// them together.
func (n NCCL) GroupStart() error {
	if r := int32(dl.Call(n.groupStart)); r != 0 {
		return &Error{Library: n.name, Version: n.version, Call: "ncclGroupStart", Code: r}
	}
	return nil
}

// GroupEnd starts the calls that were made since GroupStart.
func (n NCCL) GroupEnd() error {
	if r := int32(dl.Call(n.groupEnd)); r != 0 {
		return &Error{Library: n.name, Version: n.version, Call: "ncclGroupEnd", Code: r}
	}
	return nil
}
