// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lib

import (
	"errors"
	"fmt"
)

// Kinds of statuses, for errors.Is.
var (
	ErrNotSupported = errors.New("cuda: the library does not support this")
	ErrAllocation   = errors.New("cuda: the library is out of memory")
)

// Error is a failed call of a library.
type Error struct {
	Library string // name of the library, such as cuBLAS
	Version string
	Call    string // name of the function, such as cublasSgemm_v2
	Code    int32  // status that the function returned
}

// Name returns the library's name for the status, such as CUBLAS_STATUS_EXECUTION_FAILED.
func (e *Error) Name() string {
	if name, ok := statuses[e.Library][e.Code]; ok {
		return name
	}
	return fmt.Sprintf("%s status %d", e.Library, e.Code)
}

func (e *Error) Error() string {
	return fmt.Sprintf("cuda: %s of %s %s: %s (%d)", e.Call, e.Library, e.Version, e.Name(), e.Code)
}

// Is reports whether the status means ErrNotSupported or ErrAllocation.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotSupported:
		return e.Library == "cuBLAS" && (e.Code == 15 || e.Code == 8) || e.Library == "cuFFT" && (e.Code == 14 || e.Code == 16) ||
			e.Library == "cuSOLVER" && (e.Code == 9 || e.Code == 4) || e.Library == "cuDNN" && (e.Code >= 3000 && e.Code < 4000 || e.Code == 9)
	case ErrAllocation:
		return e.Library == "cuBLAS" && e.Code == 3 || e.Library == "cuFFT" && e.Code == 2 || e.Library == "cuSOLVER" && e.Code == 2 ||
			e.Library == "cuDNN" && (e.Code == 4003 || e.Code == 4004 || e.Code == 2)
	}
	return false
}

// statuses names the statuses of each library. cuDNN has the numbers of versions 8 and 9.
var statuses = map[string]map[int32]string{
	"cuBLAS": {1: "CUBLAS_STATUS_NOT_INITIALIZED", 3: "CUBLAS_STATUS_ALLOC_FAILED", 7: "CUBLAS_STATUS_INVALID_VALUE", 8: "CUBLAS_STATUS_ARCH_MISMATCH",
		11: "CUBLAS_STATUS_MAPPING_ERROR", 13: "CUBLAS_STATUS_EXECUTION_FAILED", 14: "CUBLAS_STATUS_INTERNAL_ERROR", 15: "CUBLAS_STATUS_NOT_SUPPORTED",
		16: "CUBLAS_STATUS_LICENSE_ERROR"},
	"cuFFT": {1: "CUFFT_INVALID_PLAN", 2: "CUFFT_ALLOC_FAILED", 3: "CUFFT_INVALID_TYPE", 4: "CUFFT_INVALID_VALUE", 5: "CUFFT_INTERNAL_ERROR",
		6: "CUFFT_EXEC_FAILED", 7: "CUFFT_SETUP_FAILED", 8: "CUFFT_INVALID_SIZE", 9: "CUFFT_UNALIGNED_DATA", 10: "CUFFT_INCOMPLETE_PARAMETER_LIST",
		11: "CUFFT_INVALID_DEVICE", 12: "CUFFT_PARSE_ERROR", 13: "CUFFT_NO_WORKSPACE", 14: "CUFFT_NOT_IMPLEMENTED", 15: "CUFFT_LICENSE_ERROR", 16: "CUFFT_NOT_SUPPORTED"},
	"cuSOLVER": {1: "CUSOLVER_STATUS_NOT_INITIALIZED", 2: "CUSOLVER_STATUS_ALLOC_FAILED", 3: "CUSOLVER_STATUS_INVALID_VALUE", 4: "CUSOLVER_STATUS_ARCH_MISMATCH",
		5: "CUSOLVER_STATUS_MAPPING_ERROR", 6: "CUSOLVER_STATUS_EXECUTION_FAILED", 7: "CUSOLVER_STATUS_INTERNAL_ERROR", 8: "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
		9: "CUSOLVER_STATUS_NOT_SUPPORTED", 10: "CUSOLVER_STATUS_ZERO_PIVOT", 11: "CUSOLVER_STATUS_INVALID_LICENSE", 31: "CUSOLVER_STATUS_INVALID_WORKSPACE"},
	"cuDNN": {1: "CUDNN_STATUS_NOT_INITIALIZED", 2: "CUDNN_STATUS_ALLOC_FAILED", 3: "CUDNN_STATUS_BAD_PARAM", 4: "CUDNN_STATUS_INTERNAL_ERROR",
		5: "CUDNN_STATUS_INVALID_VALUE", 6: "CUDNN_STATUS_ARCH_MISMATCH", 7: "CUDNN_STATUS_MAPPING_ERROR", 8: "CUDNN_STATUS_EXECUTION_FAILED", 9: "CUDNN_STATUS_NOT_SUPPORTED",
		1001: "CUDNN_STATUS_NOT_INITIALIZED", 1002: "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", 1008: "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED", 2000: "CUDNN_STATUS_BAD_PARAM",
		2002: "CUDNN_STATUS_BAD_PARAM_NULL_POINTER", 2008: "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH", 3000: "CUDNN_STATUS_NOT_SUPPORTED", 3002: "CUDNN_STATUS_NOT_SUPPORTED_SHAPE",
		3003: "CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE", 3004: "CUDNN_STATUS_NOT_SUPPORTED_LAYOUT", 3005: "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER",
		3007: "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH", 4000: "CUDNN_STATUS_INTERNAL_ERROR", 4003: "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
		4004: "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", 5000: "CUDNN_STATUS_EXECUTION_FAILED", 5001: "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER",
		5002: "CUDNN_STATUS_EXECUTION_FAILED_CUBLAS", 5003: "CUDNN_STATUS_EXECUTION_FAILED_CUDART"},
	"NCCL": {1: "ncclUnhandledCudaError", 2: "ncclSystemError", 3: "ncclInternalError", 4: "ncclInvalidArgument", 5: "ncclInvalidUsage", 6: "ncclRemoteError",
		7: "ncclInProgress", 8: "ncclTimeout"},
}
