// Vectors of eight doubles, or sixteen floats, for the inner loops, as GCC and Clang have them for any machine: what it
// has no instruction for, the compiler does in halves or quarters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

// Compiles a function once more for AVX2 and for AVX-512; which one runs is found when the program starts. All give the
// same bits, since nothing in core is contracted to a fused multiply-add. Needs the indirect functions of glibc; the
// loader asks which to take before ThreadSanitizer is ready to be called.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_THREAD__)
#define ONNXFS_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define ONNXFS_VECTORISED
#endif

#define ONNXFS_INLINE [[gnu::always_inline]] inline

namespace onnxfs {

constexpr size_t lanes = 8;
typedef double Doubles __attribute__((vector_size(lanes * sizeof(double))));
typedef int64_t Masks __attribute__((vector_size(lanes * sizeof(int64_t))));  // of a comparison: -1 if true, else 0
typedef int32_t Integers __attribute__((vector_size(lanes * sizeof(int32_t))));

constexpr size_t float_lanes = 2 * lanes;
typedef float Floats __attribute__((vector_size(float_lanes * sizeof(float))));
typedef int32_t FloatMasks __attribute__((vector_size(float_lanes * sizeof(int32_t))));

// From and to any address.
ONNXFS_INLINE void load(const double* from, Doubles& to) { std::memcpy(&to, from, sizeof to); }
ONNXFS_INLINE void load(const float* from, Doubles& to) {
  typedef float Half __attribute__((vector_size(lanes * sizeof(float))));
  Half floats;
  std::memcpy(&floats, from, sizeof floats);
  to = __builtin_convertvector(floats, Doubles);
}
ONNXFS_INLINE void load(const float* from, Floats& to) { std::memcpy(&to, from, sizeof to); }
ONNXFS_INLINE void store(const Integers& from, int32_t* to) { std::memcpy(to, &from, sizeof from); }
ONNXFS_INLINE void store(const FloatMasks& from, int32_t* to) { std::memcpy(to, &from, sizeof from); }

ONNXFS_INLINE Doubles magnitude_of(const Doubles& x) {
  constexpr int64_t all_but_sign = std::numeric_limits<int64_t>::max();
  return (Doubles)((Masks)x & all_but_sign);
}
ONNXFS_INLINE Floats magnitude_of(const Floats& x) {
  constexpr int32_t all_but_sign = std::numeric_limits<int32_t>::max();
  return (Floats)((FloatMasks)x & all_but_sign);
}

template <typename Vector>
ONNXFS_INLINE auto sum_of(const Vector& vector) {
  static_assert(lanes == 8);
  return ((vector[0] + vector[1]) + (vector[2] + vector[3])) + ((vector[4] + vector[5]) + (vector[6] + vector[7]));
}

}  // namespace onnxfs
