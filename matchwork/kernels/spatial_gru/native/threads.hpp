// Run jobs on threads: those of an OpenMP runtime already loaded by the process, if any.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

// How code compiled for OpenMP starts a parallel region; one that is loaded already is found by
// name. Its threads spin while they wait, so a second pool would compete for the cores.
using Parallel = void (*)(void (*work)(void *), void *data, unsigned threads, unsigned flags);

inline const pid_t kHome = getpid();

inline Parallel host_threads() {
  static const auto found = reinterpret_cast<Parallel>(dlsym(RTLD_DEFAULT, "GOMP_parallel"));
  return getpid() == kHome ? found : nullptr;  // a forked child has none of the threads
}

template <typename Loop> void run_on_new_threads(int64_t threads, const Loop &loop) {
  std::vector<std::thread> others;
  others.reserve(size_t(threads));
  try {
    for (int64_t i = 1; i < threads; ++i) others.emplace_back(loop);
  } catch (const std::system_error &) {
    // No more threads available: continue with those there are.
  }
  loop();
  for (std::thread &other : others) other.join();
}

// Run work(0) ... work(count - 1) on at most `threads` threads, including the caller's.
template <typename Work> void share(int64_t count, int64_t threads, const Work &work) {
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  auto loop = [&] {
    try {
      for (int64_t job = next++; job < count; job = next++) work(job);
    } catch (const std::bad_alloc &) {
      failed = true;
    }
  };
  threads = std::min(threads, count);
  if (threads <= 1)
    loop();
  else if (const Parallel parallel = host_threads())
    parallel([](void *given) { (*static_cast<decltype(loop) *>(given))(); }, &loop,
             unsigned(threads), 0);
  else
    run_on_new_threads(threads, loop);
  if (failed) throw std::bad_alloc();
}
