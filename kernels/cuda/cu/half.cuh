// Conversions between float and the short formats of storage, by bit arithmetic alone, so that no header of
// NVIDIA's is needed. Rounding is to the nearest number, ties to even; tf32 rounds ties away from zero, as
// the instruction cvt.rna.tf32.f32 does. Infinities, signed zeros and subnormal numbers keep their meaning,
// and a NaN stays a NaN.
//
//   format   bits of exponent and fraction
//   f16      5 and 10, IEEE 754 binary16
//   bf16     8 and 7, the upper half of a float
//   tf32     8 and 10, kept in a float whose other 13 bits are 0

static __device__ __forceinline__ unsigned short half_bits(float x) {
  unsigned u = __float_as_uint(x), sign = u >> 16 & 0x8000u, m = u & 0x7fffffffu;
  if (m > 0x7f800000u) return (unsigned short)(sign | 0x7e00u | (m >> 13 & 0x1ffu));
  if (m >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);
  if (m >= 0x38800000u) {
    m -= 0x38000000u; // the bias of the exponent, 127 - 15
    return (unsigned short)(sign | (m + 0xfffu + (m >> 13 & 1u)) >> 13);
  }
  if (m <= 0x33000000u) return (unsigned short)sign; // at most half of the smallest number
  unsigned fraction = (m & 0x7fffffu) | 0x800000u, shift = 126u - (m >> 23);
  unsigned r = fraction >> shift, rest = fraction & ((1u << shift) - 1u), tie = 1u << (shift - 1u);
  if (rest > tie || (rest == tie && (r & 1u))) r++;
  return (unsigned short)(sign | r);
}

static __device__ __forceinline__ float half_value(unsigned short h) {
  unsigned sign = (h & 0x8000u) << 16, e = h >> 10 & 31u, f = h & 1023u;
  if (e == 0) return __uint_as_float(sign | __float_as_uint((float)f * 5.9604644775390625e-8f));
  return __uint_as_float(sign | (e == 31u ? 255u : e + 112u) << 23 | f << 13);
}

static __device__ __forceinline__ unsigned short bfloat_bits(float x) {
  unsigned u = __float_as_uint(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(u >> 16 | 0x40u);
  return (unsigned short)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

static __device__ __forceinline__ float bfloat_value(unsigned short b) { return __uint_as_float((unsigned)b << 16); }

static __device__ __forceinline__ float tf32_value(float x) {
  unsigned u = __float_as_uint(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return x;
  return __uint_as_float((u + 0x1000u) & 0xffffe000u);
}
