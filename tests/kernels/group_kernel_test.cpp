// Groups of a GPU on the host's memory: drawn lists as launches, every block of every entry carried out by
// the phases that the device runs, held against the obvious loop; by other addresses, as a replayed graph has
// them. Sanitized: in `make test`, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "block_emulator.hpp"
#include "drawn_group.hpp"
#include "engines/cpu.hpp"
#include "faro/device/memory.hpp"
#include "faro/engines/cuda.hpp"
#include "kernels/affine_tile.hpp"
#include "kernels/affine_tile_blocked.hpp"
#include "kernels/axes_ragged_box.hpp"
#include "kernels/group.hpp"
#include "kernels/group_values.hpp"
#include "kernels/value_box.hpp"
#include "kernels/value_registers.hpp"
#include "kernels/value_turned.hpp"
#include "plan/gpu/group_launches.hpp"
#include "plan/gpu/value_boxes.hpp"
#include "plan/value_plan.hpp"
#include "refusal.hpp"

namespace faro {
namespace group_kernel_test {

using detail::GroupArray;
using detail::GroupLaunch;
using detail::GroupLaunches;
using device::DirectMemory;
using kernels::GroupBlock;
using kernels::GroupFamily;
using kernels::GroupTable;
using test::below;
using test::MemberArrays;
using testing::SplitMix64;

// What a launch's blocks do, one after another, in any order.
class Emulated {
 public:
  Emulated(const GroupLaunch& launch, const std::vector<std::byte>& params, const GroupTable& table)
      : launch_(launch), params_(params.data()), table_(table), shared_(launch.shared_bytes / 16 + 1) {}

  void run() {
    for (auto of = launch_.blocks.rbegin(); of != launch_.blocks.rend(); ++of) run_entry(*of);
  }

 private:
  struct alignas(16) Line {
    std::byte bytes[16];
  };

  DirectMemory memory_of(const GroupBlock& of) {
    return {table_.in(of), table_.out(of), reinterpret_cast<std::byte*>(shared_.data())};
  }

  template <typename... Phases>
  void run_phases(std::uint32_t threads, const Phases&... phases) {
    const auto each = [threads](const auto& phase) {
      for (std::uint32_t thread = 0; thread < threads; ++thread) phase(thread);
    };
    (each(phases), ...);
  }

  void run_entry(const GroupBlock& of) {
    DirectMemory memory = memory_of(of);
    switch (launch_.family.kind) {
      case GroupFamily::Kind::boxes:
        return kernels::with_group_kind<kernels::kGroupBoxes>(of.kind, [&](auto kind) {
          constexpr kernels::BoxShape shape = kernels::kBoxShapes[decltype(kind)::value];
          const auto& p = kernels::group_params<kernels::AxesBoxParams>(params_, of);
          using Thread = kernels::GroupBoxThread<shape>;
          for (std::uint32_t i = 0; i < of.count; ++i) {
            const kernels::RaggedBox& box = launch_.boxes.at(of.block + i);
            run_phases(
                kernels::kBoxThreads,
                [&](std::uint32_t t) {
                  Thread{p, t}.load(memory, box);
                },
                [&](std::uint32_t t) {
                  Thread{p, t}.store(memory, box, Thread{p, t}.writer());
                });
          }
        });
      case GroupFamily::Kind::elements:
        return kernels::with_group_kind<kernels::kGroupElements>(of.kind, [&](auto kind) {
          const auto& p = kernels::group_params<kernels::AxesElementsParams>(params_, of);
          run_phases(kernels::kGroupWarpLanes, [&](auto lane) {
            kernels::move_group_elements<decltype(kind)::value>(memory, p, of.block, lane);
          });
        });
      case GroupFamily::Kind::vectors:
        return kernels::with_group_kind<kernels::kGroupVectorKinds>(of.kind, [&](auto kind) {
          run_phases(kernels::kGroupVectorThreads, [&](auto t) {
            kernels::move_group_vectors<decltype(kind)::value>(memory, params_, of, t);
          });
        });
      case GroupFamily::Kind::planes:
        return kernels::with_group_kind<kernels::kGroupPlanes>(of.kind, [&](auto kind) {
          run_lines<kernels::GroupPlaneTile<decltype(kind)::value>>(memory, of);
        });
      case GroupFamily::Kind::stretches:
        return kernels::with_group_kind<kernels::kGroupStretches>(of.kind, [&](auto kind) {
          run_lines<kernels::GroupStretchTile<decltype(kind)::value>>(memory, of);
        });
      case GroupFamily::Kind::wholes:
        return kernels::with_group_kind<kernels::kGroupWholes>(of.kind, [&](auto kind) {
          constexpr int bytes = 1 << decltype(kind)::value;
          const auto& p = kernels::group_params<kernels::AxesWholeParams>(params_, of);
          run_phases(
              kernels::kWholeThreads,
              [&](auto t) { kernels::load_axes_whole<bytes>(memory, p, of.block, t); },
              [&](auto t) { kernels::store_axes_whole<bytes>(memory, p, of.block, t); });
        });
      case GroupFamily::Kind::tiles:
        return kernels::with_group_kind<kernels::kCompiledTileCount>(tile_number(), [&](auto number) {
          constexpr kernels::CompiledTile tile = kernels::kCompiledTiles[decltype(number)::value];
          using Params =
              std::conditional_t<tile.blocked, kernels::AffineBlockedParams, kernels::AffineTileParams>;
          const auto& p = kernels::group_params<Params>(params_, of);
          run_phases(
              static_cast<std::uint32_t>(tile.shape.threads()),
              [&](auto t) { kernels::load_tile<tile.shape>(memory, p, of.block, t); },
              [&](auto t) { kernels::store_tile<tile.shape>(memory, p, of.block, t); });
        });
      case GroupFamily::Kind::values:
        FAIL();
    }
  }

  template <typename Tile>
  void run_lines(DirectMemory& memory, const GroupBlock& of) {
    const auto& p = kernels::group_params<kernels::AxesLinesParams>(params_, of);
    const kernels::AxesLinesTile tile = kernels::axes_lines_tile(p, of.block);
    run_phases(
        static_cast<std::uint32_t>(launch_.threads), [&](auto t) { Tile::load(memory, p, tile, t); },
        [&](auto t) { Tile::store(memory, p, tile, t); });
  }

  std::uint32_t tile_number() const {
    const auto* const found = std::find(std::begin(kernels::kCompiledTiles),
                                        std::end(kernels::kCompiledTiles), launch_.family.tile);
    return static_cast<std::uint32_t>(found - std::begin(kernels::kCompiledTiles));
  }

  const GroupLaunch& launch_;
  const std::byte* params_;
  GroupTable table_;
  std::vector<Line> shared_;
};

// A list as a plan of the engine has it: equal problems share their passes.
class List {
 public:
  using Passes = std::optional<std::vector<detail::GpuPass>>;

  void add(const MemberArrays& arrays, const Target& target) {
    const auto same = std::find_if(known_.begin(), known_.end(), [&](const auto& known) {
      return known.first.view == arrays.problem.view && known.first.batch == arrays.problem.batch &&
             known.first.element_bytes == arrays.problem.element_bytes &&
             known.first.permutation == arrays.problem.permutation;
    });
    if (same == known_.end()) {
      known_.emplace_back(arrays.problem,
                          std::make_shared<Passes>(detail::group_passes(arrays.problem, target)));
      of_member.push_back(known_.back().second);
    } else {
      of_member.push_back(same->second);
    }
  }

  std::vector<std::shared_ptr<Passes>> of_member;

 private:
  std::vector<std::pair<Problem, std::shared_ptr<Passes>>> known_;
};

std::uint64_t past(const void* array) {
  return reinterpret_cast<std::uintptr_t>(array) % detail::kGroupAlignment;
}

// `enough_blocks`: of fewer blocks have an array's boxes several of them.
GroupLaunches launches_of(const List& list, std::vector<MemberArrays>& arrays,
                          std::uint64_t enough_blocks = detail::kEnoughGroupBlocks) {
  std::vector<GroupArray> grouped;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!*list.of_member[i]) continue;
    grouped.push_back({.passes = &**list.of_member[i],
                       .member = static_cast<std::uint32_t>(i),
                       .in_past = past(arrays[i].in()),
                       .out_past = past(arrays[i].out())});
  }
  return detail::make_group_launches(grouped, enough_blocks);
}

void run_all(const GroupLaunches& launches, std::vector<MemberArrays>& arrays) {
  std::vector<const std::byte*> addresses;
  for (MemberArrays& each : arrays) addresses.push_back(each.in());
  for (MemberArrays& each : arrays) addresses.push_back(each.out());
  for (const GroupLaunch& launch : launches.launches) {
    const GroupTable table{
        .addresses = addresses.data(), .members = arrays.size(), .count = launch.blocks.size()};
    Emulated(launch, launches.params, table).run();
  }
}

std::uint64_t alignment_of(const Problem& problem) {
  const std::uint64_t width = problem.element_bytes;
  return std::min<std::uint64_t>(width & (~width + 1), 16);
}

struct Reached {
  std::map<std::string, std::set<std::uint32_t>> kinds;
  std::set<std::uint32_t> counts;  // of boxes
  int alone = 0;
  bool skewed = false;

  void add(const GroupLaunches& launches) {
    for (const GroupLaunch& launch : launches.launches) {
      for (const GroupBlock& of : launch.blocks) {
        kinds[kernels::name(launch.family.kind)].insert(of.kind);
        skewed = skewed || of.in_offset < 0;
        counts.insert(of.count);
      }
    }
  }
};

TEST(GroupKernel, MovesDrawnListsWhereverArraysBegin) {
  const Target target = cuda::target_of_capability(9, 0);
  Reached reached;
  const int rounds = testing::kInstrumented ? 12 : 400;
  for (int round = 0; round < rounds; ++round) {
    SplitMix64 random{static_cast<std::uint64_t>(round)};
    SCOPED_TRACE("seed " + std::to_string(round));
    std::vector<MemberArrays> arrays;
    const std::uint64_t most = below(random, 2) == 0 ? 30000 : 1500;
    for (const Problem& problem : test::draw_problems(random, 1 + below(random, 12), most))
      arrays.emplace_back(problem, random,
                          below(random, 2) == 0 ? alignment_of(problem) : detail::kGroupAlignment);
    List list;
    for (const MemberArrays& each : arrays) list.add(each, target);
    const GroupLaunches launches = launches_of(list, arrays, 1 + below(random, 40));
    reached.add(launches);
    run_all(launches, arrays);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (*list.of_member[i]) {
        arrays[i].expect_moved();
      } else {
        arrays[i].expect_untouched();
        ++reached.alone;
      }
    }
  }
  EXPECT_GT(reached.alone, 0);
  EXPECT_EQ(reached.counts.size(), kernels::kMostGroupBoxes);
  EXPECT_TRUE(reached.skewed);
  EXPECT_GE(reached.kinds["boxes"].size(), testing::kInstrumented ? 3U : 14U);
  EXPECT_GE(reached.kinds["elements"].size(), kernels::kGroupElements - 1);
  EXPECT_GE(reached.kinds["vectors"].size(), testing::kInstrumented ? 5U : 14U);
  EXPECT_GE(reached.kinds["wholes"].size(), testing::kInstrumented ? 1U : 3U);
  EXPECT_EQ(reached.kinds["tiles"].size(), 1U);  // of several launches
}

TEST(GroupKernel, MovesPlanesAndStretchesByTheKernelsOfPlans) {
  const Target target = cuda::target_of_capability(9, 0);
  Reached reached;
  for (std::uint64_t round = 0; round < (testing::kInstrumented ? 6 : 100); ++round) {
    SplitMix64 random{round};
    SCOPED_TRACE("seed " + std::to_string(round));
    std::vector<MemberArrays> arrays;
    List list;
    for (int i = 0; i < 4; ++i) {
      const Problem problem = test::draw_transpose(random);
      arrays.emplace_back(problem, random,
                          below(random, 3) == 0 ? alignment_of(problem) : detail::kGroupAlignment);
      list.add(arrays.back(), target);
      ASSERT_TRUE(*list.of_member.back()) << to_text(problem);
    }
    const GroupLaunches launches = launches_of(list, arrays);
    reached.add(launches);
    run_all(launches, arrays);
    for (const MemberArrays& each : arrays) each.expect_moved();
  }
  EXPECT_GE(reached.kinds["planes"].size(), testing::kInstrumented ? 3U : 8U);
  EXPECT_GE(reached.kinds["stretches"].size(), testing::kInstrumented ? 3U : 14U);
  EXPECT_TRUE(reached.skewed);
}

TEST(GroupKernel, GoesByOtherAddressesWithoutANewTable) {
  const Target target = cuda::target_of_capability(9, 0);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SplitMix64 random{seed};
    std::vector<MemberArrays> arrays;
    std::vector<MemberArrays> others;
    for (const Problem& problem : test::draw_problems(random, 10, 5000)) {
      arrays.emplace_back(problem, random, detail::kGroupAlignment);
      others.emplace_back(problem, random, detail::kGroupAlignment);
    }
    List list;
    for (const MemberArrays& each : arrays) list.add(each, target);
    const GroupLaunches launches = launches_of(list, arrays);
    run_all(launches, others);
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (*list.of_member[i]) others[i].expect_moved();
      arrays[i].expect_untouched();
    }
  }
}

TEST(GroupKernel, TakesHeavyArraysFirstAndEqualOnesByTheSameParameters) {
  const Target target = cuda::target_of_capability(9, 0);
  SplitMix64 random{1};
  std::vector<MemberArrays> arrays;
  List list;
  for (int i = 0; i < 12; ++i) {
    const std::uint64_t rows = i % 4 == 3 ? 900 : 100;
    const Problem problem{.permutation = Axes({rows, 65, 5}, {2, 1, 0}), .element_bytes = 4};
    arrays.emplace_back(problem, random, detail::kGroupAlignment);
    list.add(arrays.back(), target);
  }
  const GroupLaunches launches = launches_of(list, arrays);
  ASSERT_EQ(launches.launches.size(), 1U);
  const std::vector<GroupBlock>& blocks = launches.launches.front().blocks;
  EXPECT_EQ(blocks.front().member, 3U);
  EXPECT_EQ(blocks.back().member, 10U);
  std::set<std::uint32_t> params;
  std::map<std::uint32_t, std::uint32_t> next;
  std::map<std::uint32_t, std::uint32_t> first;  // of boxes, which equal arrays share
  for (const GroupBlock& of : blocks) {
    params.insert(of.params);
    first.try_emplace(of.params, of.block);
    EXPECT_EQ(of.block, first[of.params] + next[of.member]++);
  }
  EXPECT_EQ(params.size(), 2U);
  EXPECT_EQ(next.size(), 12U);
}

TEST(GroupKernel, MovesTheHeadsOfACacheAsBoxesOfOneLaunch) {
  const Target target = cuda::target_of_capability(9, 0);
  SplitMix64 random{2};
  const Problem layer{.permutation = Axes({64, 8, 128}, {1, 0, 2}), .element_bytes = 2};
  std::vector<MemberArrays> arrays;
  List list;
  for (int i = 0; i < 6; ++i) {
    arrays.emplace_back(layer, random, detail::kGroupAlignment);
    list.add(arrays.back(), target);
  }
  const GroupLaunches launches = launches_of(list, arrays);
  ASSERT_EQ(launches.launches.size(), 1U);
  EXPECT_EQ(launches.launches.front().family.kind, GroupFamily::Kind::boxes);
  EXPECT_LE(launches.launches.front().shared_bytes, 56U << 10);  // four blocks of a multiprocessor
  run_all(launches, arrays);
  for (const MemberArrays& each : arrays) each.expect_moved();
}

// --- numbers that are changed

using kernels::ValueOrder;
using Narrowing = kernels::NumberProgram<float, kernels::BrainHalf, float, kernels::Identity, 0>;
using DirectKernel = kernels::MoveValueRuns<Narrowing, 4>;
using TurnedKernel = kernels::MoveTurnedValues<Narrowing, 4, 8>;
template <ValueOrder kLoads, ValueOrder kStores>
using BoxKernel = kernels::MoveCopiedValues<Narrowing, 4, 8, kLoads, kStores, kernels::ValueFactorsOf::all>;

template <typename Kernel>
struct EmulatedValues : kernels::MoveGroupValues<Kernel> {
  std::uint64_t number = 0;
  std::uint64_t held = 0;
  std::uint64_t blocks() const { return number; }
  std::uint32_t shared_bytes() const { return static_cast<std::uint32_t>(held); }
};

template <typename Kernel>
void emulate_values(const GroupLaunch& launch, const std::vector<std::byte>& params, const GroupTable& table,
                    testing::Order order) {
  EmulatedValues<Kernel> kernel;
  kernel.table = table;
  kernel.params = params.data();
  kernel.kernels::GroupValues::blocks = launch.blocks.data();
  kernel.number = launch.grid;
  kernel.held = launch.shared_bytes;
  testing::emulate(kernel, {.order = order});
}

// A matrix of floats whose numbers are narrowed while it is moved.
struct Narrowed {
  Strided view;
  detail::ValueBoxes boxes;
  std::vector<float> in;
  std::vector<std::uint16_t> out;
  std::vector<std::uint16_t> wanted;

  explicit Narrowed(const Strided& of) : view(of) {
    const Arithmetic narrows{.from = Number::f32, .to = Number::bf16};
    boxes = detail::make_value_boxes(detail::make_value_plan(view, narrows, cpu::target(1)));
    const std::uint64_t count = element_count(view);
    for (std::uint64_t i = 0; i < count; ++i) in.push_back(static_cast<float>(i * 37 % 1009) / 3);
    out.assign(count, 0);
    wanted.assign(count, 1);
    plan(view, narrows, {.engine = Engine::cpu}).run({in.data(), count}, wanted.data(), count);
  }

  // Which kernel it takes.
  std::size_t changes() const {
    if (boxes.direct) return 0;
    if (boxes.turned) return 1;
    const bool steps = boxes.loads == ValueOrder::by_steps && boxes.stores == ValueOrder::by_steps;
    return steps ? 2 : 3;
  }
};

TEST(GroupKernel, ChangesNumbersOfManyArraysInALaunchOfEachKind) {
  const Strided turned{.extents = {64, 64}, .in_strides = {1, 64}, .out_strides = {64, 1}};
  const Strided even{.extents = {40, 62}, .in_strides = {1, 40}, .out_strides = {62, 1}};
  const Strided in_order{.extents = {24000}, .in_strides = {1}, .out_strides = {1}};
  for (const testing::Order order : {testing::Order::forward, testing::Order::backward}) {
    std::vector<Narrowed> arrays;
    for (int i = 0; i < 6; ++i) arrays.emplace_back(i % 3 == 0 ? turned : i % 3 == 1 ? even : in_order);
    std::vector<detail::GroupValuesWork> works(arrays.size());
    std::vector<GroupArray> grouped;
    std::vector<const std::byte*> addresses;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const detail::ValueBoxes& boxes = arrays[i].boxes;
      ASSERT_EQ(boxes.in_vector, 4);
      ASSERT_TRUE(boxes.direct || ((boxes.turned || boxes.copied) && boxes.out_vector == 8));
      detail::GroupValuesWork& work = works[i];
      work.changes = arrays[i].changes();
      work.arrays.p = boxes.params;
      work.arrays.in_rows = boxes.in_rows.data();
      work.arrays.out_rows = boxes.out_rows.data();
      work.arrays.row_factors = boxes.row_factors.data();
      work.arrays.places = boxes.places.data();
      work.boxes = boxes.boxes;
      work.shared_bytes = boxes.params.shared_bytes + kernels::GroupValues::kKeptBytes;
      grouped.push_back({.values = &work, .member = static_cast<std::uint32_t>(i)});
      addresses.push_back(reinterpret_cast<const std::byte*>(arrays[i].in.data()));
    }
    for (Narrowed& each : arrays) addresses.push_back(reinterpret_cast<const std::byte*>(each.out.data()));
    const GroupLaunches launches = detail::make_group_launches(grouped);
    EXPECT_EQ(launches.launches.size(), 3U);
    for (const GroupLaunch& launch : launches.launches) {
      const GroupTable table{
          .addresses = addresses.data(), .members = arrays.size(), .count = launch.blocks.size()};
      switch (launch.family.changes) {
        case 0:
          emulate_values<DirectKernel>(launch, launches.params, table, order);
          break;
        case 1:
          emulate_values<TurnedKernel>(launch, launches.params, table, order);
          break;
        case 2:
          emulate_values<BoxKernel<ValueOrder::by_steps, ValueOrder::by_steps>>(launch, launches.params,
                                                                                table, order);
          break;
        default:
          emulate_values<BoxKernel<ValueOrder::by_table, ValueOrder::by_table>>(launch, launches.params,
                                                                                table, order);
      }
    }
    for (const Narrowed& each : arrays) EXPECT_EQ(each.out, each.wanted);
  }
}

TEST(GroupKernel, RefusesArraysBetweenUnitsByTheMembersNumber) {
  const Target target = cuda::target_of_capability(9, 0);
  const auto passes =
      detail::group_passes({.permutation = Axes({9, 10}, {1, 0}), .element_bytes = 4}, target);
  ASSERT_TRUE(passes.has_value());
  const GroupArray array{.passes = &*passes, .member = 17, .in_past = 2};
  const std::string message = test::message_of(
      ErrorCode::value, [&] { static_cast<void>(detail::make_group_launches(std::span(&array, 1))); });
  EXPECT_NE(message.find("member 17"), std::string::npos) << message;
  EXPECT_NE(message.find("4 bytes"), std::string::npos) << message;
}

}  // namespace group_kernel_test
}  // namespace faro
