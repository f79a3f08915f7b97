// Real numbers in 16 bits, and factors with 10 bits after the point. Arithmetic is done in float: a
// narrow number converts when it is read, and rounds to the nearest, the even one of two, when it is
// written. Where the instruction set has the conversion it is one instruction.
struct eu_f16 {
	unsigned short bits;
	__device__ operator float() const {
#if defined(__CUDACC_RTC__)
		float v;
		asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
		return v;
#else
		unsigned b = (bits & 0x7fffu) << 13;
		float v = __uint_as_float(b) * 5192296858534827628530496329220096.0f; // 2^112
		if ((bits & 0x7c00u) == 0x7c00u) v = __uint_as_float(b | 0x7f800000u);
		return __uint_as_float(__float_as_uint(v) | (bits & 0x8000u) << 16);
#endif
	}
	__device__ eu_f16 &operator=(float v) {
#if defined(__CUDACC_RTC__)
		asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(v));
#else
		unsigned b = __float_as_uint(v), sign = b >> 16 & 0x8000u;
		b &= 0x7fffffffu;
		if (b > 0x7f800000u) bits = (unsigned short)(sign | 0x7e00u);
		else if (b >= 0x477ff000u) bits = (unsigned short)(sign | 0x7c00u);
		else if (b >= 0x38800000u) bits = (unsigned short)(sign | (b + 0xfffu + (b >> 13 & 1u) - 0x38000000u) >> 13);
		else bits = (unsigned short)(sign | (__float_as_uint(__uint_as_float(b) + 0.5f) - 0x3f000000u));
#endif
		return *this;
	}
};
struct eu_bf16 {
	unsigned short bits;
	__device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
	__device__ eu_bf16 &operator=(float v) {
#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800
		asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(v));
#else
		unsigned b = __float_as_uint(v);
		bits = (unsigned short)((b & 0x7fffffffu) > 0x7f800000u ? b >> 16 | 0x40u : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
#endif
		return *this;
	}
};
// eu_tf32 rounds to 10 bits after the point, away from zero if two are equally near, as tensor cores
// are given factors.
static inline __device__ float eu_tf32(float v) {
	unsigned b = __float_as_uint(v);
	return (b & 0x7f800000u) == 0x7f800000u ? v : __uint_as_float((b + 0x1000u) & ~0x1fffu);
}
