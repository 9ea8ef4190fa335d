// A host array in pieces, walked literally: gather, permute, scatter, and every byte of the output written
// once.
#include "engines/cuda/host/pieces.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "engine_support.hpp"
#include "engines/cpu.hpp"
#include "faro/engines/cuda.hpp"
#include "faro/error.hpp"
#include "plan_support.hpp"

namespace faro::cuda {
namespace pieces_test {

using testing::SplitMix64;

/// Stands in for the device: out[pi(x) ^ shift] = in[x] of a piece.
using Device = void (*)(const Problem& kind, f2::Word shift, const std::byte* in, std::byte* out);

void run_obvious_loop(const Problem& kind, f2::Word shift, const std::byte* in, std::byte* out) {
  const auto& map = std::get<Affine>(kind.permutation);
  const std::uint64_t width = kind.element_bytes;
  for (std::uint64_t b = 0; b < kind.batch; ++b) {
    for (std::uint64_t x = 0; x < f2::unit(map.bits()); ++x) {
      std::memcpy(out + ((b << map.bits()) + (map(x) ^ shift)) * width, in + ((b << map.bits()) + x) * width,
                  width);
    }
  }
}

// By a plan of the shifted map.
void run_cpu_engine(const Problem& kind, f2::Word shift, const std::byte* in, std::byte* out) {
  const auto& map = std::get<Affine>(kind.permutation);
  Problem shifted = kind;
  shifted.permutation = Affine(map.matrix(), map.complement() ^ shift);
  cpu::Executor(Plan(shifted, cpu::target(1))).run(in, out);
}

// Whether every pass of a plan can XOR `shift` on the targets that it was made for.
bool can_shift(const Plan& plan, f2::Word shift) {
  for (const Pass& pass : plan.passes()) {
    const f2::Word units = shift << plan.unit_bits_per_element();
    if (pass.kind == PassKind::copy && units != 0) return false;
    if (pass.kind == PassKind::segments && (units & f2::low_mask(pass.tile.segment_bits)) != 0) return false;
  }
  return true;
}

// Tiles and whole segments at sizes that are tested by the thousand.
Target gpu_like_target() {
  Target target = cpu::target(1);
  target.vector_bytes = 16;
  target.segment_bytes_max = 512;
  target.tile_bytes_max = std::uint64_t{64} << 10;
  target.direct_bytes_max = 64;
  return target;
}

std::string describe(const Problem& problem, const PieceLimits& limits) {
  return testing::describe(problem) + ", pieces of " + std::to_string(limits.piece_bytes) +
         " bytes, segments of at least " + std::to_string(limits.segment_bytes);
}

void expect_pieces_permute(const Problem& problem, const PieceLimits& limits, Device device,
                           std::uint64_t seed) {
  SCOPED_TRACE(describe(problem, limits) + ", seed " + std::to_string(seed));
  const std::uint64_t bytes = total_bytes(problem);
  testing::Arrays arrays(bytes, 0, 0, seed);
  std::vector<int> written(bytes);

  const Pieces pieces(problem, limits);
  ASSERT_LE(pieces.piece_bytes(), limits.piece_bytes);
  ASSERT_LE(pieces.kinds().size(), 2);
  std::vector<std::vector<Plan>> plans;  // by kind
  for (const Problem& kind : pieces.kinds()) {
    plans.push_back({Plan(kind, gpu_like_target()), Plan(kind, target_of_capability(9, 0))});
  }
  std::vector<std::byte> piece_in(pieces.piece_bytes());
  std::vector<std::byte> piece_out(pieces.piece_bytes());
  for (std::uint64_t k = 0; k < pieces.count(); ++k) {
    const Piece piece = pieces[k];
    ASSERT_LE(piece.bytes(), pieces.piece_bytes());
    ASSERT_EQ(piece.bytes(), total_bytes(pieces.kinds()[piece.kind]));
    for (const Plan& plan : plans[piece.kind]) {
      ASSERT_TRUE(can_shift(plan, piece.target_shift)) << plan.explain();
    }
    const auto& map = std::get<Affine>(pieces.kinds()[piece.kind].permutation);
    ASSERT_EQ(piece.target_shift & ~map.complement(), 0);
    for (std::uint64_t row = 0; row < piece.rows; ++row) {
      const std::uint64_t from = pieces.source_of_row(piece, row);
      ASSERT_LE(from + piece.segment_bytes, bytes);
      std::memcpy(&piece_in[row * piece.segment_bytes], arrays.in() + from, piece.segment_bytes);
    }
    device(pieces.kinds()[piece.kind], piece.target_shift, piece_in.data(), piece_out.data());
    for (std::uint64_t row = 0; row < piece.rows; ++row) {
      const std::uint64_t to = pieces.target_of_row(piece, row);
      ASSERT_LE(to + piece.segment_bytes, bytes);
      std::memcpy(arrays.out() + to, &piece_out[row * piece.segment_bytes], piece.segment_bytes);
      for (std::uint64_t i = 0; i < piece.segment_bytes; ++i) ++written[to + i];
    }
  }
  for (std::uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(written[i], 1) << "byte " << i;
  const auto wrong = testing::first_wrong(problem, arrays.in(), arrays.out());
  EXPECT_FALSE(wrong.has_value()) << *wrong;
  EXPECT_TRUE(arrays.guards_intact());
  EXPECT_TRUE(arrays.input_intact());
}

// Every size of piece from one element to the whole problem, and one that is no power of two.
std::vector<std::uint64_t> piece_sizes(const Problem& problem) {
  std::vector<std::uint64_t> sizes;
  const std::uint64_t total = total_bytes(problem);
  for (std::uint64_t size = problem.element_bytes; size < 2 * total; size *= 2) sizes.push_back(size);
  if (total > 0) sizes.push_back(total / 2 + problem.element_bytes + 1);
  return sizes;
}

TEST(Pieces, EveryMapAtEverySize) {
  std::uint64_t seed = 1;
  std::set<std::string> reached;
  for (const int n : {0, 1, 2, 3, 5, 8, 9}) {
    for (const Affine& map : testing::maps_of(n, static_cast<std::uint64_t>(n) + 7)) {
      for (const std::uint64_t width : {1U, 4U}) {
        const Problem problem{.permutation = map, .element_bytes = width, .batch = 1};
        for (const std::uint64_t size : piece_sizes(problem)) {
          expect_pieces_permute(problem, {.piece_bytes = size, .segment_bytes = 1}, run_obvious_loop, ++seed);
          if (HasFatalFailure()) return;
          const Pieces pieces(problem, {.piece_bytes = size, .segment_bytes = 1});
          reached.insert(pieces.count() == 1 ? "one piece" : "many pieces");
          reached.insert(pieces[0].rows == 1 ? "one row" : "many rows");
          for (std::uint64_t k = 0; k < pieces.count(); ++k) {
            reached.insert(pieces[k].target_shift == 0 ? "no shift" : "shift");
          }
        }
      }
    }
  }
  EXPECT_EQ(reached,
            (std::set<std::string>{"one piece", "many pieces", "one row", "many rows", "no shift", "shift"}));
}

TEST(Pieces, RandomProblemsByTheCpuEngine) {
  SplitMix64 random{20261121};
  const int rounds = testing::kInstrumented ? 60 : 400;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t seed = random();
    const int width_bits = static_cast<int>(random() % 13);
    const int n = static_cast<int>(random() % static_cast<std::uint64_t>(std::max(1, 17 - width_bits)));
    const std::uint64_t batches[] = {0, 1, 2, 3, 4, 7, 8, 12};
    const auto maps = testing::maps_of(n, seed);
    const Problem problem{.permutation = maps[random() % maps.size()],
                          .element_bytes = std::uint64_t{1} << width_bits,
                          .batch = batches[random() % std::size(batches)]};
    const auto sizes = piece_sizes(problem);
    const std::uint64_t size =
        sizes.empty() ? problem.element_bytes : sizes[static_cast<std::size_t>(random() % sizes.size())];
    // Pieces of a few elements are many, and each is planned anew here.
    const std::uint64_t most_pieces = 4096;
    const std::uint64_t piece = std::max(size, std::bit_ceil(total_bytes(problem) / most_pieces + 1));
    const PieceLimits limits{.piece_bytes = std::max(piece, problem.element_bytes), .segment_bytes = 1};
    expect_pieces_permute(problem, limits, run_cpu_engine, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Pieces, BatchesOfEveryCount) {
  for (const std::uint64_t batch : {0U, 1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 100U}) {
    for (const std::uint64_t width : {1U, 16U, 4096U}) {
      const Problem problem{.permutation = maps::random_bmmc(3, 5), .element_bytes = width, .batch = batch};
      for (const std::uint64_t size : piece_sizes(problem)) {
        expect_pieces_permute(problem, {.piece_bytes = size, .segment_bytes = 1}, run_obvious_loop, batch);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Pieces, ByHand) {
  // Four pieces {0 1 8 9} {2 3 10 11} {4 5 12 13} {6 7 14 15}, as the header says.
  const Problem problem{.permutation = maps::bit_reversal(4), .element_bytes = 1};
  const Pieces pieces(problem, {.piece_bytes = 4, .segment_bytes = 1});
  ASSERT_EQ(pieces.count(), 4);
  EXPECT_EQ(pieces.segment_bytes(), 2);
  const Piece piece = pieces[1];
  EXPECT_EQ(piece.rows, 2);
  EXPECT_EQ(pieces.source_of_row(piece, 0), 2);
  EXPECT_EQ(pieces.source_of_row(piece, 1), 10);
  EXPECT_EQ(pieces.target_of_row(piece, 0), 4);  // 2 = 0010 goes to 0100
  EXPECT_EQ(pieces.target_of_row(piece, 1), 12);
  EXPECT_EQ(piece.target_shift, 0);
}

TEST(Pieces, ArraysKeptWholeAreNotCut) {
  const Problem problem{.permutation = maps::bit_reversal(10), .element_bytes = 4, .batch = 11};
  const Pieces pieces(problem, {.piece_bytes = 5 * 4096});
  ASSERT_EQ(pieces.count(), 3);  // 4 + 4 + 3 arrays
  ASSERT_EQ(pieces.kinds().size(), 2);
  EXPECT_EQ(pieces.kinds()[0].batch, 4);
  EXPECT_EQ(pieces.kinds()[1].batch, 3);
  EXPECT_EQ(pieces[2].array_bytes, 8 * 4096);
  EXPECT_EQ(pieces[2].bytes(), 3 * 4096);
  EXPECT_EQ(pieces.segment_bytes(), 4 * 4096);
}

// The largest problem that there is: 2^40 elements, far past any device's memory.
TEST(Pieces, LargestProblem) {
  const Problem problem{.permutation = maps::random_bmmc(kMaxProblemBits, 3), .element_bytes = 4096};
  const StagingSizes sizes = choose_sizes(problem, std::uint64_t{80} << 30);
  const Pieces pieces(problem, {.piece_bytes = sizes.piece_bytes});
  const auto& map = std::get<Affine>(problem.permutation);
  const Piece piece = pieces[pieces.count() - 1];
  const auto& local = std::get<Affine>(pieces.kinds()[0].permutation);
  SplitMix64 random{9};
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t place = random() & f2::low_mask(local.bits());
    const std::uint64_t in_segment = piece.segment_bytes / problem.element_bytes;
    const std::uint64_t target = local(place) ^ piece.target_shift;
    const std::uint64_t x =
        pieces.source_of_row(piece, place / in_segment) / problem.element_bytes + place % in_segment;
    const std::uint64_t y =
        pieces.target_of_row(piece, target / in_segment) / problem.element_bytes + target % in_segment;
    ASSERT_EQ(map(x), y);
  }
}

TEST(StagingSizes, FitAndHaveLongSegments) {
  SplitMix64 random{77};
  for (int round = 0; round < 2000; ++round) {
    const int n = static_cast<int>(random() % 37);
    const int width_bits = static_cast<int>(random() % 13);
    const auto maps = testing::maps_of(n, random());
    const Problem problem{.permutation = maps[random() % maps.size()],
                          .element_bytes = std::uint64_t{1} << width_bits,
                          .batch = random() % 5};
    const std::uint64_t device_bytes = (random() % 1024) << (10 + random() % 20);
    SCOPED_TRACE(testing::describe(problem) + ", device of " + std::to_string(device_bytes) + " bytes");
    if (total_bytes(problem) == 0) continue;
    try {
      const StagingSizes sizes = choose_sizes(problem, device_bytes);
      const Pieces pieces(problem, {.piece_bytes = sizes.piece_bytes});
      ASSERT_LE(sizes.device_bytes(), device_bytes);
      ASSERT_GE(sizes.in_flight, 1);
      ASSERT_LE(static_cast<std::uint64_t>(sizes.in_flight), pieces.count());
      const std::uint64_t array = total_bytes(problem) / problem.batch;
      ASSERT_GE(pieces.segment_bytes(), std::min(array, kLeastSegmentBytes));
      if (device_bytes >= std::uint64_t{128} << 20) {
        ASSERT_GE(pieces.segment_bytes(), std::min(array, kGoodSegmentBytes));
        ASSERT_TRUE(sizes.in_flight == 3 || static_cast<std::uint64_t>(sizes.in_flight) == pieces.count());
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      ASSERT_LT(device_bytes, 2 * least_piece_bytes(problem, kLeastSegmentBytes)) << error.what();
    }
  }
}

TEST(StagingSizes, SaysWhatItNeeds) {
  const Problem problem{.permutation = maps::bit_reversal(30), .element_bytes = 1};
  const auto message = [&](std::uint64_t device, std::uint64_t piece) -> std::string {
    try {
      choose_sizes(problem, device, piece);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      return error.what();
    }
    return "no error";
  };
  // Segments of 512 bytes make tiles of 512 x 512.
  EXPECT_NE(message(100000, 0).find("at least 524288 bytes"), std::string::npos) << message(100000, 0);
  EXPECT_NE(message(1 << 30, 4096).find("at least 262144 bytes"), std::string::npos)
      << message(1 << 30, 4096);
  EXPECT_EQ(message(524288, 0), "no error");
  EXPECT_EQ(message(1 << 30, 262144), "no error");
}

}  // namespace pieces_test
}  // namespace faro::cuda
