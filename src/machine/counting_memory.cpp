#include "faro/machine/counting_memory.hpp"

#include <algorithm>
#include <string>

#include "faro/error.hpp"

namespace faro::machine {
CountingMemory::CountingMemory(const Options& options)
    : options_(options),
      shared_(options.shared_bytes),
      shared_bytes_(options.shared_bytes, SharedByte{0, 0}),
      turns_(static_cast<std::uint64_t>(options.geometry.banks)),
      nowhere_{} {}

void CountingMemory::add_input(std::span<const std::byte> bytes) {
  buffers_.push_back({.role = Role::input, .size = bytes.size(), .input = bytes.data()});
}

void CountingMemory::add_output(std::span<std::byte> bytes) {
  buffers_.push_back({.role = Role::output,
                      .size = bytes.size(),
                      .output = bytes.data(),
                      .stored = std::vector<std::uint8_t>(bytes.size())});
}

void CountingMemory::add_virtual_input(std::uint64_t bytes) {
  buffers_.push_back({.role = Role::input, .size = bytes});
}

void CountingMemory::add_virtual_output(std::uint64_t bytes) {
  buffers_.push_back({.role = Role::output, .size = bytes});
}

bool CountingMemory::output_complete() const {
  return std::all_of(buffers_.begin(), buffers_.end(), [](const Buffer& b) {
    return std::all_of(b.stored.begin(), b.stored.end(), [](std::uint8_t stored) { return stored != 0; });
  });
}

void CountingMemory::begin_block(std::uint64_t block) {
  block_ = block;
  first_phase_of_block_ = phase_ + 1;
}

void CountingMemory::begin_thread(std::uint32_t thread) {
  thread_ = thread;
  lane_begin_.push_back(log_.size());
}

void CountingMemory::fail(const char* what, std::uint64_t address, int bytes) const {
  faro::fail(ErrorCode::internal, "run a kernel on the counting memory",
             std::string(what) + " at byte " + std::to_string(address) + ", " + std::to_string(bytes) +
                 " bytes, by block " + std::to_string(block_) + ", thread " + std::to_string(thread_),
             "accesses that are in bounds, aligned, ordered by barriers and uniform in a warp",
             "please report it with the problem's text");
}

void CountingMemory::log(Kind kind, int buffer, std::uint64_t address, int bytes) {
  const auto warp_size = static_cast<std::uint32_t>(options_.geometry.warp_size);
  log_.push_back({address, kind, static_cast<std::uint8_t>(bytes), static_cast<std::int8_t>(buffer),
                  static_cast<std::uint8_t>(thread_ % warp_size), 0});
}

CountingMemory::Buffer& CountingMemory::buffer_for(int buffer, std::uint64_t offset, int bytes,
                                                   const char* what) {
  const auto index = static_cast<std::size_t>(buffer);
  if (buffer < 0 || index >= buffers_.size()) fail("no such buffer", offset, bytes);
  const auto length = static_cast<std::uint64_t>(bytes);
  Buffer& b = buffers_[index];
  if (offset % length != 0) fail("misaligned access", offset, bytes);
  if (offset >= b.size || b.size - offset < length) fail(what, offset, bytes);
  return b;
}

const std::byte* CountingMemory::global_load(int buffer, std::uint64_t offset, int bytes, Kind kind) {
  static constexpr std::byte zeros[16] = {};
  const Buffer& b = buffer_for(buffer, offset, bytes, "global load out of bounds");
  if (b.role == Role::output) fail("load from an output", offset, bytes);
  log(kind, buffer, offset, bytes);
  return b.input == nullptr ? zeros : b.input + offset;
}

std::byte* CountingMemory::global_store(int buffer, std::uint64_t offset, int bytes) {
  Buffer& b = buffer_for(buffer, offset, bytes, "global store out of bounds");
  if (b.role == Role::input) fail("store to an input", offset, bytes);
  if (!mark_stored(b, offset, bytes)) fail("second store to a byte of output", offset, bytes);
  log(Kind::global_store, buffer, offset, bytes);
  return b.output == nullptr ? nowhere_ : b.output + offset;
}

// Whether all bytes were marked for the first time. Aligned accesses of up to 16 bytes lie within one word of
// the virtual marks.
bool CountingMemory::mark_stored(Buffer& buffer, std::uint64_t offset, int bytes) {
  if (buffer.output == nullptr) {
    constexpr unsigned word_bytes = 64;
    const std::uint64_t mask = ((std::uint64_t{1} << bytes) - 1) << offset % word_bytes;
    std::uint64_t& marks = buffer.stored_virtual[offset / word_bytes];
    const bool fresh = (marks & mask) == 0;
    marks |= mask;
    return fresh;
  }
  const auto first = buffer.stored.begin() + static_cast<std::ptrdiff_t>(offset);
  if (std::any_of(first, first + bytes, [](std::uint8_t stored) { return stored != 0; })) return false;
  std::fill(first, first + bytes, std::uint8_t{1});
  return true;
}

const std::byte* CountingMemory::shared_load(std::uint32_t address, int bytes) {
  const auto length = static_cast<std::size_t>(bytes);
  if (address % length != 0) fail("misaligned shared load", address, bytes);
  if (address >= shared_.size() || shared_.size() - address < length)
    fail("shared load out of bounds", address, bytes);
  for (std::size_t i = address; i < address + length; ++i) {
    const SharedByte& byte = shared_bytes_[i];
    if (byte.phase < first_phase_of_block_) fail("shared load of bytes never stored", address, bytes);
    if (byte.phase == phase_ && byte.thread != thread_)
      fail("shared load races with a store", address, bytes);
  }
  log(Kind::shared_load, -1, address, bytes);
  return shared_.data() + address;
}

std::byte* CountingMemory::shared_store(std::uint32_t address, int bytes) {
  std::byte* const target = shared_target(address, bytes, thread_);
  log(Kind::shared_store, -1, address, bytes);
  return target;
}

std::byte* CountingMemory::shared_target(std::uint32_t address, int bytes, std::uint32_t thread) {
  const auto length = static_cast<std::size_t>(bytes);
  if (address % length != 0) fail("misaligned shared store", address, bytes);
  if (address >= shared_.size() || shared_.size() - address < length)
    fail("shared store out of bounds", address, bytes);
  for (std::size_t i = address; i < address + length; ++i) {
    SharedByte& byte = shared_bytes_[i];
    if (byte.phase == phase_ && byte.thread != thread)
      fail("two threads store to one shared byte", address, bytes);
    byte = {phase_, thread};
  }
  return shared_.data() + address;
}

bool CountingMemory::next_request() {
  request_.clear();
  const std::size_t lanes = lane_at_.size();
  bool waiting = false;
  bool moved = false;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::size_t& at = lane_at_[lane];
    if (at == lane_begin_[lane + 1]) continue;
    if (log_[at].kind == Kind::converge) {
      waiting = true;
      continue;
    }
    moved = true;
    if (log_[at].kind != Kind::idle) request_.push_back(log_[at]);
    ++at;
  }
  if (moved || !waiting) return moved;
  for (std::size_t lane = 0; lane < lanes; ++lane) {  // all have met
    if (lane_at_[lane] != lane_begin_[lane + 1]) ++lane_at_[lane];
  }
  return true;
}

void CountingMemory::end_warp() {
  lane_at_ = lane_begin_;
  lane_begin_.push_back(log_.size());
  while (next_request()) {
    if (!request_.empty()) count_request(request_);
  }
  log_.clear();
  lane_begin_.clear();
}

void CountingMemory::count_request(std::span<const Access> lanes) {
  const Access& first = lanes.front();
  for (const Access& a : lanes) {
    if (a.kind != first.kind || a.bytes != first.bytes || a.buffer != first.buffer) {
      fail("lanes of a warp disagree on the kind of access", a.address, a.bytes);
    }
  }
  switch (first.kind) {
    case Kind::global_load:
      return count_global(lanes, counts_.global_loads);
    case Kind::global_store:
      return count_global(lanes, counts_.global_stores);
    case Kind::shared_load:
      return count_shared(lanes, counts_.shared_loads);
    case Kind::shared_store:
      return count_shared(lanes, counts_.shared_stores);
    case Kind::copy_past_cache:
      return count_copy(lanes, counts_.global_loads);
    case Kind::idle:
    case Kind::converge:
      return;
  }
}

void CountingMemory::list_units(std::span<const Access> lanes, int unit_bytes) {
  const auto unit = static_cast<std::uint64_t>(unit_bytes);
  units_.clear();
  for (const Access& a : lanes) {
    for (std::uint64_t u = a.address / unit; u * unit < a.address + a.bytes; ++u) units_.push_back(u);
  }
}

std::uint64_t CountingMemory::distinct_units(std::span<const Access> lanes, int unit_bytes) {
  list_units(lanes, unit_bytes);
  if (!std::is_sorted(units_.begin(), units_.end())) std::sort(units_.begin(), units_.end());
  units_.erase(std::unique(units_.begin(), units_.end()), units_.end());
  return units_.size();
}

void CountingMemory::count_global(std::span<const Access> lanes, GlobalCounts& counts) {
  counts.requests += 1;
  counts.bytes += lanes.size() * lanes.front().bytes;
  counts.sectors += distinct_units(lanes, options_.geometry.sector_bytes);
  counts.lines += distinct_units(lanes, options_.geometry.line_bytes);
}

// What the profiler counts as the sectors of copies that pass the first-level cache by are the lines that
// each sector of shared memory is filled from.
void CountingMemory::count_copy(std::span<const Access> lanes, GlobalCounts& counts) {
  counts.requests += 1;
  counts.bytes += lanes.size() * lanes.front().bytes;
  counts.lines += distinct_units(lanes, options_.geometry.line_bytes);
  const auto sector = static_cast<std::uint64_t>(options_.geometry.sector_bytes);
  const auto line = static_cast<std::uint64_t>(options_.geometry.line_bytes);
  copied_.clear();
  for (const Access& a : lanes) copied_.emplace_back(a.to / sector, a.address / line);
  std::sort(copied_.begin(), copied_.end());
  counts.sectors += static_cast<std::uint64_t>(std::unique(copied_.begin(), copied_.end()) - copied_.begin());
}

bool CountingMemory::agree(std::span<const Access> lanes, int apart) {
  return std::all_of(lanes.begin(), lanes.end(), [&](const Access& a) {
    const auto other = std::find_if(lanes.begin(), lanes.end(),
                                    [&](const Access& b) { return int{b.lane} == (int{a.lane} ^ apart); });
    return other == lanes.end() || other->address == a.address;
  });
}

void CountingMemory::count_shared(std::span<const Access> lanes, SharedCounts& counts) {
  counts.requests += 1;
  counts.bytes += lanes.size() * lanes.front().bytes;
  int together = options_.geometry.lanes_per_phase(lanes.front().bytes);
  const bool in_phases = together < options_.geometry.warp_size && lanes.front().kind == Kind::shared_load;
  if (in_phases && (agree(lanes, 1) || agree(lanes, 2))) together *= 2;
  for (auto first = lanes.begin(); first != lanes.end();) {
    const int phase = first->lane / together;
    const auto last =
        std::find_if(first, lanes.end(), [&](const Access& a) { return a.lane / together != phase; });
    counts.add_phase(congestion({first, last}));
    first = last;
  }
}

int CountingMemory::congestion(std::span<const Access> lanes) {
  list_units(lanes, options_.geometry.bank_bytes);
  return static_cast<int>(turns_.by_bank(units_));
}

}  // namespace faro::machine
