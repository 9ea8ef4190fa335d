// Records by index arrays that are files: a text is worked out to one index file and a map behind it, whose
// places the records then go to.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "faro/error.hpp"
#include "faro/file.hpp"
#include "file/buckets.hpp"
#include "file/index_places.hpp"
#include "file/index_text.hpp"
#include "io/buffer.hpp"
#include "io/file_system.hpp"
#include "io/output_file.hpp"
#include "permutation/parser.hpp"
#include "permutation/random_entries.hpp"
#include "rounding.hpp"
#include "size_text.hpp"

namespace faro::file {
namespace {

// A file beside the output that is gone afterwards.
class BesideOutput {
 public:
  explicit BesideOutput(std::filesystem::path path) : path_(std::move(path)) {}
  ~BesideOutput() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  BesideOutput(const BesideOutput&) = delete;
  BesideOutput& operator=(const BesideOutput&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// x goes to entry x of the file, or stays without one, and then through the maps behind it, in their order.
struct EvaluatedIndex {
  std::optional<EntryRange> file{};
  std::vector<Permutation> after{};
  std::shared_ptr<const BesideOutput> owner{};  // of a file that was made here
};

// Works nodes out. Every step reads and writes index files of the array's count, within the budget.
class IndexEvaluation {
 public:
  IndexEvaluation(const ParseOptions& parse, const Output& out, const Options& options, std::uint64_t count)
      : parse_(parse), out_(out), options_(options), count_(count) {
    options_.keep_unfinished = options_.resume = false;
    options_.done = nullptr;
    // Those that a text makes in memory take a part of the budget.
    constexpr std::uint64_t kShareOfBudget = 4;
    constexpr std::uint64_t kMostEntryBytes = 8;
    parse_.most_index_elements =
        std::min(parse_.most_index_elements, options.memory_bytes / kShareOfBudget / kMostEntryBytes);
  }

  /// Nothing where the run was cancelled.
  std::optional<EvaluatedIndex> operator()(const IndexNode& node) {
    switch (node.kind) {
      case IndexNode::Kind::file:
        return of_file(node);
      case IndexNode::Kind::computed:
        return of_map(node);
      case IndexNode::Kind::compose: {
        auto inner = (*this)(node.parts[1]);
        if (!inner) return std::nullopt;
        const auto outer = (*this)(node.parts[0]);
        return outer ? composed(*outer, *std::move(inner)) : std::nullopt;
      }
      case IndexNode::Kind::inverse: {
        const auto part = (*this)(node.parts[0]);
        return part ? inverted(*part) : std::nullopt;
      }
      case IndexNode::Kind::power:
        break;
    }
    return power(node);
  }

  std::optional<EvaluatedIndex> inverted(const EvaluatedIndex& of) {
    if (!of.file) {
      EvaluatedIndex back;
      for (auto map = of.after.rbegin(); map != of.after.rend(); ++map) back.after.push_back(inverse(*map));
      return back;
    }
    const BesideOutput numbers(next_path());
    const std::uint64_t width = std::max(of.file->width, least_width());
    write_numbers(width, numbers.path());
    return moved({.path = numbers.path(), .offset = 0, .width = width, .count = count_},
                 PlacesOfFile(*of.file, 1, of.after));
  }

  /// What tells the text's maps from others, with its files' stamps.
  const std::string& identity() const { return identity_; }

 private:
  EntryRange required(EntryRange range) const {
    if (range.count == count_) return range;
    refuse_count(range.count);
  }

  [[noreturn]] void refuse_count(std::uint64_t count) const {
    fail(ErrorCode::value, "compose", fmt::format("permutations of {} and {} elements", count_, count),
         "permutations of one size");
  }

  std::optional<EvaluatedIndex> of_file(const IndexNode& node) {
    identity_ += stamp_of(node.text) + "; ";
    EvaluatedIndex found{.file = required(entries_of(node.text))};
    if (node.direction.value_or(parse_.direction) == Direction::scatter) return found;
    return inverted(found);
  }

  std::optional<EvaluatedIndex> of_map(const IndexNode& node) {
    if (auto drawn = large_random(node.text)) return drawn;
    Permutation map = parsed(node.text);
    if (element_count(map) != count_) refuse_count(element_count(map));
    identity_ += (std::holds_alternative<Indexed>(map) ? node.text : to_text(map)) + "; ";
    return EvaluatedIndex{.after = {std::move(map)}};
  }

  // A `random(count, seed)` of which memory does not hold all entries, in a file.
  std::optional<EvaluatedIndex> large_random(const std::string& text) {
    const auto arguments = random_arguments(text);
    if (count_ <= parse_.most_index_elements || !arguments) return std::nullopt;
    detail::SpecReader reader(*arguments, parse_, detail::AtHand::input);
    const std::uint64_t count = reader.count_of(2, "the number of elements");
    const std::uint64_t seed = reader.number("the seed");
    if (count != count_) refuse_count(count);
    identity_ += fmt::format("random({}, {}); ", count, seed);
    auto owner = std::make_shared<const BesideOutput>(next_path());
    if (least_width() == sizeof(std::uint32_t)) {
      write_random<std::uint32_t>(seed, owner->path());
    } else {
      write_random<std::uint64_t>(seed, owner->path());
    }
    EntryRange range;
    range.width = least_width();
    range.count = count_;
    return made(std::move(range), std::move(owner));
  }

  // As many buckets at a time as half of the memory holds: each time all elements are hashed again.
  template <typename Word>
  void write_random(std::uint64_t seed, const std::filesystem::path& path) const {
    const detail::RandomEntries entries(count_, seed);
    const std::uint64_t of_bucket = detail::ceil_div(count_, entries.buckets()) * sizeof(Word);
    const std::uint64_t together = std::max<std::uint64_t>(options_.memory_bytes / 2 / of_bucket, 1);
    io::OutputFile file(path);
    file.reserve(count_ * sizeof(Word));
    std::uint64_t at = 0;
    for (std::uint64_t first = 0; first < entries.buckets(); first += together) {
      const auto part = entries.of_buckets<Word>(first, std::min(first + together, entries.buckets()));
      file.write(std::as_bytes(std::span(part)), at);
      at += part.size() * sizeof(Word);
    }
    file.commit();
  }

  Permutation parsed(const std::string& text) const {
    try {
      return parse_permutation(text, parse_);
    } catch (const Error& error) {
      ErrorReport report = error.report();
      if (report.got.starts_with("an index array of"))
        report.remedy =
            "no more has room in the memory; an index array in a .npy file is read as it is needed";
      throw Error(report);
    }
  }

  // outer o inner.
  std::optional<EvaluatedIndex> composed(const EvaluatedIndex& outer, EvaluatedIndex inner) {
    if (!outer.file) {
      inner.after.insert(inner.after.end(), outer.after.begin(), outer.after.end());
      return inner;
    }
    // Entry x becomes that at inner(x): the entries go where the inverse of `inner` has them.
    const auto back = inverted(inner);
    if (!back) return std::nullopt;
    std::optional<EvaluatedIndex> gathered(outer);
    if (back->file) {
      gathered = moved(*outer.file, PlacesOfFile(*back->file, 1, back->after));
    } else {
      for (const Permutation& map : back->after) {
        if (gathered) gathered = moved_by_map(*gathered, map);
      }
    }
    if (gathered) gathered->after = outer.after;
    return gathered;
  }

  std::optional<EvaluatedIndex> power(const IndexNode& node) {
    auto base = (*this)(node.parts[0]);
    if (base && node.exponent < 0) base = inverted(*base);
    auto left = node.exponent < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(node.exponent)
                                  : static_cast<std::uint64_t>(node.exponent);
    std::optional<EvaluatedIndex> result(std::in_place);
    for (; base && result && left != 0; left >>= 1) {
      if ((left & 1) != 0) result = composed(*base, *std::move(result));
      if (left > 1) base = composed(*base, EvaluatedIndex(*base));
    }
    return base ? std::move(result) : std::nullopt;
  }

  std::filesystem::path next_path() {
    return io::partial_path(out_.path).string() + fmt::format("-index-{}", next_++);
  }

  std::uint64_t least_width() const {
    constexpr std::uint64_t kMostOfFourBytes = std::uint64_t{1} << 32;
    return count_ > kMostOfFourBytes ? 8 : 4;
  }

  // 0, 1, …
  void write_numbers(std::uint64_t width, const std::filesystem::path& path) const {
    constexpr std::uint64_t kTogether = std::uint64_t{1} << 17;
    io::OutputFile file(path);
    file.reserve(count_ * width);
    std::vector<std::byte> bytes(std::min(kTogether, count_) * width);
    for (std::uint64_t first = 0; first < count_; first += kTogether) {
      const std::uint64_t count = std::min(kTogether, count_ - first);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t number = first + i;
        std::memcpy(&bytes[i * width], &number, width);  // little-endian
      }
      file.write(std::span(bytes).first(count * width), first * width);
    }
    file.commit();
  }

  // The entries of a range, where the places have them.
  std::optional<EvaluatedIndex> moved(EntryRange range, const Places& places) {
    auto owner = std::make_shared<const BesideOutput>(next_path());
    const Input from{.path = range.path, .offset = range.offset};
    if (!place_records(places, range.width, from, {.path = owner->path()}, options_).finished)
      return std::nullopt;
    return made(std::move(range), std::move(owner));
  }

  std::optional<EvaluatedIndex> moved_by_map(const EvaluatedIndex& of, const Permutation& map) {
    EntryRange range = *of.file;
    auto owner = std::make_shared<const BesideOutput>(next_path());
    const Input from{.path = range.path, .offset = range.offset};
    const Output to{.path = owner->path()};
    const Problem problem{.permutation = map, .element_bytes = range.width};
    if (!run(problem, from, to, options_).finished) return std::nullopt;
    return made(std::move(range), std::move(owner));
  }

  static EvaluatedIndex made(EntryRange range, std::shared_ptr<const BesideOutput> owner) {
    range.path = owner->path();
    range.offset = 0;
    return {.file = std::move(range), .after = {}, .owner = std::move(owner)};
  }

  ParseOptions parse_;
  const Output& out_;
  Options options_;
  std::uint64_t count_;
  std::string identity_;
  int next_ = 0;
};

IndexNode required_node(const IndexText& index) {
  auto node = index_node(index.text);
  if (!node) {
    fail(ErrorCode::value, "permute records", "`" + index.text + "`",
         "a text with an index array that is a .npy file");
  }
  return *std::move(node);
}

// What lies beside the output at the same time, at least: refused before anything is moved.
void require_room(const IndexNode& node, std::uint64_t records, std::uint64_t record_bytes,
                  const std::filesystem::path& out, const Options& options) {
  if (records == 0) return;
  constexpr std::uint64_t kOfTag = 2;
  std::uint64_t bytes = records * record_bytes;
  if (record_facts(records, record_bytes, true, options).sweeps > 1)
    bytes += records * (record_bytes + kOfTag);
  if (node.kind != IndexNode::Kind::file || node.direction == Direction::gather) {
    const EntryRange range = entries_of(files_of(node).front());
    bytes += range.count * range.width;
  }
  std::error_code unknown;
  const auto space = std::filesystem::space(io::directory_of(out), unknown);
  if (unknown || space.available >= bytes) return;
  fail(ErrorCode::file, "write `" + out.string() + "`", size_text(space.available) + " of room on the disk",
       "about " + size_text(bytes) + " for the result and what is beside it until then");
}

Report by_node(IndexNode node, const IndexText& index, std::uint64_t record_bytes, const Input& in,
               const Output& out, const Options& options) {
  if (index.inverse) {
    IndexNode undone{.kind = IndexNode::Kind::inverse};
    undone.parts.push_back(std::move(node));
    node = std::move(undone);
  }
  Options chosen = options;
  if (chosen.memory_bytes == 0) chosen.memory_bytes = default_memory_bytes();
  const std::uint64_t count = entries_of(files_of(node).front()).count;
  require_room(node, count * index.batch, record_bytes, out.path, chosen);
  IndexEvaluation evaluate(index.parse, out, chosen, count);
  const auto found = evaluate(node);
  if (!found) return {};  // cancelled
  if (!found->file) {
    // Such as power(…, 0).
    Permutation map = maps::roll(count, 0);
    for (const Permutation& next : found->after) map = compose(next, map);
    const Problem problem{.permutation = map, .element_bytes = record_bytes, .batch = index.batch};
    return run(Sweep(problem, chosen), in, out, chosen);
  }
  const std::string text =
      fmt::format("{}{}, {}: {}", index.inverse ? "inverse of " : "", index.text,
                  index.parse.direction == Direction::gather ? "gathered" : "scattered", evaluate.identity());
  return place_records(PlacesOfFile(*found->file, index.batch, found->after, text), record_bytes, in, out,
                       chosen);
}

}  // namespace

IndexFiles index_files(const std::string& text) {
  IndexFiles found;
  const auto node = index_node(text);
  if (!node) return found;
  try {
    for (const std::string& path : files_of(*node)) {
      const EntryRange range = entries_of(path);
      if (found.files++ == 0) found.count = range.count;
      found.bytes += range.count * range.width;
    }
  } catch (const Error&) {
    return {};  // the parser tells what is wrong with it
  }
  return found;
}

Report permute_by_index_text(const IndexText& index, std::uint64_t record_bytes, const Input& in,
                             const Output& out, const Options& options) {
  return by_node(required_node(index), index, record_bytes, in, out, options);
}

Report permute_indexed(const IndexFile& index, std::uint64_t record_bytes, const Input& in, const Output& out,
                       const Options& options) {
  const IndexText text{.text = index.path.string(), .batch = index.batch};
  return by_node({.kind = IndexNode::Kind::file, .text = index.path.string(), .direction = index.direction},
                 text, record_bytes, in, out, options);
}

}  // namespace faro::file
