// Work sharing for kernels. Every task index is computed independently of the thread that runs it,
// so results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace surefoot {

inline int resolve_threads(int requested) {
  if (requested > 0) return requested;
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}

// Threads that somebody else keeps: GOMP_parallel of GNU's OpenMP, (function, argument, threads, 0).
// A library's OpenMP threads spin for some milliseconds after their work, so threads of our own would
// have to share the cores with them.
using Team = void (*)(void (*)(void*), void*, unsigned, unsigned);

// body(begin, end) is called on chunks of [0, n); chunks never overlap.
template <class Body>
void parallel_chunks(std::int64_t n, std::int64_t chunk, int threads, Body&& body,
                     Team team = nullptr) {
  if (n <= 0) return;
  chunk = std::max<std::int64_t>(chunk, 1);
  const std::int64_t n_chunks = (n + chunk - 1) / chunk;
  const int workers = static_cast<int>(std::min<std::int64_t>(resolve_threads(threads), n_chunks));
  if (workers <= 1) {
    for (std::int64_t c = 0; c < n_chunks; ++c) body(c * chunk, std::min(n, (c + 1) * chunk));
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  auto run = [&] {
    try {
      for (;;) {
        const std::int64_t c = next.fetch_add(1);
        if (c >= n_chunks) return;
        body(c * chunk, std::min(n, (c + 1) * chunk));
      }
    } catch (...) {
      std::lock_guard<std::mutex> guard(error_lock);
      if (!error) error = std::current_exception();
      next.store(n_chunks);
    }
  };
  if (team) {
    team([](void* argument) { (*static_cast<decltype(run)*>(argument))(); }, &run,
         static_cast<unsigned>(workers), 0);
    if (error) std::rethrow_exception(error);
    return;
  }
  std::vector<std::thread> pool;
  pool.reserve(static_cast<std::size_t>(workers - 1));
  try {
    for (int i = 1; i < workers; ++i) pool.emplace_back(run);
  } catch (const std::system_error&) {
    // the system gives no more threads: those there are do all of the work
  }
  run();
  for (auto& t : pool) t.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace surefoot
