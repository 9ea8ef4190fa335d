// Rows added, routed to buckets, sent and combined on a GPU, held against the CPU engine bit for bit.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "faro/rows.hpp"
#include "gpu/gpu_rows_support.hpp"

namespace faro::testing {
namespace gpu_routes_test {

using namespace gpu_rows;

class GpuRoutes : public GpuTest {};

struct AddCase {
  Number number = Number::f32;
  Sums sums = Sums::usual;
  std::uint64_t numbers = 1;  // of a row
  std::uint64_t count = 20000;
  std::uint64_t rows = 3000;
  std::uint64_t outer = 1;
  IndexType type{.bytes = 4, .is_signed = true};
  std::uint64_t offset = 0;  // of the output, in numbers
  std::uint64_t times = 1;
};

// The same bits as the CPU engine's, `times` times.
void expect_added(const AddCase& of, const Entries& entries) {
  SCOPED_TRACE(std::string(name(of.number)) + ", sums " + name(of.sums) + ", " + std::to_string(of.outer) +
               " x " + std::to_string(of.count) + " rows of " + std::to_string(of.numbers) + " to " +
               std::to_string(of.rows));
  const Bytes host_entries = entries.bytes();
  const RowLayout layout{.outer = of.outer, .row_bytes = of.numbers * bytes_of(of.number)};
  const auto add = [&](const void* data) {
    return Add{
        .to = RowNumbers(data, of.count, of.type), .rows = of.rows, .number = of.number, .sums = of.sums};
  };
  const ExecutableRows on_cpu = plan_rows(add(host_entries.data()), layout);
  const Bytes in = random_numbers(of.number, of.outer * of.count * of.numbers, 1);
  const Bytes begin = random_numbers(of.number, of.outer * of.rows * of.numbers, 2);
  Bytes expected = begin;
  on_cpu.run(in, expected);
  const Placed device_entries(host_entries);
  const Placed device_in(in);
  Placed device_out(begin, of.offset * bytes_of(of.number));
  const ExecutableRows on_gpu = plan_rows(add(device_entries.data()), layout);
  for (std::uint64_t t = 0; t < of.times; ++t) {
    if (t > 0) device_out.set(begin);
    on_gpu.run(device_in.span(), device_out.span());
    on_gpu.check();
    ASSERT_TRUE(device_out.get() == expected) << "run " << t;
  }
}

void expect_added(const AddCase& of) {
  expect_added(of, drawn(of.count, of.rows, of.type, false, 0.05, of.count));
}

TEST_F(GpuRoutes, AddsEveryTypeAsTheCpuDoes) {
  for_every_sum([](Number number, Sums sums) {
    for (const std::uint64_t numbers : {1U, 5U, 32U})
      expect_added({.number = number, .sums = sums, .numbers = numbers, .count = 5000, .rows = 700});
  });
}

TEST_F(GpuRoutes, AddsEveryShapeAlwaysAlike) {
  expect_added({.count = 3000000, .rows = 5000000, .times = 100});
  expect_added({.count = 3000000, .rows = 1000, .type = {.bytes = 8, .is_signed = true}, .times = 10});
  expect_added({.number = Number::f64, .count = 300000, .rows = 100000, .times = 3});
  expect_added({.numbers = 24, .count = 3000, .rows = 200, .outer = 7});
  expect_added({.numbers = 24, .count = 3000, .rows = 200, .offset = 1});
  expect_added({.number = Number::bf16, .numbers = 7168, .count = 500, .rows = 60});
  expect_added({.count = 1, .rows = 1});
  // By bins: one digit above them and two, and rows that hardly any or all numbers go to.
  expect_added({.count = 5000000, .rows = 1 << 20, .times = 3});
  expect_added({.count = 9000000, .rows = 30000001, .times = 3});
  expect_added({.count = 1 << 20, .rows = 7, .times = 2});
  expect_added({.number = Number::bf16, .count = 1 << 20, .rows = 300000});
  expect_added({.number = Number::u8, .count = 1 << 20, .rows = 300000, .offset = 3});
  Entries one_bin = drawn(1 << 18, 1 << 18, {.bytes = 4, .is_signed = true}, false, 0, 1);
  for (std::size_t i = 0; i < one_bin.values.size(); ++i)
    if (i % 3 != 0) one_bin.values[i] = 77;
  expect_added({.count = 1 << 18, .rows = 1 << 18}, one_bin);
  Entries same = drawn(50000, 9, {.bytes = 4, .is_signed = true}, false, 0, 1);
  std::fill(same.values.begin(), same.values.end(), 8);
  expect_added({.count = 50000, .rows = 9}, same);
  expect_added({.numbers = 4, .count = 50000, .rows = 9}, same);
}

struct RouteCase {
  std::uint64_t count = 32768;
  std::uint64_t buckets = 256;
  std::uint64_t keys_per_row = 8;
  std::uint64_t multiple = 1;
  std::optional<std::uint64_t> capacity = {};
  double absent = 0.05;

  RouteOptions options() const {
    return {.buckets = buckets, .keys_per_row = keys_per_row, .multiple = multiple, .capacity = capacity};
  }
};

std::vector<std::int64_t> fetched(const Placed& array) {
  const Bytes bytes = array.get();
  std::vector<std::int64_t> values(bytes.size() / sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Placed words(std::uint64_t count) { return Placed(Bytes(count * sizeof(std::int64_t), std::byte{0x77})); }

void expect_routed(const RouteCase& of) {
  SCOPED_TRACE(std::to_string(of.count) + " keys, " + std::to_string(of.buckets) + " buckets, multiple " +
               std::to_string(of.multiple));
  const Bytes keys =
      drawn(of.count, of.buckets, {.bytes = 4, .is_signed = true}, false, of.absent, of.count).bytes();
  const IndexType type{.bytes = 4, .is_signed = true};
  const Route expected = route(RowNumbers(keys.data(), of.count, type), of.options());
  const Placed device_keys(keys);
  const ExecutableRoute plan = plan_route(RowNumbers(device_keys.data(), of.count, type), of.options());
  ASSERT_GE(plan.most_places(), expected.inverse.size());
  const auto at = [](const Placed& array) { return reinterpret_cast<std::int64_t*>(array.data()); };
  const Placed places = words(of.count);
  const Placed inverse = words(plan.most_places());
  const Placed rows = words(plan.most_places());
  const Placed offsets = words(of.buckets + 1);
  const Placed counts = words(of.buckets);
  plan.run({.places = at(places),
            .inverse = at(inverse),
            .rows = at(rows),
            .offsets = at(offsets),
            .counts = at(counts)});
  plan.check();
  EXPECT_TRUE(fetched(places) == expected.places);
  EXPECT_TRUE(fetched(offsets) == expected.offsets);
  EXPECT_TRUE(fetched(counts) == expected.counts);
  std::vector<std::int64_t> padded = expected.inverse;
  padded.resize(plan.most_places(), -1);
  EXPECT_TRUE(fetched(inverse) == padded);
  std::vector<std::int64_t> taken = expected.taken_rows();
  taken.resize(plan.most_places(), -1);
  EXPECT_TRUE(fetched(rows) == taken);
}

TEST_F(GpuRoutes, RoutesAsTheCpuDoes) {
  expect_routed({});
  expect_routed({.multiple = 128});
  expect_routed({.multiple = 16, .capacity = 100});
  expect_routed({.count = 3000000, .buckets = 8, .keys_per_row = 2, .multiple = 64});
  expect_routed({.count = 3000000, .buckets = 4096, .keys_per_row = 1, .multiple = 7});
  expect_routed({.count = 100000, .buckets = 300, .keys_per_row = 4, .capacity = 0});
  expect_routed({.count = 3000000, .buckets = 4097, .keys_per_row = 1, .multiple = 7});
  expect_routed({.count = 1000000, .buckets = 700001, .keys_per_row = 4, .multiple = 2, .capacity = 3});
  expect_routed({.count = 0, .buckets = 5, .keys_per_row = 1, .multiple = 4});
  expect_routed({.count = 1, .buckets = 1, .keys_per_row = 1});
  expect_routed({.count = 4000, .buckets = 3, .keys_per_row = 1, .absent = 1});
}

// Routed and sent by one call, few keys by one launch: the same bytes as by two plans of the host.
void expect_routed_and_sent(const RouteCase& of, std::uint64_t row_bytes, std::uint64_t offset) {
  SCOPED_TRACE(std::to_string(of.count) + " keys, " + std::to_string(of.buckets) + " buckets, rows of " +
               std::to_string(row_bytes));
  const IndexType type{.bytes = 4, .is_signed = true};
  const Bytes keys = drawn(of.count, of.buckets, type, false, of.absent, of.count).bytes();
  const std::uint64_t in_rows = of.count / of.keys_per_row;
  const Route expected = route(RowNumbers(keys.data(), of.count, type), of.options());
  const Bytes in = random_bytes(in_rows * row_bytes, 3);
  const Placed device_keys(keys);
  const Placed device_in(in);
  const ExecutableRoute plan = plan_route(RowNumbers(device_keys.data(), of.count, type), of.options());
  const Placed places = words(of.count);
  const Placed rows = words(plan.most_places());
  const Placed out(Bytes(plan.most_places() * row_bytes, std::byte{0x33}), offset);
  std::vector<std::int64_t> from = expected.taken_rows();
  from.resize(plan.most_places(), -1);
  Bytes sent(from.size() * row_bytes);
  plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = in_rows, .fill = Fill::zero()},
            {.row_bytes = row_bytes})
      .run(in, sent);
  plan.run_and_send({.places = reinterpret_cast<std::int64_t*>(places.data()),
                     .rows = reinterpret_cast<std::int64_t*>(rows.data())},
                    row_bytes, device_in.span(), out.span());
  plan.check();
  EXPECT_TRUE(fetched(places) == expected.places);
  EXPECT_TRUE(fetched(rows) == from);
  EXPECT_TRUE(out.get() == sent);
}

TEST_F(GpuRoutes, RoutesAndSendsAtOnce) {
  for (const std::uint64_t tokens : {1U, 2U, 32U, 128U, 511U, 512U}) {
    expect_routed_and_sent({.count = tokens * 8}, 14336, 0);
    expect_routed_and_sent({.count = tokens * 8, .multiple = 16}, 4096, 0);
    expect_routed_and_sent({.count = tokens * 2, .buckets = 1024, .keys_per_row = 2, .absent = 0.3}, 20, 4);
    expect_routed_and_sent({.count = tokens * 2, .buckets = 3, .keys_per_row = 2, .capacity = 7}, 7, 1);
  }
  expect_routed_and_sent({.count = 4096, .keys_per_row = 1}, 16, 0);
  expect_routed_and_sent({.count = 8, .multiple = 4}, 1 << 20, 0);
  expect_routed_and_sent({.count = 4104, .multiple = 2}, 272, 0);
  expect_routed_and_sent({.count = 0}, 16, 0);
}

// Tokens to experts and back in one graph, replayed with other keys, weights and tokens.
TEST_F(GpuRoutes, SendsTokensAndBringsThemBackInAGraph) {
  constexpr std::uint64_t kTokens = 300;
  constexpr std::uint64_t kKeys = 4;
  constexpr std::uint64_t kBuckets = 16;
  constexpr std::uint64_t kRowBytes = 2 * 136;
  const IndexType type{.bytes = 4, .is_signed = true};
  const RouteOptions options{.buckets = kBuckets, .keys_per_row = kKeys, .multiple = 8, .capacity = 90};
  Placed keys(Bytes(kTokens * kKeys * 4));
  const ExecutableRoute router = plan_route(RowNumbers(keys.data(), kTokens * kKeys, type), options);
  const Placed places = words(kTokens * kKeys);
  const Placed rows = words(router.most_places());
  Placed tokens(Bytes(kTokens * kRowBytes));
  const Placed sent(Bytes(router.most_places() * kRowBytes));
  const Placed back(Bytes(kTokens * kRowBytes));
  Placed weights(Bytes(kTokens * kKeys * 4));
  const IndexType word{.bytes = 8, .is_signed = true};
  const ExecutableRows take = plan_rows(
      Take{
          .from = RowNumbers(rows.data(), router.most_places(), word), .rows = kTokens, .fill = Fill::zero()},
      {.row_bytes = kRowBytes});
  const ExecutableCombine combining =
      plan_combine({.places = RowNumbers(places.data(), kTokens * kKeys, word),
                    .rows = router.most_places(),
                    .keys_per_row = kKeys,
                    .weights = {reinterpret_cast<const float*>(weights.data()), kTokens * kKeys},
                    .number = Number::bf16},
                   kRowBytes);
  const Placed dispatched(Bytes(router.most_places() * kRowBytes, std::byte{0x33}));
  const ExecutableDispatch dispatching =
      plan_dispatch({.places = RowNumbers(places.data(), kTokens * kKeys, word),
                     .rows = router.most_places(),
                     .keys_per_row = kKeys,
                     .taken = RowNumbers(rows.data(), router.most_places(), word)},
                    kRowBytes);
  const cuda::DeviceArray workspace(router.workspace_bytes() + 16);
  const OwnStream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  router.run({.places = reinterpret_cast<std::int64_t*>(places.data()),
              .rows = reinterpret_cast<std::int64_t*>(rows.data())},
             {.data = workspace.data(), .bytes = workspace.size()}, stream);
  take.run(tokens.span(), sent.span(), stream);
  dispatching.run(tokens.span(), dispatched.span(), stream);
  combining.run(sent.span(), back.span(), stream);
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  check_cuda(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Bytes host_keys = drawn(kTokens * kKeys, kBuckets, type, false, 0.1, seed).bytes();
    const Bytes host_tokens = random_numbers(Number::bf16, kTokens * kRowBytes / 2, seed);
    const Bytes host_weights = random_numbers(Number::f32, kTokens * kKeys, seed + 9);
    keys.set(host_keys);
    tokens.set(host_tokens);
    weights.set(host_weights);
    check_cuda(cudaGraphLaunch(executable, stream.get()), "cudaGraphLaunch");
    router.check(stream);
    take.check(stream);
    dispatching.check(stream);
    combining.check(stream);
    const Route expected = route(RowNumbers(host_keys.data(), kTokens * kKeys, type), options);
    const std::vector<std::int64_t> from = expected.taken_rows();
    Bytes host_sent(from.size() * kRowBytes);
    plan_rows(Take{.from = RowNumbers(std::span(from)), .rows = kTokens, .fill = Fill::zero()},
              {.row_bytes = kRowBytes})
        .run(host_tokens, host_sent);
    const Bytes arrived = sent.get();
    EXPECT_TRUE(dispatched.get() == arrived) << seed;
    EXPECT_TRUE(std::equal(host_sent.begin(), host_sent.end(), arrived.begin()));
    Bytes host_back(kTokens * kRowBytes);
    combine({.places = RowNumbers(std::span(expected.places)),
             .rows = from.size(),
             .keys_per_row = kKeys,
             .weights = {reinterpret_cast<const float*>(host_weights.data()), kTokens * kKeys},
             .number = Number::bf16},
            kRowBytes, host_sent, host_back);
    EXPECT_TRUE(back.get() == host_back) << seed;
  }
  check_cuda(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

TEST_F(GpuRoutes, TellsOfKeysAndPlacesThatAreWrong) {
  const IndexType type{.bytes = 8, .is_signed = true};
  const Placed keys(Entries{.type = type, .values = {0, 1, 4, 2, -1, -7}}.bytes());
  const ExecutableRoute router = plan_route(RowNumbers(keys.data(), 6, type), {.buckets = 4});
  const Placed places = words(6);
  router.run({.places = reinterpret_cast<std::int64_t*>(places.data())});
  EXPECT_NE(refusal([&] { router.check(); }).find("at position 2"), std::string::npos);
  EXPECT_EQ(refusal([&] { router.check(); }), "");
  EXPECT_TRUE(fetched(places) == (std::vector<std::int64_t>{0, 1, -1, 2, -1, -1}));
  const Placed in(Bytes(4 * 8));
  const Placed out(Bytes(6 * 8));
  const ExecutableCombine combining =
      plan_combine({.places = RowNumbers(keys.data(), 6, type), .rows = 4}, 8);
  combining.run(in.span(), out.span());
  EXPECT_NE(refusal([&] { combining.check(); }).find("at position 2"), std::string::npos);
}

}  // namespace gpu_routes_test
}  // namespace faro::testing
