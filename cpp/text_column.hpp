// A growing array that can be handed to NumPy without a copy.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace surefoot::text {

template <class T>
class Column {
 public:
  Column() = default;
  Column(Column&& other) noexcept { *this = std::move(other); }
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Column() { std::free(data_); }

  std::size_t size() const { return size_; }
  const T* data() const { return data_; }
  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  void push_back(T value) { *extend(1) = value; }
  void clear() { size_ = 0; }

  // Room for n more entries at the end; large blocks grow in place where the system can move pages.
  T* extend(std::size_t n) {
    if (size_ + n > capacity_ || data_ == nullptr) {
      std::size_t larger = capacity_ + capacity_ / 2;
      if (larger < size_ + n) larger = size_ + n;
      if (larger < 64) larger = 64;
      void* moved = std::realloc(data_, larger * sizeof(T));
      if (moved == nullptr) throw std::bad_alloc();
      data_ = static_cast<T*>(moved);
      capacity_ = larger;
    }
    T* place = data_ + size_;
    size_ += n;
    return place;
  }

  // Room for n entries in all, if memory for them can be had: no more moves, and few page faults. What is
  // never used stays unclaimed.
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    void* moved = std::realloc(data_, n * sizeof(T));
    if (moved == nullptr) return;
    data_ = static_cast<T*>(moved);
    capacity_ = n;
#if defined(__linux__)
    constexpr std::uintptr_t huge = std::uintptr_t{1} << 21;
    const auto begin = (reinterpret_cast<std::uintptr_t>(data_) + huge - 1) & ~(huge - 1);
    const auto end = reinterpret_cast<std::uintptr_t>(data_ + capacity_) & ~(huge - 1);
    if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  }

  // Ownership to the caller, who frees it with std::free; never null.
  T* release() {
    if (data_ == nullptr) extend(0);
    if (size_ < capacity_ && size_ > 0) {
      void* fitted = std::realloc(data_, size_ * sizeof(T));
      if (fitted != nullptr) data_ = static_cast<T*>(fitted);
    }
    T* data = data_;
    data_ = nullptr;
    size_ = capacity_ = 0;
    return data;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace surefoot::text
