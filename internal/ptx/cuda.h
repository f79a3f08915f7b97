// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels use of CUDA C, for clang without NVIDIA's headers. Functions of mathematics are those of
// libclc, whose names in C++ are those of OpenCL C.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))

// Functions of mathematics are inlined, and long.
#define GROUPS_OF_CALLS(n) 0

#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")

struct ThreadIdx { __declspec(property(get = get)) unsigned x; static __device__ unsigned get() { return __nvvm_read_ptx_sreg_tid_x(); } };
struct BlockIdx { __declspec(property(get = get)) unsigned x; static __device__ unsigned get() { return __nvvm_read_ptx_sreg_ctaid_x(); } };
struct BlockDim { __declspec(property(get = get)) unsigned x; static __device__ unsigned get() { return __nvvm_read_ptx_sreg_ntid_x(); } };
struct GridDim { __declspec(property(get = get)) unsigned x; static __device__ unsigned get() { return __nvvm_read_ptx_sreg_nctaid_x(); } };
extern const __device__ ThreadIdx threadIdx;
extern const __device__ BlockIdx blockIdx;
extern const __device__ BlockDim blockDim;
extern const __device__ GridDim gridDim;

static __device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }

#define FUNCTION(name)              \
  __device__ float name(float);     \
  __device__ double name(double);   \
  static __device__ __forceinline__ float name##f(float x) { return name(x); }
FUNCTION(fabs)
FUNCTION(exp)
FUNCTION(tanh)
FUNCTION(log)
FUNCTION(log2)
FUNCTION(log10)
FUNCTION(cbrt)
FUNCTION(sinpi)
FUNCTION(cospi)
#undef FUNCTION
#define FUNCTION(name)                    \
  __device__ float name(float, float);    \
  __device__ double name(double, double); \
  static __device__ __forceinline__ float name##f(float x, float y) { return name(x, y); }
FUNCTION(pow)
FUNCTION(fmod)
#undef FUNCTION

static __device__ __forceinline__ float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
static __device__ __forceinline__ double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
static __device__ __forceinline__ void sincospif(float x, float* s, float* c) { *s = sinpi(x), *c = cospi(x); }
static __device__ __forceinline__ void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
