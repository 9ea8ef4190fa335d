// A permutation given by an array that names every element's index.
//
//     scatter  out[P[i]] = in[i]          P = 2 0 1      in  a b c      out  b c a
//     gather   out[i] = in[Q[i]]          Q = 2 0 1      in  a b c      out  c a b
//
// One array means two permutations, one the other's inverse, so every constructor takes the direction. An
// Indexed is a value: it shares one immutable array, of 32-bit entries up to 2^32 elements and of 64-bit ones
// beyond. Arrays of the host are checked when they come in. An array in a device's memory is only pointed to;
// the CUDA engine checks it when it plans (engines/cuda_index.hpp), and everything here that needs its
// entries refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace faro {

enum class Direction { scatter, gather };

/// "scatter" or "gather".
const char* name(Direction direction) noexcept;
constexpr Direction opposite(Direction direction) {
  return direction == Direction::scatter ? Direction::gather : Direction::scatter;
}

/// Entries of an index array as a file or another library has them.
struct IndexType {
  int bytes = 4;  // 4 or 8
  bool is_signed = false;
};

class Indexed {
 public:
  static constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 40;

  /// Takes the array over. Errors: ErrorCode::value where it is no permutation, naming the first entry out of
  /// range, else the first that came before, with both positions, and the smallest index that is missing.
  /// Cost: one sweep, and a bit an element of memory.
  Indexed(std::vector<std::uint32_t> indices, Direction direction);
  Indexed(std::vector<std::uint64_t> indices, Direction direction);

  /// The same from any of the types, unaligned too, little-endian. Errors: also for a negative entry, and for
  /// bytes that are no whole number of entries.
  static Indexed from_bytes(std::span<const std::byte> bytes, IndexType type, Direction direction);

  /// Entries in memory of device `device`, aligned to themselves; nothing is copied or checked, and `owner`
  /// (may be null) is kept as long as any copy of this. Made by cuda::indexed_on_device.
  static Indexed on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                           int device, std::shared_ptr<const void> owner);
  /// The same of entries that are a permutation by construction, or were checked, in memory that nothing
  /// else writes to: what the CUDA engine makes itself. They are not checked again.
  static Indexed valid_on_device(const void* indices, std::uint64_t count, IndexType type,
                                 Direction direction, int device, std::shared_ptr<const void> owner);

  /// A permutation of `count` elements drawn uniformly from `seed`: the same on every machine.
  static Indexed random(std::uint64_t count, std::uint64_t seed);

  std::uint64_t count() const;
  Direction direction() const { return direction_; }
  IndexType index_type() const;
  bool on_host() const { return !device_.has_value(); }
  std::optional<int> device() const { return device_; }
  /// Whether the entries are known to be a permutation: true of the host's, and of valid_on_device().
  bool is_checked() const;

  /// The entries: exactly one of the two is not empty (both are for a count of 0). Errors: ErrorCode::value
  /// for an array on a device.
  std::span<const std::uint32_t> entries32() const;
  std::span<const std::uint64_t> entries64() const;
  /// Entry i, P[i] or Q[i]. Requires: on_host(), i < count() (unchecked).
  std::uint64_t entry(std::uint64_t i) const;
  /// The array of a device.
  const void* device_entries() const;

  /// The same array read the other way: costs nothing.
  Indexed inverse() const;
  /// The same permutation with the other direction's array. Errors: ErrorCode::value on a device (cuda:: has
  /// its own).   Cost: a random store an element, all threads.
  Indexed redirected(Direction direction) const;

  /// A word for messages and to_text(): `@index.npy`, `random(1000, 7)`; empty without.
  const std::string& label() const { return label_; }
  Indexed labelled(std::string label) const;

  /// Whether they are the same permutation: arrays compared, of either direction. Requires: on_host()
  /// (checked).
  friend bool operator==(const Indexed& a, const Indexed& b);

 private:
  struct Storage;
  void require_host() const;
  /// Takes entries that are a permutation by construction: they are not checked.
  static Indexed of_valid(std::vector<std::uint32_t> indices, Direction direction);
  static Indexed of_valid(std::vector<std::uint64_t> indices, Direction direction);
  Indexed(std::shared_ptr<const Storage> storage, Direction direction, std::optional<int> device);
  std::shared_ptr<const Storage> storage_;
  Direction direction_ = Direction::scatter;
  std::optional<int> device_;
  std::string label_;
};

}  // namespace faro
