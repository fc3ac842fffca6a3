// Elementary functions on floats, written so that loops over them become vector code. Accurate to
// about two units in the last place; the same IEEE operations on every instruction set, so results
// do not depend on the machine's vector width.
#pragma once

#include <cstdint>
#include <cstring>

#include "clones.hpp"

namespace surefoot {

SUREFOOT_INLINE float bits_to_float(std::uint32_t bits) {
  float out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

SUREFOOT_INLINE std::uint32_t float_to_bits(float value) {
  std::uint32_t out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

// Natural logarithm of a positive normal number; polynomial of Cephes' logf (Moshier).
SUREFOOT_INLINE float lane_log(float x) {
  // mantissa in [sqrt(1/2), sqrt(2)): 0x3f3504f3 is sqrt(1/2)
  const std::uint32_t bits = float_to_bits(x) - 0x3f3504f3u;
  const float e = static_cast<float>(static_cast<std::int32_t>(bits) >> 23);
  const float m = bits_to_float((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  return (m + (m * z * p + (e * -2.12194440e-4f - 0.5f * z))) + e * 0.693359375f;
}

// Exponential; arguments beyond +-87 saturate. Polynomial of Cephes' expf.
SUREFOOT_INLINE float lane_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 87.0f ? 87.0f : x;
  const float shifted = x * 1.44269504088896341f + 12582912.0f;  // rounds to an integer in the low bits
  const std::int32_t n = static_cast<std::int32_t>(float_to_bits(shifted)) - 0x4b400000;
  const float k = shifted - 12582912.0f;
  const float r = (x - k * 0.693359375f) - k * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float y = (p * r * r + r) + 1.0f;
  return y * bits_to_float(static_cast<std::uint32_t>(n + 127) << 23);
}

// Sine and cosine of a full turn times word / 2^32; the quadrant comes from the word's high bits, so
// the reduction is exact.
SUREFOOT_INLINE void lane_sincos_turn(std::uint32_t word, float& sine, float& cosine) {
  const std::uint32_t quadrant = (word + 0x20000000u) >> 30;
  const auto rest = static_cast<std::int32_t>(word - (quadrant << 30));
  const float r = static_cast<float>(rest) * 1.46291807926715968e-9f;  // 2 pi / 2^32
  const float z = r * r;
  const float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
  const float c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) *
                      z * z - 0.5f * z + 1.0f;
  const bool swap = quadrant & 1u;
  const float a = swap ? c : s;
  const float b = swap ? s : c;
  sine = (quadrant & 2u) ? -a : a;
  cosine = ((quadrant + 1u) & 2u) ? -b : b;
}

// Uniform on (0, 1] with steps of 2^-32 near zero.
SUREFOOT_INLINE float lane_uniform(std::uint32_t word) {
  const float high = static_cast<float>(static_cast<std::int32_t>(word >> 8));
  const float low = static_cast<float>(static_cast<std::int32_t>(word & 255u));
  return high * 0x1.0p-24f + (low + 0.5f) * 0x1.0p-32f;
}

// Philox4x32-10 for one lane, counters in place; the scalar form is in philox.hpp. The rounds are
// written out because a loop around them keeps compilers from vectorising over the lanes.
SUREFOOT_INLINE void lane_philox_round(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2,
                                       std::uint32_t& c3, std::uint32_t k0, std::uint32_t k1) {
  const std::uint64_t p0 = 0xD2511F53ull * c0;
  const std::uint64_t p1 = 0xCD9E8D57ull * c2;
  c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
  c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
  c1 = static_cast<std::uint32_t>(p1);
  c3 = static_cast<std::uint32_t>(p0);
}

SUREFOOT_INLINE void lane_philox(std::uint32_t& c0, std::uint32_t& c1, std::uint32_t& c2,
                                 std::uint32_t& c3, std::uint32_t k0, std::uint32_t k1) {
  constexpr std::uint32_t w0 = 0x9E3779B9u, w1 = 0xBB67AE85u;
  lane_philox_round(c0, c1, c2, c3, k0, k1);
  lane_philox_round(c0, c1, c2, c3, k0 + w0, k1 + w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 2 * w0, k1 + 2 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 3 * w0, k1 + 3 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 4 * w0, k1 + 4 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 5 * w0, k1 + 5 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 6 * w0, k1 + 6 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 7 * w0, k1 + 7 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 8 * w0, k1 + 8 * w1);
  lane_philox_round(c0, c1, c2, c3, k0 + 9 * w0, k1 + 9 * w1);
}

}  // namespace surefoot
