// What is costly to make and may be asked for again: kept while it is among the most recently used.
//
//     capacity 2:  get(A) makes A  get(B) makes B  get(A)  get(C) makes C, forgets B  get(B) makes B again
//
// Whoever holds what get() returned keeps it alive; forgetting only ends the cache's own share in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "faro/error.hpp"

namespace faro::cuda {

/// Thread-safe. Several threads that ask for one key at the same time wait for the one of them that makes it.
template <typename Value>
class ModuleCache {
 public:
  using Shared = std::shared_ptr<const Value>;

  /// Requires: capacity > 0 (checked).
  explicit ModuleCache(std::size_t capacity) : capacity_(capacity) { FARO_CHECK(capacity > 0); }

  /// make() where the key is not known. What make() throws, every thread that waits gets; it is not kept.
  template <typename Make>
  Shared get(const std::string& key, const Make& make) {
    std::promise<Shared> promise;
    std::shared_future<Shared> future;
    std::uint64_t ticket = 0;    // 0: someone else makes it
    std::list<Entry> forgotten;  // destroyed when others may go on
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_key_.find(key);
      if (found != by_key_.end()) {
        order_.splice(order_.begin(), order_, found->second);
        future = found->second->value;
      } else {
        ticket = ++tickets_;
        future = promise.get_future().share();
        order_.push_front({.key = key, .value = future, .ticket = ticket});
        by_key_.emplace(key, order_.begin());
        if (order_.size() > capacity_) {
          by_key_.erase(order_.back().key);
          forgotten.splice(forgotten.begin(), order_, std::prev(order_.end()));
        }
      }
    }
    if (ticket == 0) return future.get();
    try {
      promise.set_value(make());
    } catch (...) {
      forget(key, ticket);
      promise.set_exception(std::current_exception());
    }
    return future.get();
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }

 private:
  struct Entry {
    std::string key;
    std::shared_future<Shared> value;
    std::uint64_t ticket = 0;
  };

  // Unless the key is another one's by now.
  void forget(const std::string& key, std::uint64_t ticket) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second->ticket != ticket) return;
    order_.erase(found->second);
    by_key_.erase(found);
  }

  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::uint64_t tickets_ = 0;
  std::list<Entry> order_;  // the most recently used first
  std::unordered_map<std::string, typename std::list<Entry>::iterator> by_key_;
};

}  // namespace faro::cuda
