// Any bytes as a plan file: refused by name, or a permutation. Once as they are, and once with a checksum
// that fits, so that what lies behind it is reached.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "faro/error.hpp"
#include "schedule/plan_file.hpp"

namespace {

using namespace faro;
using namespace faro::schedule;

void require(bool condition, const char* law) {
  if (condition) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

class MemorySource final : public PlanSource {
 public:
  explicit MemorySource(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::span<std::byte> to) override {
    require(to.size() <= bytes_.size() - at_, "nothing is read past the end");
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + at_, to.size());
    at_ += to.size();
  }
  std::uint64_t left() const { return bytes_.size() - at_; }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

// Both directions, each element of which must come to its own place.
void require_permutation(const IndexSchedule& schedule) {
  require(schedule.count <= 4096 * 8, "a schedule is no larger than its file");
  std::vector<std::uint32_t> in(schedule.count);
  for (std::uint64_t i = 0; i < schedule.count; ++i) in[i] = static_cast<std::uint32_t>(i);
  std::vector<std::uint32_t> out(schedule.count);
  std::vector<std::uint32_t> back(schedule.count);
  run_by_definition(schedule, reinterpret_cast<const std::byte*>(in.data()),
                    reinterpret_cast<std::byte*>(out.data()), sizeof(std::uint32_t));
  run_by_definition(schedule.inverse(), reinterpret_cast<const std::byte*>(out.data()),
                    reinterpret_cast<std::byte*>(back.data()), sizeof(std::uint32_t));
  require(back == in, "the inverse brings everything back");
  std::sort(out.begin(), out.end());
  require(out == in, "every element comes out once");
}

void try_file(const std::vector<std::uint8_t>& bytes) {
  MemorySource source(bytes);
  try {
    const IndexSchedule schedule = read_plan(source, "fuzz");
    require(source.left() == 0, "all of the file is read");
    require(file_bytes(header_of(schedule)) == bytes.size(), "the file is as long as its schedule");
    require_permutation(schedule);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::file || error.code() == ErrorCode::value, "the file is at fault");
    require(std::string(error.what()).find('\n') == std::string::npos, "an error is one line");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint8_t> bytes(data, data + size);
  try_file(bytes);
  if (size < sizeof(std::uint64_t)) return 0;
  const std::uint64_t checksum = XXH3_64bits(data, size - sizeof(checksum));
  std::memcpy(bytes.data() + size - sizeof(checksum), &checksum, sizeof(checksum));
  try_file(bytes);
  return 0;
}
