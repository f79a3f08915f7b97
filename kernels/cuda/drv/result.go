// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import "strconv"

// Result is a CUresult, the value that the driver's functions return. It is an error, so that
// errors.Is(err, drv.OutOfMemory) finds it in an [Error]. Results that are not in the table print
// as their number.
type Result int32

// The results of drivers up to version 13.
const (
	Success                      Result = 0
	InvalidValue                 Result = 1
	OutOfMemory                  Result = 2
	NotInitialized               Result = 3
	Deinitialized                Result = 4
	ProfilerDisabled             Result = 5
	ProfilerNotInitialized       Result = 6
	ProfilerAlreadyStarted       Result = 7
	ProfilerAlreadyStopped       Result = 8
	StubLibrary                  Result = 34
	CallRequiresNewerDriver      Result = 36
	DeviceUnavailable            Result = 46
	NoDevice                     Result = 100
	InvalidDevice                Result = 101
	DeviceNotLicensed            Result = 102
	InvalidImage                 Result = 200
	InvalidContext               Result = 201
	ContextAlreadyCurrent        Result = 202
	MapFailed                    Result = 205
	UnmapFailed                  Result = 206
	ArrayIsMapped                Result = 207
	AlreadyMapped                Result = 208
	NoBinaryForGPU               Result = 209
	AlreadyAcquired              Result = 210
	NotMapped                    Result = 211
	NotMappedAsArray             Result = 212
	NotMappedAsPointer           Result = 213
	ECCUncorrectable             Result = 214
	UnsupportedLimit             Result = 215
	ContextAlreadyInUse          Result = 216
	PeerAccessUnsupported        Result = 217
	InvalidPTX                   Result = 218
	InvalidGraphicsContext       Result = 219
	NVLinkUncorrectable          Result = 220
	JITCompilerNotFound          Result = 221
	UnsupportedPTXVersion        Result = 222
	JITCompilationDisabled       Result = 223
	UnsupportedExecAffinity      Result = 224
	UnsupportedDevsideSync       Result = 225
	Contained                    Result = 226
	InvalidSource                Result = 300
	FileNotFound                 Result = 301
	SharedObjectSymbolNotFound   Result = 302
	SharedObjectInitFailed       Result = 303
	OperatingSystem              Result = 304
	InvalidHandle                Result = 400
	IllegalState                 Result = 401
	LossyQuery                   Result = 402
	NotFound                     Result = 500
	NotReady                     Result = 600
	IllegalAddress               Result = 700
	LaunchOutOfResources         Result = 701
	LaunchTimeout                Result = 702
	LaunchIncompatibleTexturing  Result = 703
	PeerAccessAlreadyEnabled     Result = 704
	PeerAccessNotEnabled         Result = 705
	PrimaryContextActive         Result = 708
	ContextIsDestroyed           Result = 709
	Assert                       Result = 710
	TooManyPeers                 Result = 711
	HostMemoryAlreadyRegistered  Result = 712
	HostMemoryNotRegistered      Result = 713
	HardwareStackError           Result = 714
	IllegalInstruction           Result = 715
	MisalignedAddress            Result = 716
	InvalidAddressSpace          Result = 717
	InvalidPC                    Result = 718
	LaunchFailed                 Result = 719
	CooperativeLaunchTooLarge    Result = 720
	TensorMemoryLeak             Result = 721
	NotPermitted                 Result = 800
	NotSupported                 Result = 801
	SystemNotReady               Result = 802
	SystemDriverMismatch         Result = 803
	CompatNotSupportedOnDevice   Result = 804
	MPSConnectionFailed          Result = 805
	MPSRPCFailure                Result = 806
	MPSServerNotReady            Result = 807
	MPSMaxClientsReached         Result = 808
	MPSMaxConnectionsReached     Result = 809
	MPSClientTerminated          Result = 810
	CDPNotSupported              Result = 811
	CDPVersionMismatch           Result = 812
	StreamCaptureUnsupported     Result = 900
	StreamCaptureInvalidated     Result = 901
	StreamCaptureMerge           Result = 902
	StreamCaptureUnmatched       Result = 903
	StreamCaptureUnjoined        Result = 904
	StreamCaptureIsolation       Result = 905
	StreamCaptureImplicit        Result = 906
	CapturedEvent                Result = 907
	StreamCaptureWrongThread     Result = 908
	Timeout                      Result = 909
	GraphExecUpdateFailure       Result = 910
	ExternalDevice               Result = 911
	InvalidClusterSize           Result = 912
	FunctionNotLoaded            Result = 913
	InvalidResourceType          Result = 914
	InvalidResourceConfiguration Result = 915
	Unknown                      Result = 999
)

var resultNames = map[Result]string{
	Success:                      "CUDA_SUCCESS",
	InvalidValue:                 "CUDA_ERROR_INVALID_VALUE",
	OutOfMemory:                  "CUDA_ERROR_OUT_OF_MEMORY",
	NotInitialized:               "CUDA_ERROR_NOT_INITIALIZED",
	Deinitialized:                "CUDA_ERROR_DEINITIALIZED",
	ProfilerDisabled:             "CUDA_ERROR_PROFILER_DISABLED",
	ProfilerNotInitialized:       "CUDA_ERROR_PROFILER_NOT_INITIALIZED",
	ProfilerAlreadyStarted:       "CUDA_ERROR_PROFILER_ALREADY_STARTED",
	ProfilerAlreadyStopped:       "CUDA_ERROR_PROFILER_ALREADY_STOPPED",
	StubLibrary:                  "CUDA_ERROR_STUB_LIBRARY",
	CallRequiresNewerDriver:      "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
	DeviceUnavailable:            "CUDA_ERROR_DEVICE_UNAVAILABLE",
	NoDevice:                     "CUDA_ERROR_NO_DEVICE",
	InvalidDevice:                "CUDA_ERROR_INVALID_DEVICE",
	DeviceNotLicensed:            "CUDA_ERROR_DEVICE_NOT_LICENSED",
	InvalidImage:                 "CUDA_ERROR_INVALID_IMAGE",
	InvalidContext:               "CUDA_ERROR_INVALID_CONTEXT",
	ContextAlreadyCurrent:        "CUDA_ERROR_CONTEXT_ALREADY_CURRENT",
	MapFailed:                    "CUDA_ERROR_MAP_FAILED",
	UnmapFailed:                  "CUDA_ERROR_UNMAP_FAILED",
	ArrayIsMapped:                "CUDA_ERROR_ARRAY_IS_MAPPED",
	AlreadyMapped:                "CUDA_ERROR_ALREADY_MAPPED",
	NoBinaryForGPU:               "CUDA_ERROR_NO_BINARY_FOR_GPU",
	AlreadyAcquired:              "CUDA_ERROR_ALREADY_ACQUIRED",
	NotMapped:                    "CUDA_ERROR_NOT_MAPPED",
	NotMappedAsArray:             "CUDA_ERROR_NOT_MAPPED_AS_ARRAY",
	NotMappedAsPointer:           "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
	ECCUncorrectable:             "CUDA_ERROR_ECC_UNCORRECTABLE",
	UnsupportedLimit:             "CUDA_ERROR_UNSUPPORTED_LIMIT",
	ContextAlreadyInUse:          "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
	PeerAccessUnsupported:        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
	InvalidPTX:                   "CUDA_ERROR_INVALID_PTX",
	InvalidGraphicsContext:       "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
	NVLinkUncorrectable:          "CUDA_ERROR_NVLINK_UNCORRECTABLE",
	JITCompilerNotFound:          "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
	UnsupportedPTXVersion:        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	JITCompilationDisabled:       "CUDA_ERROR_JIT_COMPILATION_DISABLED",
	UnsupportedExecAffinity:      "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY",
	UnsupportedDevsideSync:       "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
	Contained:                    "CUDA_ERROR_CONTAINED",
	InvalidSource:                "CUDA_ERROR_INVALID_SOURCE",
	FileNotFound:                 "CUDA_ERROR_FILE_NOT_FOUND",
	SharedObjectSymbolNotFound:   "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
	SharedObjectInitFailed:       "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
	OperatingSystem:              "CUDA_ERROR_OPERATING_SYSTEM",
	InvalidHandle:                "CUDA_ERROR_INVALID_HANDLE",
	IllegalState:                 "CUDA_ERROR_ILLEGAL_STATE",
	LossyQuery:                   "CUDA_ERROR_LOSSY_QUERY",
	NotFound:                     "CUDA_ERROR_NOT_FOUND",
	NotReady:                     "CUDA_ERROR_NOT_READY",
	IllegalAddress:               "CUDA_ERROR_ILLEGAL_ADDRESS",
	LaunchOutOfResources:         "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	LaunchTimeout:                "CUDA_ERROR_LAUNCH_TIMEOUT",
	LaunchIncompatibleTexturing:  "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING",
	PeerAccessAlreadyEnabled:     "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	PeerAccessNotEnabled:         "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
	PrimaryContextActive:         "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
	ContextIsDestroyed:           "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	Assert:                       "CUDA_ERROR_ASSERT",
	TooManyPeers:                 "CUDA_ERROR_TOO_MANY_PEERS",
	HostMemoryAlreadyRegistered:  "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	HostMemoryNotRegistered:      "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
	HardwareStackError:           "CUDA_ERROR_HARDWARE_STACK_ERROR",
	IllegalInstruction:           "CUDA_ERROR_ILLEGAL_INSTRUCTION",
	MisalignedAddress:            "CUDA_ERROR_MISALIGNED_ADDRESS",
	InvalidAddressSpace:          "CUDA_ERROR_INVALID_ADDRESS_SPACE",
	InvalidPC:                    "CUDA_ERROR_INVALID_PC",
	LaunchFailed:                 "CUDA_ERROR_LAUNCH_FAILED",
	CooperativeLaunchTooLarge:    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	TensorMemoryLeak:             "CUDA_ERROR_TENSOR_MEMORY_LEAK",
	NotPermitted:                 "CUDA_ERROR_NOT_PERMITTED",
	NotSupported:                 "CUDA_ERROR_NOT_SUPPORTED",
	SystemNotReady:               "CUDA_ERROR_SYSTEM_NOT_READY",
	SystemDriverMismatch:         "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	CompatNotSupportedOnDevice:   "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	MPSConnectionFailed:          "CUDA_ERROR_MPS_CONNECTION_FAILED",
	MPSRPCFailure:                "CUDA_ERROR_MPS_RPC_FAILURE",
	MPSServerNotReady:            "CUDA_ERROR_MPS_SERVER_NOT_READY",
	MPSMaxClientsReached:         "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
	MPSMaxConnectionsReached:     "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
	MPSClientTerminated:          "CUDA_ERROR_MPS_CLIENT_TERMINATED",
	CDPNotSupported:              "CUDA_ERROR_CDP_NOT_SUPPORTED",
	CDPVersionMismatch:           "CUDA_ERROR_CDP_VERSION_MISMATCH",
	StreamCaptureUnsupported:     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	StreamCaptureInvalidated:     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	StreamCaptureMerge:           "CUDA_ERROR_STREAM_CAPTURE_MERGE",
	StreamCaptureUnmatched:       "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	StreamCaptureUnjoined:        "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	StreamCaptureIsolation:       "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
	StreamCaptureImplicit:        "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
	CapturedEvent:                "CUDA_ERROR_CAPTURED_EVENT",
	StreamCaptureWrongThread:     "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
	Timeout:                      "CUDA_ERROR_TIMEOUT",
	GraphExecUpdateFailure:       "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	ExternalDevice:               "CUDA_ERROR_EXTERNAL_DEVICE",
	InvalidClusterSize:           "CUDA_ERROR_INVALID_CLUSTER_SIZE",
	FunctionNotLoaded:            "CUDA_ERROR_FUNCTION_NOT_LOADED",
	InvalidResourceType:          "CUDA_ERROR_INVALID_RESOURCE_TYPE",
	InvalidResourceConfiguration: "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
	Unknown:                      "CUDA_ERROR_UNKNOWN",
}

// Name returns the driver's name of the result, such as CUDA_ERROR_OUT_OF_MEMORY.
func (r Result) Name() string {
	if name, ok := resultNames[r]; ok {
		return name
	}
	return "CUDA_ERROR_" + strconv.Itoa(int(r))
}

func (r Result) Error() string { return r.Name() }

// Sticky reports whether the result means that the context is dead: every later call on it returns
// the same, and all memory of the device is lost. An unknown error counts only if a launch or a
// synchronisation returned it, which the argument says.
func (r Result) Sticky(launched bool) bool {
	switch r {
	case IllegalAddress, LaunchTimeout, Assert, HardwareStackError, IllegalInstruction, MisalignedAddress,
		InvalidAddressSpace, InvalidPC, LaunchFailed, ECCUncorrectable, NVLinkUncorrectable, TensorMemoryLeak:
		return true
	case Unknown:
		return launched
	}
	return false
}
