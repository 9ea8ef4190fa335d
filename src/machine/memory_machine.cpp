#include "faro/machine/memory_machine.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "faro/error.hpp"
#include "rounding.hpp"

namespace faro::machine {
namespace {

using faro::detail::round_up;

// Bytes of all blocks of a wave. Addresses and their sums then stay far from 2^64.
constexpr std::uint64_t kMaxSharedBytes = std::uint64_t{1} << 40;

constexpr std::size_t kChunkWords = std::size_t{1} << 12;

}  // namespace

MemoryMachine::MemoryMachine(const MachineOptions& options)
    : timer_(options), word_shift_(std::countr_zero(options.word_bytes)) {}

int MemoryMachine::add_buffer(std::span<std::byte> bytes) {
  buffers_.push_back({bytes.data(), bytes.size(), buffer_words_});
  const std::uint64_t words = round_up(bytes.size(), options().word_bytes) >> word_shift_;
  buffer_words_ += round_up(words, options().width);
  return static_cast<int>(buffers_.size()) - 1;
}

void MemoryMachine::begin_launch(const Launch& launch) {
  const std::uint64_t p = options().threads;
  const std::uint64_t w = options().width;
  threads_ = launch.threads == 0 ? p : launch.threads;
  if (threads_ > p) {
    fail(ErrorCode::value, "run a program on a memory machine",
         "blocks of " + std::to_string(threads_) + " threads", "at most the machine's " + std::to_string(p),
         "give the machine more threads");
  }
  const std::uint64_t warps = (threads_ + w - 1) / w;
  blocks_per_wave_ = p / w / warps;

  const std::uint64_t together = std::min(blocks_per_wave_, launch.blocks);
  if (launch.shared_bytes > kMaxSharedBytes / std::max<std::uint64_t>(together, 1)) {
    fail(ErrorCode::value, "run a program on a memory machine",
         std::to_string(launch.shared_bytes) + " bytes of shared memory a block",
         "at most 2^40 bytes in all blocks of a wave");
  }
  shared_bytes_ = launch.shared_bytes;
  shared_stride_words_ = round_up(round_up(shared_bytes_, options().word_bytes) >> word_shift_, w);
  shared_of_wave_.assign(shared_bytes_ * together, std::byte{0});

  // After an error the last launch may have left a warp half done.
  timer_.abandon_phase();
  for (Asked& asked : asked_) asked.what = 0;
  used_ = 0;
  chunk_ = 0;
  chunk_used_ = 0;
}

void MemoryMachine::begin_wave(std::uint64_t first_block, std::uint64_t blocks_left) {
  if (first_block > 0) std::fill(shared_of_wave_.begin(), shared_of_wave_.end(), std::byte{0});
  first_block_ = first_block;
  blocks_in_wave_ = std::min(blocks_per_wave_, blocks_left);
}

void MemoryMachine::begin_block(std::uint64_t number_in_wave) {
  block_ = first_block_ + number_in_wave;
  shared_ = shared_of_wave_.data() + number_in_wave * shared_bytes_;
  if (options().kind == MachineKind::hmm) {
    dmm_ = number_in_wave % options().dmms;
    shared_first_word_ = 0;  // which multiple of w it is makes no difference to a DMM
  } else {
    shared_first_word_ = buffer_words_ + number_in_wave * shared_stride_words_;
  }
}

void MemoryMachine::grow() {
  const std::size_t made = asked_.size();
  asked_.resize(std::max<std::size_t>(16, 2 * made));
  next_ = asked_.data() + made;
  asked_end_ = asked_.data() + asked_.size();
}

void MemoryMachine::open(Asked& asked, std::uint32_t what, std::uint64_t word) {
  if (asked.what != 0) {
    fail_access("lanes of a warp that disagree on the kind or size of an access, at word " +
                std::to_string(word));
  }
  asked.begin = room_for(options().width * words_of_access(what));
  asked.end = asked.begin;
  asked.what = what;
}

std::uint64_t* MemoryMachine::room_for(std::uint64_t words) {
  while (chunk_ < chunks_.size() && chunks_[chunk_].size() - chunk_used_ < words) {
    ++chunk_;
    chunk_used_ = 0;
  }
  if (chunk_ == chunks_.size()) chunks_.emplace_back(std::max<std::size_t>(words, kChunkWords));
  std::uint64_t* room = chunks_[chunk_].data() + chunk_used_;
  chunk_used_ += words;
  return room;
}

void MemoryMachine::end_warp() {
  for (std::size_t k = 0; k < used_; ++k) {
    Asked& asked = asked_[k];
    if (asked.what == 0) continue;
    const auto kind = static_cast<Kind>(asked.what & 0xff);
    const bool is_shared = kind == Kind::shared_load || kind == Kind::shared_store;
    const auto words = static_cast<std::uint64_t>(asked.end - asked.begin);
    timer_.add(k, is_shared ? RoundTimer::Space::shared : RoundTimer::Space::global, {asked.begin, words},
               words / words_of_access(asked.what));
    asked.what = 0;
  }
  used_ = 0;
  chunk_ = 0;
  chunk_used_ = 0;
}

std::uint64_t MemoryMachine::words_of_access(std::uint32_t what) const {
  return std::max<std::uint64_t>(1, (what >> 8) >> word_shift_);
}

void MemoryMachine::fail_access(const std::string& what) const {
  fail(ErrorCode::internal, "run a program on a memory machine",
       what + ", by block " + std::to_string(block_) + ", thread " + std::to_string(thread_),
       "accesses that are in bounds, aligned and uniform in a warp");
}

void MemoryMachine::fail_buffer(int buffer, std::uint64_t offset) const {
  fail_access("an access to buffer " + std::to_string(buffer) + ", which there is not, at byte " +
              std::to_string(offset));
}

void MemoryMachine::fail_access(const char* kind, std::uint64_t at, std::uint64_t bytes) const {
  const std::string name = kind;
  fail_access((at % bytes != 0 ? "a misaligned " + name : "a " + name + " out of bounds") + " at byte " +
              std::to_string(at) + ", " + std::to_string(bytes) + " bytes");
}

}  // namespace faro::machine
