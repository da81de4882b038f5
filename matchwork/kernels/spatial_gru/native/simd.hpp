// SIMD vectors of the machine's width, and the functions that a cell needs.
//
// A *lane group* holds one batch item per lane and is two vectors wide: two vectors times six
// rows of weights fill the sixteen registers of the smallest machines without spilling.
#pragma once
#include <cstdint>
#include <cstring>
#include <iterator>

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

template <typename T> struct Simd;

template <> struct Simd<float> {
  typedef float Vec __attribute__((vector_size(kBytes), may_alias));
  typedef int32_t Bits __attribute__((vector_size(kBytes), may_alias));
};

template <> struct Simd<double> {
  typedef double Vec __attribute__((vector_size(kBytes), may_alias));
  typedef int64_t Bits __attribute__((vector_size(kBytes), may_alias));
};

template <typename T> using Vec = typename Simd<T>::Vec;
template <typename T> using Bits = typename Simd<T>::Bits;

template <typename T> constexpr int kWidth = kBytes / int(sizeof(T));
constexpr int kHalves = 2;
template <typename T> constexpr int kLanes = kHalves * kWidth<T>;

template <typename T> inline Vec<T> all(T value) { return value - Vec<T>{}; }

template <typename T> inline Vec<T> larger(Vec<T> a, Vec<T> b) { return a > b ? a : b; }
template <typename T> inline Vec<T> smaller(Vec<T> a, Vec<T> b) { return a < b ? a : b; }

template <typename T> inline double sum(Vec<T> values) {
  double total = 0;
  for (int lane = 0; lane < kWidth<T>; ++lane) total += double(values[lane]);
  return total;
}

// The constants of e^x in one type: e^r is 1 + r + r^2 * (the polynomial, highest power first).
template <typename T> struct Exponential;

template <> struct Exponential<float> {
  static constexpr float least = -87.0f, most = 88.0f;
  static constexpr float round = 12582912.0f;  // 1.5 * 2^23
  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  static constexpr int mantissa = 23;
  static constexpr int32_t one = 0x3f800000;
  static constexpr float polynomial[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                         4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
};

template <> struct Exponential<double> {
  static constexpr double least = -708.0, most = 709.0;
  static constexpr double round = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double ln2_high = 6.93145751953125e-1, ln2_low = 1.42860682030941723212e-6;
  static constexpr int mantissa = 52;
  static constexpr int64_t one = 0x3ff0000000000000;
  static constexpr double polynomial[] = {  // 1 / 13! ... 1 / 2!
      1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
      1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
      1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        0.5};
};

// e^x = 2^n e^r with |r| <= ln(2) / 2; n is read from the low bits of x / ln(2) + round.
// x is clamped where e^x is not a normal number; NaN, always the second argument, passes
// through. Computes several at once, because the steps of one depend on each other.
template <typename T, int kCount> inline void exponentials(Vec<T> (&x)[kCount]) {
  using E = Exponential<T>;
  Vec<T> shifted[kCount], square[kCount], y[kCount];
  for (auto &v : x) v = smaller<T>(all(E::most), larger<T>(all(E::least), v));
  for (int i = 0; i < kCount; ++i) shifted[i] = x[i] * T(1.44269504088896340736) + E::round;
  for (int i = 0; i < kCount; ++i) {
    const Vec<T> n = shifted[i] - E::round;
    x[i] = (x[i] - n * E::ln2_high) - n * E::ln2_low;
    y[i] = all(E::polynomial[0]);
    square[i] = x[i] * x[i];
  }
  for (const T *next = E::polynomial + 1; next != std::end(E::polynomial); ++next)
    for (int i = 0; i < kCount; ++i) y[i] = y[i] * x[i] + *next;
  for (int i = 0; i < kCount; ++i) {
    const Bits<T> scale = ((Bits<T>)shifted[i] << E::mantissa) + E::one;
    x[i] = (y[i] * square[i] + x[i] + T(1)) * (Vec<T>)scale;
  }
}

template <typename T, int kCount> inline void sigmoids(Vec<T> *x) {
  Vec<T> powers[kCount];
  for (int i = 0; i < kCount; ++i) powers[i] = -x[i];
  exponentials<T>(powers);
  for (int i = 0; i < kCount; ++i) x[i] = T(1) / (T(1) + powers[i]);
}

// x + x z P(z), z = x^2, for |x| < 0.625: keeps small values exact to rounding.
inline Vec<float> small_tanh(Vec<float> x) {
  const Vec<float> z = x * x;
  Vec<float> p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  return p * z * x + x;
}

inline Vec<double> small_tanh(Vec<double> x) {
  const Vec<double> z = x * x;
  Vec<double> p = z * -9.64399179425052238628e-1 - 9.92877231001918586564e1;
  p = p * z - 1.61468768441708447952e3;
  Vec<double> q = z + 1.12811678491632931402e2;
  q = q * z + 2.23548839060100448583e3;
  q = q * z + 4.84406305325125486048e3;
  return x + x * z * (p / q);
}

template <typename T, int kCount> inline void hyperbolic_tangents(Vec<T> *x) {
  Vec<T> powers[kCount];
  for (int i = 0; i < kCount; ++i) powers[i] = x[i] + x[i];
  exponentials<T>(powers);
  for (int i = 0; i < kCount; ++i) {
    const Vec<T> large = T(1) - T(2) / (powers[i] + T(1)), magnitude = x[i] < T(0) ? -x[i] : x[i];
    x[i] = magnitude < T(0.625) ? small_tanh(x[i]) : large;
  }
}

// a0 b0 a1 b1 ... from the lower or the upper halves of two vectors.
template <typename T> inline Vec<T> interleave(Vec<T> a, Vec<T> b, bool upper) {
  constexpr int width = kWidth<T>;
  const int first = upper ? width / 2 : 0;
#if defined(__clang__)
  Vec<T> mixed = a;
  for (int i = 0; i < width; ++i) mixed[i] = i % 2 ? b[first + i / 2] : a[first + i / 2];
  return mixed;
#else
  Bits<T> places = {};
  for (int i = 0; i < width; ++i) places[i] = first + i / 2 + (i % 2) * width;
  return __builtin_shuffle(a, b, places);
#endif
}

// Transpose a square of vectors by log2(width) perfect shuffles.
template <typename T> inline void transpose(Vec<T> (&square)[kWidth<T>]) {
  constexpr int width = kWidth<T>;
  for (int step = 1; step < width; step *= 2) {
    Vec<T> mixed[width];
    for (int i = 0; i < width / 2; ++i) {
      mixed[2 * i] = interleave<T>(square[i], square[i + width / 2], false);
      mixed[2 * i + 1] = interleave<T>(square[i], square[i + width / 2], true);
    }
    for (int i = 0; i < width; ++i) square[i] = mixed[i];
  }
}
