// The published ladder of kernels, and ours, timed on a GPU: every rung of one map takes turns with a plain
// copy.
//
//     family         maps                         rungs
//     random BPC     5, of seeds S .. S + 4       naive  tile  banks  iters  two-pass  one-pass
//     bit reversal   1                            the same
//     random BMMC    5                            naive  tile x 2  banks x 2  two-pass  one-pass
//
// A BMMC is no tiled map: the paper factors it into two that are, and runs tile or banks for each. Rung
// two-pass does the same with rows of 16-byte vectors, which is the emitter's own.
//
// The text of every rung is what `faro emit` writes, compiled while this runs. Each result is verified
// element by element on the device before it is timed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faro/emit/emit.hpp"
#include "faro/measure.hpp"
#include "reproduce/tables.hpp"

namespace faro::reproduce {

enum class Family { random_bpc, bit_reversal, random_bmmc, transpose };
/// The maps of figures 9 to 11.
inline constexpr Family kFamilies[] = {Family::random_bpc, Family::bit_reversal, Family::random_bmmc};

/// "random BPC", "bit reversal", "random BMMC" or "transpose".
const char* name(Family family) noexcept;

/// Those of random_bmmc, tile and banks, are of its two factors, one after the other.
std::vector<emit::Rung> rungs_of(Family family);

/// The last of the paper's own rungs: iters, or banks for BMMC.
emit::Rung published_rung(Family family);

struct NamedAffine {
  std::string spec;
  Affine map;
};

/// The maps of a family of kFamilies on n bits.
std::vector<NamedAffine> maps_of(Family family, int bits, std::uint64_t seed);

/// The times of one map, in 4-byte elements.
struct MapTimes {
  Family family = Family::random_bpc;
  std::string spec;
  Timing copy;
  std::vector<std::pair<emit::Rung, Timing>> rungs;

  const Timing& of(emit::Rung rung) const;
};

class LadderBench {
 public:
  /// Why nothing can be measured here, in one line; empty where it can.
  static std::string why_not();

  /// Arrays of 2^bits elements, or of as many as three of them fit the device's free memory.
  /// Errors: ErrorCode::device.
  explicit LadderBench(int bits);
  LadderBench(const LadderBench&) = delete;
  LadderBench& operator=(const LadderBench&) = delete;
  ~LadderBench();

  int bits() const;
  const std::string& device() const;

  /// Times every rung of rungs_of() that is `wanted`, on every map of every family, for arrays of 2^bits
  /// elements, bits <= bits() (checked). `budget_ms` is each map's. Errors: ErrorCode::verification for a
  /// kernel that does something else; ErrorCode::device.
  std::vector<MapTimes> measure(const std::function<bool(Family, emit::Rung)>& wanted, int bits,
                                std::uint64_t seed, double budget_ms) const;

  /// A map of 2^bits elements, and what is timed for it.
  struct Asked {
    Family family = Family::transpose;
    NamedAffine map;
    std::vector<emit::Rung> rungs;
  };
  /// The same of these maps, in their order.
  std::vector<MapTimes> measure(const std::vector<Asked>& asked, int bits, double budget_ms) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How LadderBench measures, for a table's notes.
inline constexpr const char* kTimedInTurns =
    "4-byte elements; each result verified on the device, then medians of kernels that take turns with the "
    "copy";

/// The bench for arrays of 2^bits elements and notes of what it runs on, or nothing and a note that says why.
std::unique_ptr<LadderBench> make_bench(Table& table, int bits);

/// A time of LadderBench, or what follows from one; nothing where there was no bench.
Row timed_row(const std::string& subject, const std::string& quantity, const Value& paper,
              std::optional<double> here, const char* unit);

}  // namespace faro::reproduce
