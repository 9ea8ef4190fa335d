// Files of layouts, of which extras/swizzle/layouts has those that the library knows by name:
//
//     # a remark
//     source  PTX ISA 8.5, 9.7.14.5.8 …         of all that follow, up to the next
//     layout  wgmma.m64n*.C                     * stands for a number, which `repeat` explains; further words
//                                               are names of the same layout
//     element 16 32                             widths of an element in bits
//     axes    m 64, n 8                         the slowest first, and how many elements along each
//     register (0,1) (8,0)                      the coordinates that bit 0, bit 1, … stand for
//     lane     (0,2) (0,4) (1,0) (2,0) (4,0)
//     warp     (16,0) (32,0)                    may be left out where the layout is a warp's
//     repeat   n 8                              further registers along n; the number is 8 where there are none
#include "layout_files.hpp"  // kLayoutFiles, written by CMake

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "exchange/layout_text.hpp"
#include "faro/error.hpp"
#include "faro/suggest.hpp"
#include "permutation/spec_file.hpp"

namespace faro::exchange {
namespace {

struct FileEntry {
  std::string name;
  std::vector<std::string> aliases;
  std::string source;
  std::vector<int> elements;
  Layout layout;
  std::optional<std::size_t> repeated_axis;
  int repeat_bits = 0;  // logarithm of the number that stands for no further registers

  bool is_of(int element) const {
    return std::find(elements.begin(), elements.end(), element) != elements.end();
  }
};

// One line of a file, without its first word.
class EntryReader {
 public:
  explicit EntryReader(std::string file) : file_(std::move(file)) {}

  void read(std::string_view line) {
    ++line_number_;
    LayoutScanner scanner(line);
    if (scanner.done() || scanner.next_is("#")) return;
    line_ = line;
    if (scanner.take("source")) {
      source_ = std::string(scanner.rest());
    } else if (scanner.take("layout")) {
      std::vector<std::string> names;
      while (!scanner.done()) names.push_back(word(scanner));
      if (names.empty()) refuse("the name of a layout");
      entries_.push_back({.name = names.front(),
                          .aliases = {names.begin() + 1, names.end()},
                          .source = source_,
                          .elements = {},
                          .layout = {},
                          .repeated_axis = {}});
    } else if (entries_.empty()) {
      refuse("a `layout` first");
    } else {
      read_part(scanner, entries_.back());
    }
  }

  std::vector<FileEntry> entries() {
    for (const FileEntry& entry : entries_) {
      line_ = "layout " + entry.name;
      if (entry.source.empty()) refuse("a `source` above it");
      if (entry.elements.empty() || entry.layout.axes.empty()) refuse("`element` and `axes`");
      if (entry.repeated_axis.has_value() != (entry.name.find('*') != std::string::npos))
        refuse("`repeat` where its name has a `*`, and only there");
    }
    return std::move(entries_);
  }

 private:
  void read_part(LayoutScanner& scanner, FileEntry& entry) {
    Layout& layout = entry.layout;
    if (scanner.take("element")) {
      while (!scanner.done()) entry.elements.push_back(static_cast<int>(scanner.number()));
    } else if (scanner.take("axes")) {
      do {
        std::string name = word(scanner);
        layout.axes.push_back({std::move(name), scanner.bits("elements of an axis")});
      } while (scanner.take(","));
    } else if (scanner.take("register")) {
      read_columns(scanner, layout, layout.registers);
    } else if (scanner.take("lane")) {
      read_columns(scanner, layout, layout.lanes);
    } else if (scanner.take("warp")) {
      read_columns(scanner, layout, layout.warps);
    } else if (scanner.take("repeat")) {
      const std::string name = word(scanner);
      const auto axis =
          std::find_if(layout.axes.begin(), layout.axes.end(), [&](auto& a) { return a.name == name; });
      if (axis == layout.axes.end()) refuse("one of its axes");
      entry.repeated_axis = static_cast<std::size_t>(axis - layout.axes.begin());
      entry.repeat_bits = scanner.bits("of a repeat");
    } else {
      refuse("source, layout, element, axes, register, lane, warp or repeat");
    }
    if (!scanner.done()) refuse("nothing behind it");
  }

  std::string word(LayoutScanner& scanner) {
    const std::string_view rest = scanner.rest();
    std::string result(rest.substr(0, rest.find_first_of(" ,")));
    if (result.empty()) refuse("a name");
    scanner.want(result);
    return result;
  }

  void read_columns(LayoutScanner& scanner, const Layout& layout, std::vector<f2::Word>& columns) {
    while (scanner.take("(")) {
      std::vector<f2::Word> coordinates;
      do coordinates.push_back(scanner.number());
      while (scanner.take(","));
      scanner.want(")");
      if (coordinates.size() != layout.axes.size()) refuse("a coordinate for each axis");
      for (std::size_t i = 0; i < coordinates.size(); ++i)
        if (coordinates[i] >> layout.axes[i].bits != 0) refuse("coordinates within their axes");
      columns.push_back(element_of(layout.axes, coordinates));
    }
  }

  [[noreturn]] void refuse(const std::string& wanted) const {
    fail(ErrorCode::spec, fmt::format("read the layouts in `{}`, line {}", file_, line_number_),
         fmt::format("`{}`", line_), wanted, "docs/guide/exchange.md describes the file");
  }

  std::string file_;
  std::string line_;
  std::string source_;
  std::vector<FileEntry> entries_;
  int line_number_ = 0;
};

std::vector<FileEntry> read_entries(const std::string& file, std::string_view text) {
  EntryReader reader(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    reader.read(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.entries();
}

const std::vector<FileEntry>& known_entries() {
  static const std::vector<FileEntry> all = [] {
    std::vector<FileEntry> entries;
    for (const LayoutFile& file : kLayoutFiles) {
      for (FileEntry& entry : read_entries(file.name, file.text)) {
        for (const std::string& alias : entry.aliases) {
          entries.push_back(entry);
          entries.back().name = alias;
        }
        entries.push_back(std::move(entry));
      }
    }
    return entries;
  }();
  return all;
}

// The number that stands for the `*` of a family's name: 64 of wgmma.m64n64.C. Nothing where it is no member.
std::optional<std::string> number_in(const std::string& family, const std::string& name) {
  const std::size_t star = family.find('*');
  if (star == std::string::npos || name.size() < family.size()) return std::nullopt;
  const std::string_view before = std::string_view(family).substr(0, star);
  const std::string_view after = std::string_view(family).substr(star + 1);
  if (!name.starts_with(before) || !name.ends_with(after)) return std::nullopt;
  const std::string digits = name.substr(star, name.size() - before.size() - after.size());
  if (digits.empty() || digits.size() > 6) return std::nullopt;
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return digits;
}

Layout repeated(const FileEntry& entry, const std::string& name, const std::string& digits) {
  const std::uint64_t number = std::stoull(digits);
  if (!f2::is_power_of_two(number) || f2::trailing_bit(number) < entry.repeat_bits)
    fail(ErrorCode::value, "find the layout `" + name + "`", digits + " for the * of `" + entry.name + "`",
         fmt::format("a power of two of at least {}", std::uint64_t{1} << entry.repeat_bits));
  std::vector<int> bits;
  bits.reserve(entry.layout.axes.size());
  for (const Axis& axis : entry.layout.axes) bits.push_back(axis.bits);
  bits[*entry.repeated_axis] += f2::trailing_bit(number) - entry.repeat_bits;
  return over_tile(entry.layout, bits, LayoutScanner(name));
}

std::string widths_text(const std::set<int>& widths) {
  return fmt::format("{} bits", fmt::join(widths, " or "));
}

}  // namespace

Layout named_layout(const std::string& name, int element) {
  std::set<int> widths;
  std::vector<std::string_view> names;
  for (const FileEntry& entry : known_entries()) {
    names.push_back(entry.name);
    const std::optional<std::string> digits = number_in(entry.name, name);
    if (entry.name != name && !digits) continue;
    if (!digits && entry.repeated_axis) continue;  // the family itself
    widths.insert(entry.elements.begin(), entry.elements.end());
    if (!entry.is_of(element)) continue;
    return digits ? repeated(entry, name, *digits) : entry.layout;
  }
  if (widths.empty())
    fail(ErrorCode::value, "find the layout", "`" + name + "`",
         "a name of `faro layout convert --list`, or a form", did_you_mean(name, names));
  fail(ErrorCode::value, "find the layout `" + name + "`", fmt::format("elements of {} bits", element),
       widths_text(widths), "`--element` says how many bits an element has");
}

Layout layout_in_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::vector<FileEntry> entries = read_entries(path, faro::detail::read_text_file(path, kMostBytes));
  if (entries.size() != 1)
    fail(ErrorCode::spec, "read the layout in `" + path + "`", fmt::format("{} layouts", entries.size()),
         "one layout", "a file that is given by its name has one");
  if (entries.front().repeated_axis)
    return repeated(entries.front(), path, std::to_string(1U << entries.front().repeat_bits));
  return entries.front().layout;
}

std::vector<LayoutName> layout_names() {
  std::vector<LayoutName> names;
  for (const FileEntry& entry : known_entries())
    for (const int element : entry.elements) names.push_back({entry.name, element, entry.source});
  return names;
}

}  // namespace faro::exchange
