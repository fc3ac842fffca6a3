// Philox4x32-10, a counter-based generator (Salmon et al. 2011, SC'11): the n-th block of a stream is
// a pure function of (seed, stream, n), so draws do not depend on threads or chunks.
#pragma once

#include <array>
#include <cstdint>

namespace surefoot {

struct Philox {
  std::uint32_t key0, key1;
  explicit Philox(std::uint64_t seed)
      : key0(static_cast<std::uint32_t>(seed)), key1(static_cast<std::uint32_t>(seed >> 32)) {}

  // Block `index` of stream `stream`: four 32-bit words.
  inline std::array<std::uint32_t, 4> block(std::uint64_t stream, std::uint64_t index) const {
    std::uint32_t c0 = static_cast<std::uint32_t>(index), c1 = static_cast<std::uint32_t>(index >> 32);
    std::uint32_t c2 = static_cast<std::uint32_t>(stream), c3 = static_cast<std::uint32_t>(stream >> 32);
    std::uint32_t k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
      const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return {c0, c1, c2, c3};
  }
};

}  // namespace surefoot
