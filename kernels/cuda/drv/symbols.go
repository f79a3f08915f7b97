// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

// symbol is an index into the table of entry points.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGet
	cuDeviceGetCount
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDeviceGetPCIBusID
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuCtxGetCurrent
	cuCtxSynchronize
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemcpy2DAsync
	cuMemsetD8Async
	cuMemsetD32Async
	cuStreamCreateWithPriority
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuModuleGetGlobal
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuOccupancyMaxActiveBlocks
	cuLaunchKernel

	cuDeviceGetUUID2
	cuDeviceGetUUID
	cuMemAllocAsync
	cuMemFreeAsync
	cuDeviceGetDefaultMemPool
	cuMemPoolCreate
	cuMemPoolDestroy
	cuMemPoolSetAttribute
	cuMemPoolGetAttribute
	cuMemPoolTrimTo
	cuMemPoolSetAccess
	cuMemAllocFromPoolAsync
	cuStreamBeginCapture
	cuStreamEndCapture
	cuGraphInstantiateWithFlags
	cuGraphLaunch
	cuGraphExecUpdate
	cuGraphDestroy
	cuGraphExecDestroy
	cuLaunchCooperativeKernel
	cuLaunchKernelEx
	cuFuncGetParamInfo
	cuTensorMapEncodeTiled
	cuDeviceCanAccessPeer
	cuCtxEnablePeerAccess
	cuMemcpyPeerAsync
	cuMemHostRegister
	cuMemHostUnregister
	numSymbols
)

// Feature is an ability that only some drivers have.
type Feature int

// The features, each with the CUDA version of the driver that introduced it.
const (
	FeaturePools       Feature = iota + 1 // stream-ordered allocation from memory pools, 11.3
	FeatureGraphs                         // capture and replay of graphs, 11.4
	FeatureGraphUpdate                    // updates of an instantiated graph in place, 12.0
	FeatureParameters                     // number and sizes of a kernel's parameters, 12.4
	FeatureUUID                           // UUID of a device, 9.2
	FeaturePeers                          // copies between devices, 4.0
	FeatureRegister                       // page-locking of existing memory, 4.0
)

// symbols names the entry points by their binary interface. Those without a feature are required;
// a feature is there when all of its entry points are, except that one of two UUID calls suffices.
var symbols = [numSymbols]struct {
	name    string
	feature Feature
	extra   bool // looked up for later use, no feature depends on it
}{
	cuInit:                      {name: "cuInit"},
	cuDriverGetVersion:          {name: "cuDriverGetVersion"},
	cuGetErrorName:              {name: "cuGetErrorName"},
	cuGetErrorString:            {name: "cuGetErrorString"},
	cuDeviceGet:                 {name: "cuDeviceGet"},
	cuDeviceGetCount:            {name: "cuDeviceGetCount"},
	cuDeviceGetName:             {name: "cuDeviceGetName"},
	cuDeviceGetAttribute:        {name: "cuDeviceGetAttribute"},
	cuDeviceTotalMem:            {name: "cuDeviceTotalMem_v2"},
	cuDeviceGetPCIBusID:         {name: "cuDeviceGetPCIBusId"},
	cuDevicePrimaryCtxRetain:    {name: "cuDevicePrimaryCtxRetain"},
	cuDevicePrimaryCtxRelease:   {name: "cuDevicePrimaryCtxRelease_v2"},
	cuCtxSetCurrent:             {name: "cuCtxSetCurrent"},
	cuCtxGetCurrent:             {name: "cuCtxGetCurrent"},
	cuCtxSynchronize:            {name: "cuCtxSynchronize"},
	cuMemGetInfo:                {name: "cuMemGetInfo_v2"},
	cuMemAlloc:                  {name: "cuMemAlloc_v2"},
	cuMemFree:                   {name: "cuMemFree_v2"},
	cuMemHostAlloc:              {name: "cuMemHostAlloc"},
	cuMemFreeHost:               {name: "cuMemFreeHost"},
	cuMemcpyHtoD:                {name: "cuMemcpyHtoD_v2"},
	cuMemcpyDtoH:                {name: "cuMemcpyDtoH_v2"},
	cuMemcpyHtoDAsync:           {name: "cuMemcpyHtoDAsync_v2"},
	cuMemcpyDtoHAsync:           {name: "cuMemcpyDtoHAsync_v2"},
	cuMemcpyDtoDAsync:           {name: "cuMemcpyDtoDAsync_v2"},
	cuMemcpy2DAsync:             {name: "cuMemcpy2DAsync_v2"},
	cuMemsetD8Async:             {name: "cuMemsetD8Async"},
	cuMemsetD32Async:            {name: "cuMemsetD32Async"},
	cuStreamCreateWithPriority:  {name: "cuStreamCreateWithPriority"},
	cuStreamDestroy:             {name: "cuStreamDestroy_v2"},
	cuStreamSynchronize:         {name: "cuStreamSynchronize"},
	cuStreamQuery:               {name: "cuStreamQuery"},
	cuStreamWaitEvent:           {name: "cuStreamWaitEvent"},
	cuEventCreate:               {name: "cuEventCreate"},
	cuEventDestroy:              {name: "cuEventDestroy_v2"},
	cuEventRecord:               {name: "cuEventRecord"},
	cuEventQuery:                {name: "cuEventQuery"},
	cuEventSynchronize:          {name: "cuEventSynchronize"},
	cuEventElapsedTime:          {name: "cuEventElapsedTime"},
	cuModuleLoadDataEx:          {name: "cuModuleLoadDataEx"},
	cuModuleUnload:              {name: "cuModuleUnload"},
	cuModuleGetFunction:         {name: "cuModuleGetFunction"},
	cuModuleGetGlobal:           {name: "cuModuleGetGlobal_v2"},
	cuFuncGetAttribute:          {name: "cuFuncGetAttribute"},
	cuFuncSetAttribute:          {name: "cuFuncSetAttribute"},
	cuOccupancyMaxActiveBlocks:  {name: "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
	cuLaunchKernel:              {name: "cuLaunchKernel"},
	cuDeviceGetUUID2:            {name: "cuDeviceGetUuid_v2", feature: FeatureUUID},
	cuDeviceGetUUID:             {name: "cuDeviceGetUuid", feature: FeatureUUID},
	cuMemAllocAsync:             {name: "cuMemAllocAsync", extra: true},
	cuMemFreeAsync:              {name: "cuMemFreeAsync", feature: FeaturePools},
	cuDeviceGetDefaultMemPool:   {name: "cuDeviceGetDefaultMemPool", extra: true},
	cuMemPoolCreate:             {name: "cuMemPoolCreate", feature: FeaturePools},
	cuMemPoolDestroy:            {name: "cuMemPoolDestroy", feature: FeaturePools},
	cuMemPoolSetAttribute:       {name: "cuMemPoolSetAttribute", feature: FeaturePools},
	cuMemPoolGetAttribute:       {name: "cuMemPoolGetAttribute", feature: FeaturePools},
	cuMemPoolTrimTo:             {name: "cuMemPoolTrimTo", feature: FeaturePools},
	cuMemPoolSetAccess:          {name: "cuMemPoolSetAccess", extra: true},
	cuMemAllocFromPoolAsync:     {name: "cuMemAllocFromPoolAsync", feature: FeaturePools},
	cuStreamBeginCapture:        {name: "cuStreamBeginCapture_v2", feature: FeatureGraphs},
	cuStreamEndCapture:          {name: "cuStreamEndCapture", feature: FeatureGraphs},
	cuGraphInstantiateWithFlags: {name: "cuGraphInstantiateWithFlags", feature: FeatureGraphs},
	cuGraphLaunch:               {name: "cuGraphLaunch", feature: FeatureGraphs},
	cuGraphExecUpdate:           {name: "cuGraphExecUpdate_v2", feature: FeatureGraphUpdate},
	cuGraphDestroy:              {name: "cuGraphDestroy", feature: FeatureGraphs},
	cuGraphExecDestroy:          {name: "cuGraphExecDestroy", feature: FeatureGraphs},
	cuLaunchCooperativeKernel:   {name: "cuLaunchCooperativeKernel", extra: true},
	cuLaunchKernelEx:            {name: "cuLaunchKernelEx", extra: true},
	cuFuncGetParamInfo:          {name: "cuFuncGetParamInfo", feature: FeatureParameters},
	cuTensorMapEncodeTiled:      {name: "cuTensorMapEncodeTiled", extra: true},
	cuDeviceCanAccessPeer:       {name: "cuDeviceCanAccessPeer", feature: FeaturePeers},
	cuCtxEnablePeerAccess:       {name: "cuCtxEnablePeerAccess", feature: FeaturePeers},
	cuMemcpyPeerAsync:           {name: "cuMemcpyPeerAsync", feature: FeaturePeers},
	cuMemHostRegister:           {name: "cuMemHostRegister_v2", feature: FeatureRegister},
	cuMemHostUnregister:         {name: "cuMemHostUnregister", feature: FeatureRegister},
}
