#include "faro/permutation/indexed.hpp"

#include <atomic>
#include <cstring>
#include <string_view>
#include <utility>

#include "faro/error.hpp"
#include "index_check.hpp"
#include "io/buffer.hpp"

namespace faro {
namespace {

constexpr std::uint64_t kMostCountOf32Bits = std::uint64_t{1} << 32;
void require_count(std::uint64_t count) {
  if (count > Indexed::kMaxCount) {
    fail(ErrorCode::value, "index array", std::to_string(count) + " entries", "at most 2^40");
  }
}

// Entries as they come: any address, any of the four types, a negative one sign-extended.
template <typename Word>
struct LooseEntries {
  const std::byte* bytes;
  std::uint64_t operator()(std::uint64_t i) const {
    Word word;
    std::memcpy(&word, bytes + i * sizeof(Word), sizeof(Word));
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(word));
  }
};

template <>
struct LooseEntries<std::uint32_t> {
  const std::byte* bytes;
  std::uint64_t operator()(std::uint64_t i) const {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes + i * sizeof(word), sizeof(word));
    return word;
  }
};

// A copy of the entries in another width. It is made before anything is checked but the range, and what is
// checked is the copy: a file that another process changes meanwhile cannot get past.
template <typename Word, typename Entry>
std::vector<Word> copied(std::uint64_t count, const Entry& entry, bool is_signed) {
  detail::require_memory("index array", std::to_string(count) + " entries", count * sizeof(Word));
  std::vector<Word> result(count);
  std::atomic<std::uint64_t> out_of_range{count};
  detail::for_each_index(count, [&](std::uint64_t i) {
    const std::uint64_t value = entry(i);
    if (value >= count) {
      detail::keep_smallest(out_of_range, i);
    } else {
      result[i] = static_cast<Word>(value);
    }
  });
  if (const std::uint64_t i = out_of_range.load(); i < count) {
    const std::uint64_t value = entry(i);
    detail::fail_entry_out_of_range(
        i, is_signed ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value), count);
  }
  return result;
}

template <typename Word>
std::vector<Word> inverted(std::span<const Word> entries) {
  std::vector<Word> result(entries.size());
  detail::for_each_index(entries.size(), [&](std::uint64_t i) { result[entries[i]] = static_cast<Word>(i); });
  return result;
}

// Whether holds(i) for each i; stops soon after the first that does not.
template <typename Holds>
bool all_of_indices(std::uint64_t count, const Holds& holds) {
  std::atomic<bool> all{true};
  detail::for_each_index(count, [&](std::uint64_t i) {
    if (all.load(std::memory_order_relaxed) && !holds(i)) all.store(false, std::memory_order_relaxed);
  });
  return all.load();
}

std::string inverse_label(const std::string& label) {
  constexpr std::string_view kOpen = "inverse(";
  if (label.empty()) return {};
  if (label.starts_with(kOpen) && label.ends_with(')')) {
    return label.substr(kOpen.size(), label.size() - kOpen.size() - 1);
  }
  return std::string(kOpen) + label + ")";
}

}  // namespace

const char* name(Direction direction) noexcept {
  return direction == Direction::scatter ? "scatter" : "gather";
}

// What all copies share. On the host one of the two arrays; on a device a pointer, and whoever keeps it
// alive.
struct Indexed::Storage {
  std::uint64_t count = 0;
  std::vector<std::uint32_t> narrow;
  std::vector<std::uint64_t> wide;
  IndexType type;
  const void* device_entries = nullptr;
  std::shared_ptr<const void> owner;
  bool is_checked = false;  // of a device's

  template <typename Word>
  static std::shared_ptr<const Storage> of(std::vector<Word> entries) {
    auto storage = std::make_shared<Storage>();
    storage->count = entries.size();
    storage->type = {.bytes = sizeof(Word), .is_signed = false};
    if constexpr (sizeof(Word) == sizeof(std::uint32_t)) {
      storage->narrow = std::move(entries);
    } else {
      storage->wide = std::move(entries);
    }
    return storage;
  }
};

Indexed::Indexed(std::shared_ptr<const Storage> storage, Direction direction, std::optional<int> device)
    : storage_(std::move(storage)), direction_(direction), device_(device) {}

Indexed::Indexed(std::vector<std::uint32_t> indices, Direction direction) : direction_(direction) {
  require_count(indices.size());
  detail::check_permutation(indices.data(), indices.size());
  storage_ = Storage::of(std::move(indices));
}

Indexed::Indexed(std::vector<std::uint64_t> indices, Direction direction) : direction_(direction) {
  require_count(indices.size());
  if (indices.size() <= kMostCountOf32Bits) {
    const auto entry = [&](std::uint64_t i) { return indices[i]; };
    *this = Indexed(copied<std::uint32_t>(indices.size(), entry, false), direction);
    return;
  }
  detail::check_permutation(indices.data(), indices.size());
  storage_ = Storage::of(std::move(indices));
}

Indexed Indexed::of_valid(std::vector<std::uint32_t> indices, Direction direction) {
  return {Storage::of(std::move(indices)), direction, std::nullopt};
}

Indexed Indexed::of_valid(std::vector<std::uint64_t> indices, Direction direction) {
  return {Storage::of(std::move(indices)), direction, std::nullopt};
}

Indexed Indexed::from_bytes(std::span<const std::byte> bytes, IndexType type, Direction direction) {
  if (type.bytes != 4 && type.bytes != 8) {
    fail(ErrorCode::value, "index array", "entries of " + std::to_string(type.bytes) + " bytes", "4 or 8");
  }
  const auto width = static_cast<std::uint64_t>(type.bytes);
  if (bytes.size() % width != 0) {
    fail(ErrorCode::value, "index array", std::to_string(bytes.size()) + " bytes",
         "a whole number of entries of " + std::to_string(width) + " bytes");
  }
  const std::uint64_t count = bytes.size() / width;
  require_count(count);
  const auto taken = [&](const auto& entry) {
    return count <= kMostCountOf32Bits
               ? Indexed(copied<std::uint32_t>(count, entry, type.is_signed), direction)
               : Indexed(copied<std::uint64_t>(count, entry, type.is_signed), direction);
  };
  if (type.bytes == 4 && !type.is_signed) return taken(LooseEntries<std::uint32_t>{bytes.data()});
  if (type.bytes == 4) return taken(LooseEntries<std::int32_t>{bytes.data()});
  return taken(LooseEntries<std::int64_t>{bytes.data()});
}

Indexed Indexed::on_device(const void* indices, std::uint64_t count, IndexType type, Direction direction,
                           int device, std::shared_ptr<const void> owner) {
  require_count(count);
  if (type.bytes != 4 && type.bytes != 8) {
    fail(ErrorCode::value, "index array", "entries of " + std::to_string(type.bytes) + " bytes", "4 or 8");
  }
  auto storage = std::make_shared<Storage>();
  storage->count = count;
  storage->type = type;
  storage->device_entries = indices;
  storage->owner = std::move(owner);
  return {std::move(storage), direction, device};
}

Indexed Indexed::valid_on_device(const void* indices, std::uint64_t count, IndexType type,
                                 Direction direction, int device, std::shared_ptr<const void> owner) {
  const Indexed unchecked = on_device(indices, count, type, direction, device, std::move(owner));
  auto storage = std::make_shared<Storage>(*unchecked.storage_);
  storage->is_checked = true;
  return {std::move(storage), direction, device};
}

bool Indexed::is_checked() const { return on_host() || storage_->is_checked; }

std::uint64_t Indexed::count() const { return storage_->count; }

IndexType Indexed::index_type() const { return storage_->type; }

std::span<const std::uint32_t> Indexed::entries32() const {
  require_host();
  return storage_->narrow;
}

std::span<const std::uint64_t> Indexed::entries64() const {
  require_host();
  return storage_->wide;
}

std::uint64_t Indexed::entry(std::uint64_t i) const {
  return storage_->wide.empty() ? storage_->narrow[i] : storage_->wide[i];
}

const void* Indexed::device_entries() const { return storage_->device_entries; }

void Indexed::require_host() const {
  if (on_host()) return;
  fail(ErrorCode::value, "index array", "an array in the memory of device " + std::to_string(*device_),
       "an array of the host", "cuda::to_host() copies it");
}

Indexed Indexed::inverse() const {
  Indexed result = *this;
  result.direction_ = opposite(direction_);
  result.label_ = inverse_label(label_);
  return result;
}

Indexed Indexed::redirected(Direction direction) const {
  if (direction == direction_) return *this;
  require_host();
  detail::require_memory("index array", "the inverse of " + std::to_string(count()) + " entries",
                         count() * static_cast<std::uint64_t>(storage_->type.bytes));
  Indexed result(storage_->wide.empty() ? Storage::of(inverted(std::span(storage_->narrow)))
                                        : Storage::of(inverted(std::span(storage_->wide))),
                 direction, std::nullopt);
  result.label_ = label_;
  return result;
}

Indexed Indexed::labelled(std::string label) const {
  Indexed result = *this;
  result.label_ = std::move(label);
  return result;
}

bool operator==(const Indexed& a, const Indexed& b) {
  a.require_host();
  b.require_host();
  if (a.count() != b.count()) return false;
  const bool same_direction = a.direction() == b.direction();
  if (same_direction && a.storage_ == b.storage_) return true;
  return same_direction
             ? all_of_indices(a.count(), [&](std::uint64_t i) { return a.entry(i) == b.entry(i); })
             : all_of_indices(a.count(), [&](std::uint64_t i) { return a.entry(b.entry(i)) == i; });
}

}  // namespace faro
