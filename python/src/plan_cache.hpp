// Plans that calls have made, by what was asked for.
//
//     permute_dims(x, (1, 0)), x of 2 x 3 floats on the host
//
//     key     operation  width  device  axes  shape  strides  argument      whole numbers, one after another
//                 0        4      0      2    2 3    12 4     2 2  1 1  1 0
//
// A device is its number plus one, 0 the host. An argument is told by its kind and value: numbers and None,
// tuples of them, texts; other objects by their address, which is no other's while the entry keeps them.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan_handle.hpp"

namespace faro::python {

namespace nb = nanobind;

using Key = std::vector<std::int64_t>;

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    std::uint64_t hash = 0x9e3779b97f4a7c15U;
    for (const std::int64_t word : key) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccdU;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

/// A plan for arrays of one shape, strides, width and device.
struct CachedPlan {
  nb::object plan_object;
  const PlanHandle* plan = nullptr;
  std::vector<Py_ssize_t> out_shape;
  double out_bytes = 0;
  bool holds_lock = true;             // while it runs
  std::uint64_t workspace_bytes = 0;  // of a GPU
  nb::object argument;     // kept, since a key may tell it by its address
};

/// Any number of threads may use it. When it is full it is emptied.
template <typename Kept>
class PlanCache {
 public:
  std::shared_ptr<const Kept> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
  }

  void add(const Key& key, std::shared_ptr<const Kept> entry) {
    Entries dropped;  // destroyed without the lock: it may run Python
    {
      const std::lock_guard lock(mutex_);
      if (entries_.size() >= kMostPlans) dropped.swap(entries_);
      entries_.insert_or_assign(key, std::move(entry));
    }
  }

  void clear() {
    Entries dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  static constexpr std::size_t kMostPlans = 1024;
  using Entries = std::unordered_map<Key, std::shared_ptr<const Kept>, KeyHash>;
  std::mutex mutex_;
  Entries entries_;
};

/// Adds so many bytes, in words.
inline void append_bytes(Key& key, const char* bytes, Py_ssize_t size) {
  for (Py_ssize_t at = 0; at < size; at += 8) {
    std::int64_t word = 0;
    std::memcpy(&word, bytes + at, static_cast<std::size_t>(std::min<Py_ssize_t>(size - at, 8)));
    key.push_back(word);
  }
}

/// Adds the words that tell an argument. Throws what Python raises.
inline void append_argument(Key& key, nb::handle argument) {
  PyObject* const object = argument.ptr();
  if (object == Py_None) return key.push_back(0);
  if (PyLong_CheckExact(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value != -1 || PyErr_Occurred() == nullptr) {
      key.push_back(1);
      return key.push_back(value);
    }
    PyErr_Clear();  // past 64 bits: by its address, as other objects
    key.push_back(4);
    return key.push_back(reinterpret_cast<std::intptr_t>(object));
  }
  if (PyFloat_CheckExact(object)) {
    key.push_back(5);
    return key.push_back(std::bit_cast<std::int64_t>(PyFloat_AsDouble(object)));
  }
  if (PyTuple_Check(object)) {
    const Py_ssize_t size = PyTuple_Size(object);
    key.push_back(2);
    key.push_back(size);
    for (Py_ssize_t i = 0; i < size; ++i) append_argument(key, PyTuple_GetItem(object, i));
    return;
  }
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) nb::raise_python_error();
    key.push_back(3);
    key.push_back(size);
    return append_bytes(key, text, size);
  }
  if (PyIndex_Check(object) != 0 && PyList_Check(object) == 0) {  // numpy's integers
    const nb::object value = nb::steal(PyNumber_Index(object));
    if (value.is_valid()) return append_argument(key, value);
    PyErr_Clear();  // none after all, such as a number of JAX that is traced: what plans says so
  }
  key.push_back(4);
  key.push_back(reinterpret_cast<std::intptr_t>(object));
}

}  // namespace faro::python
