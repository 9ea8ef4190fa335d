#include "faro/machine/machine_options.hpp"

#include <bit>
#include <string>

#include "faro/error.hpp"

namespace faro::machine {
namespace {
void require_in_range(const char* what, std::uint64_t value, std::uint64_t largest) {
  if (value >= 1 && value <= largest) return;
  fail(ErrorCode::value, "make a memory machine", std::string(what) + " " + std::to_string(value),
       "1 to " + std::to_string(largest));
}

}  // namespace

std::string_view name(MachineKind kind) noexcept {
  switch (kind) {
    case MachineKind::dmm:
      return "dmm";
    case MachineKind::umm:
      return "umm";
    case MachineKind::hmm:
      return "hmm";
  }
  return "";
}

void check(const MachineOptions& options) {
  require_in_range("width", options.width, kMaxWidth);
  require_in_range("latency", options.latency, kMaxLatency);
  require_in_range("threads", options.threads, kMaxThreads);
  require_in_range("DMMs", options.dmms, kMaxDmms);
  require_in_range("shared latency", options.shared_latency, kMaxLatency);
  require_in_range("bytes of a word:", options.word_bytes, kMaxWordBytes);
  if (!std::has_single_bit(options.word_bytes)) {
    fail(ErrorCode::value, "make a memory machine",
         "words of " + std::to_string(options.word_bytes) + " bytes", "a power of two");
  }
  if (options.threads % options.width != 0) {
    fail(ErrorCode::value, "make a memory machine",
         std::to_string(options.threads) + " threads of width " + std::to_string(options.width),
         "threads that the width divides",
         "threads run in warps of the width: take a multiple of " + std::to_string(options.width));
  }
  if (options.kind != MachineKind::hmm && (options.dmms != 1 || options.shared_latency != 1)) {
    fail(ErrorCode::value, "make a memory machine",
         options.dmms != 1 ? std::to_string(options.dmms) + " DMMs of the " + std::string(name(options.kind))
                           : "a shared latency of the " + std::string(name(options.kind)),
         "one memory", "only the hmm has memories of both kinds");
  }
}

}  // namespace faro::machine
