#include "array_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace faro::python {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

struct MemoryBlock {
  void* begin = nullptr;
  std::size_t bytes = 0;
};

struct KeptMemory {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> lent;
  std::vector<MemoryBlock> kept;  // the oldest first
  std::uint64_t kept_bytes = 0;
  std::uint64_t most_bytes = kMostKeptBytes;
};

KeptMemory& kept() {
  static auto* const made = new KeptMemory;  // arrays may outlive everything else
  return *made;
}

// Whole huge pages, where the system has some. Null where there is no memory.
void* new_block(std::size_t bytes) {
  void* const found =
      mmap(nullptr, bytes + kHugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const first = static_cast<std::byte*>(found);
  const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(first)) % kHugePageBytes;
  if (before != 0) munmap(first, before);
  munmap(first + before + bytes, kHugePageBytes - before);
  madvise(first + before, bytes, MADV_HUGEPAGE);
  return first + before;
}

// Requires: the lock. The blocks that are kept no longer, for whoever has given the lock back.
std::vector<MemoryBlock> beyond_limit(KeptMemory& memory) {
  std::vector<MemoryBlock> over;
  while (memory.kept_bytes > memory.most_bytes) {
    over.push_back(memory.kept.front());
    memory.kept_bytes -= memory.kept.front().bytes;
    memory.kept.erase(memory.kept.begin());
  }
  return over;
}

void unmap(const std::vector<MemoryBlock>& blocks) {
  for (const MemoryBlock& block : blocks) munmap(block.begin, block.bytes);
}

// The smallest that is kept of at least so many bytes and not a quarter more; the newest of those, whose
// pages are the likeliest to be there still.
void* kept_block(KeptMemory& memory, std::size_t bytes) {
  auto best = memory.kept.end();
  for (auto block = memory.kept.begin(); block != memory.kept.end(); ++block) {
    const bool fits = block->bytes >= bytes && block->bytes - bytes <= bytes / 4;
    if (fits && (best == memory.kept.end() || block->bytes <= best->bytes)) best = block;
  }
  if (best == memory.kept.end()) return nullptr;
  const MemoryBlock found = *best;
  memory.kept.erase(best);
  memory.kept_bytes -= found.bytes;
  memory.lent.emplace(found.begin, found.bytes);
  return found.begin;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  if (bytes > PTRDIFF_MAX - 2 * kHugePageBytes) return nullptr;
  const std::size_t whole =
      std::max((bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes, kHugePageBytes);
  KeptMemory& memory = kept();
  {
    const std::lock_guard lock(memory.mutex);
    if (void* const found = kept_block(memory, whole)) return found;
  }
  void* const made = new_block(whole);
  if (made == nullptr) return nullptr;
  const std::lock_guard lock(memory.mutex);
  memory.lent.emplace(made, whole);
  return made;
}

void give_memory(void* memory_of) {
  if (memory_of == nullptr) return;
  KeptMemory& memory = kept();
  std::vector<MemoryBlock> over;
  const std::size_t bytes = memory_behind(memory_of);
  madvise(memory_of, bytes, MADV_FREE);  // before it is kept: whoever gets it next writes it
  {
    const std::lock_guard lock(memory.mutex);
    memory.lent.erase(memory_of);
    memory.kept.push_back({.begin = memory_of, .bytes = bytes});
    memory.kept_bytes += bytes;
    over = beyond_limit(memory);
  }
  unmap(over);
}

std::size_t memory_behind(void* memory_of) {
  KeptMemory& memory = kept();
  const std::lock_guard lock(memory.mutex);
  const auto found = memory.lent.find(memory_of);
  return found == memory.lent.end() ? 0 : found->second;
}

void keep_memory(std::uint64_t most_bytes) {
  KeptMemory& memory = kept();
  std::vector<MemoryBlock> over;
  {
    const std::lock_guard lock(memory.mutex);
    memory.most_bytes = most_bytes;
    over = beyond_limit(memory);
  }
  unmap(over);
}

std::uint64_t kept_memory() {
  KeptMemory& memory = kept();
  const std::lock_guard lock(memory.mutex);
  return memory.kept_bytes;
}

}  // namespace faro::python
