#include "cli/number_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdlib>

#include "cli/arguments.hpp"
#include "cli/report.hpp"
#include "faro/error.hpp"
#include "faro/faro.hpp"
#include "faro/suggest.hpp"

namespace faro::cli {
namespace {

constexpr bool kLittleEndian = std::endian::native == std::endian::little;

struct FileNumber {
  Number number = Number::f32;
  bool swapped = false;  // of the other byte order
};

// Nothing for dtypes that hold no numbers, and for those of 1 byte that may be several.
std::optional<FileNumber> number_of(const io::NpyTypeCode& code) {
  if (code.kind == 'V' && code.item_bytes == 2) return FileNumber{.number = Number::bf16};
  if (code.kind == 'f' && code.item_bytes == 1) return FileNumber{.number = Number::f8_e5m2};
  for (int n = 0; n < kNumbers; ++n) {
    const auto number = static_cast<Number>(n);
    const bool is_numpys = number != Number::bf16 && number < Number::f8_e4m3fn;
    if (!is_numpys || bytes_of(number) != code.item_bytes || name(number)[0] != code.kind) continue;
    return FileNumber{.number = number, .swapped = code.item_bytes > 1 && code.big_endian == kLittleEndian};
  }
  return std::nullopt;
}

// A type's word. NumPy's come first: `i8` has 8 bytes.
FileNumber number_of_word(const char* option, const std::string& word) {
  const auto code = io::npy_type_code(word);
  if (code && code->kind != 'V') {
    if (const auto found = number_of(*code)) return *found;
  }
  if (const auto number = number_named(word)) return {.number = *number};
  std::vector<std::string_view> names = io::npy_type_names();
  for (const char* added : {"bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"})
    names.emplace_back(added);
  fail(ErrorCode::value, std::string("read ") + option, "`" + word + "`",
       "a type of numbers such as float32, >f4, uint8, bfloat16 or float8_e4m3fn", did_you_mean(word, names));
}

FileNumber number_of_file(const std::string& operation, const io::NpyHeader& header,
                          const std::string& dtype_in) {
  if (!dtype_in.empty()) {
    const FileNumber given = number_of_word("--dtype-in", dtype_in);
    if (bytes_of(given.number) == header.item_bytes) return given;
    fail(ErrorCode::value, operation, fmt::format("--dtype-in {} on dtype {}", dtype_in, header.descr),
         fmt::format("a type of {}", size_text(header.item_bytes)));
  }
  const auto code = header.type_code();
  if (const auto found = code ? number_of(*code) : std::nullopt) return *found;
  fail(ErrorCode::value, operation, "numbers to be changed in dtype " + header.descr,
       "integers, floating-point or complex numbers, or bool",
       "--dtype-in says what its items are, such as float8_e4m3fn");
}

// As ml_dtypes writes its types, but for one that NumPy does not read (number_options.hpp).
std::string descr_of(const FileNumber& of) {
  const std::uint64_t bytes = bytes_of(of.number);
  const char* const usual = kLittleEndian ? "<" : ">";
  const char* const other = kLittleEndian ? ">" : "<";
  if (of.number == Number::bf16 || of.number >= Number::f8_e4m3fn)
    return fmt::format("'{}V{}'", usual, bytes);
  return fmt::format("'{}{}{}'", bytes == 1 ? "|" : of.swapped ? other : usual, name(of.number)[0], bytes);
}

// "0.5", "1/255", "2-1j", "-1j".
std::complex<double> parse_value(const std::string& option, const std::string& text) {
  const auto refuse = [&] {
    fail(ErrorCode::value, "read " + option, "`" + text + "`", "a number such as 0.5, 1/255 or 2-1j");
  };
  const auto real = [&](const char* from, const char*& end) {
    char* after = nullptr;
    const double value = std::strtod(from, &after);
    end = after;
    if (after == from || *from == ' ') refuse();
    return value;
  };
  const char* end = nullptr;
  double first = real(text.c_str(), end);
  if (*end == '/') first /= real(end + 1, end);
  if (*end == '\0') return first;
  if (std::string_view(end) == "j") return {0, first};
  if (*end != '+' && *end != '-') refuse();
  const double second = real(end, end);
  if (std::string_view(end) != "j") refuse();
  return {first, second};
}

// The numbers of a small .npy file of one axis.
std::vector<std::complex<double>> values_of_file(const std::string& option, const std::string& path) {
  const io::NpyInput input(path);
  const io::NpyHeader& header = input.header();
  const std::string operation = fmt::format("read {} `{}`", option, path);
  if (header.shape.size() > 1)
    fail(ErrorCode::value, operation, "shape " + shape_text(header.shape), "one axis");
  const FileNumber from = number_of_file(operation, header, "");
  std::vector<std::complex<double>> values(header.item_count());
  const Strided all{.extents = {values.size()}, .in_strides = {1}, .out_strides = {1}};
  const auto plan =
      faro::plan(all, Arithmetic{.from = from.number, .to = Number::c128, .in_swapped = from.swapped},
                 {.engine = Engine::cpu});
  plan.run({input.data().data(), values.size()}, values.data(), values.size());
  return values;
}

Coefficient parse_coefficient(const std::string& option, const std::string& text, double usual) {
  if (text.empty()) return {{usual}, {}};
  if (text.ends_with(".npy")) return {values_of_file(option, text), {}};
  Coefficient made;
  for (const std::string& value : split(text, ',')) made.values.push_back(parse_value(option, value));
  return made;
}

Function parse_function(const std::string& text) {
  if (text.empty()) return Function::identity;
  if (const auto function = function_named(text)) return *function;
  std::vector<std::string_view> names;
  names.reserve(kFunctions);
  for (int f = 0; f < kFunctions; ++f) names.emplace_back(name(static_cast<Function>(f)));
  fail(ErrorCode::value, "read --op", "`" + text + "`",
       "conj, neg, abs, reciprocal, sqrt, exp, log, tanh, sigmoid, relu or gelu", did_you_mean(text, names));
}

ToInteger parse_rounding(const std::string& text) {
  if (text.empty() || text == "truncate") return ToInteger::truncate;
  if (text == "nearest") return ToInteger::nearest;
  fail(ErrorCode::value, "read --rounding", "`" + text + "`", "truncate or nearest");
}

}  // namespace

void NumberOptions::add_to(CLI::App& command) {
  add_common(command);
  add_text(command, "--add", add, "FILE.npy", "Add this array, of the result's shape and of any type");
}

void NumberOptions::add_types_to(CLI::App& command) {
  add_common(command);
  add_text(command, "--add", add, "TYPE", "Add a third array, of the result's shape and of this type");
}

void NumberOptions::add_common(CLI::App& command) {
  add_text(command, "--dtype", dtype, "TYPE",
           "Convert to numbers of this type, such as bfloat16, f4 or >f4, in the same sweep");
  add_text(command, "--dtype-in", dtype_in, "TYPE",
           "What the items of IN are, where its header does not tell: >f4, bfloat16, float8_e4m3fn");
  add_text(
      command, "--op", op, "F",
      "Apply this to each number: conj, neg, abs, reciprocal, sqrt, exp, log, tanh, sigmoid, relu or gelu");
  add_text(
      command, "--scale", scale, "S",
      "Multiply each number: by 0.5, 1/255 or 2-1j; or by a list or an .npy file of values, see --along");
  add_text(command, "--offset", offset, "S", "Add this to each number, likewise");
  add_text(command, "--along", along, "K",
           "The axis of the result along which --scale and --offset have a value for each index");
  add_text(command, "--beta", beta, "S", "With --add: multiply the added array by this");
  add_text(command, "--rounding", rounding, "WAY",
           "Of floats to integers: truncate (the default) or nearest");
  command.add_flag("--saturate", saturate,
                   "Numbers beyond a float of 16 or 8 bits become its largest instead of infinity or NaN");
}

std::string NumberOptions::first() const { return dtype.empty() ? first_beside_dtype() : "--dtype"; }

std::string NumberOptions::first_beside_dtype() const {
  return first_given({{"--dtype-in", !dtype_in.empty()},
                      {"--op", !op.empty()},
                      {"--scale", !scale.empty()},
                      {"--offset", !offset.empty()},
                      {"--along", !along.empty()},
                      {"--add", !add.empty()},
                      {"--beta", !beta.empty()},
                      {"--rounding", !rounding.empty()},
                      {"--saturate", saturate}});
}

std::optional<NumberChange> NumberOptions::change(const std::string& operation,
                                                  const io::NpyHeader& header) const {
  if (first().empty()) return std::nullopt;
  if (!beta.empty() && add.empty())
    fail(ErrorCode::value, operation, "--beta without --add", "--add FILE.npy with it");
  const FileNumber from = number_of_file(operation, header, dtype_in);
  const FileNumber to = dtype.empty() ? from : number_of_word("--dtype", dtype);
  NumberChange made{.arithmetic = {.from = from.number,
                                   .to = to.number,
                                   .function = parse_function(op),
                                   .scale = parse_coefficient("--scale", scale, 1),
                                   .offset = parse_coefficient("--offset", offset, 0),
                                   .to_integer = parse_rounding(rounding),
                                   .saturated = saturate,
                                   .in_swapped = from.swapped,
                                   .out_swapped = to.swapped},
                    .descr = dtype.empty() && dtype_in.empty() ? header.descr : descr_of(to),
                    .along = along,
                    .added = add};
  if (!add.empty()) {
    const FileNumber added = number_of_file("read --add `" + add + "`", io::read_npy_header(add), "");
    made.arithmetic.addend =
        Addend{.number = added.number,
               .beta = beta.empty() ? std::complex<double>(1) : parse_value("--beta", beta),
               .swapped = added.swapped};
  }
  const auto has_list = [](const Coefficient& of) { return of.values.size() != 1; };
  const bool has_lists = has_list(made.arithmetic.scale) || has_list(made.arithmetic.offset);
  if (has_lists && along.empty()) {
    fail(ErrorCode::value, operation, "several values of --scale or --offset without --along",
         "--along K, the axis of the result that they belong to");
  }
  if (scale.empty() && offset.empty() && !along.empty())
    fail(ErrorCode::value, operation, "--along without --scale and --offset", "one of them with it");
  if (!is_plain(made.arithmetic)) return made;
  if (dtype.empty() && !dtype_in.empty())
    fail(ErrorCode::value, operation, "options of numbers and nothing that changes them",
         "--dtype, --op, --scale, --offset or --add with --dtype-in, --rounding or --saturate");
  return std::nullopt;
}

std::optional<Arithmetic> NumberOptions::of_types(const std::string& operation,
                                                  const std::vector<std::uint64_t>& shape) const {
  if (first().empty()) return std::nullopt;
  if (dtype_in.empty())
    fail(ErrorCode::value, operation, first() + " without --dtype-in",
         "--dtype-in TYPE, what the input's numbers are");
  if (!beta.empty() && add.empty())
    fail(ErrorCode::value, operation, "--beta without --add", "--add TYPE with it");
  const FileNumber from = number_of_word("--dtype-in", dtype_in);
  const io::NpyHeader header{.descr = descr_of(from), .item_bytes = bytes_of(from.number), .shape = {}};
  NumberOptions alone = *this;
  alone.add.clear();
  alone.beta.clear();
  std::optional<Addend> addend;
  if (!add.empty()) {
    const FileNumber added = number_of_word("--add", add);
    addend = Addend{.number = added.number,
                    .beta = beta.empty() ? std::complex<double>(1) : parse_value("--beta", beta),
                    .swapped = added.swapped};
    if (alone.dtype.empty()) alone.dtype = dtype_in;
  }
  NumberChange made{.arithmetic = {.from = from.number,
                                   .to = from.number,
                                   .in_swapped = from.swapped,
                                   .out_swapped = from.swapped},
                    .descr = {},
                    .along = {},
                    .added = {}};
  if (const auto change = alone.change(operation, header)) made = *change;
  Arithmetic arithmetic = made.of_result(operation, shape, io::MemoryOrder::c).arithmetic;
  arithmetic.addend = addend;
  arithmetic.shape = shape;
  return arithmetic;
}

file::Numbers NumberOptions::example(const std::function<std::vector<std::uint64_t>()>& result_shape) const {
  const FileNumber from = number_of_word("--dtype-in", dtype_in);
  const io::NpyHeader header{.descr = descr_of(from), .item_bytes = bytes_of(from.number), .shape = {}};
  const auto made = change("explain", header);
  if (!made) return {.arithmetic = {.from = from.number, .to = from.number}};
  if (made->along.empty() && made->added.empty()) return {.arithmetic = made->arithmetic};
  return made->of_result("explain", result_shape(), io::MemoryOrder::c);
}

file::Numbers NumberChange::of_result(const std::string& operation, const std::vector<std::uint64_t>& shape,
                                      io::MemoryOrder order) const {
  file::Numbers made{.arithmetic = arithmetic};
  if (!along.empty()) {
    if (shape.empty()) fail(ErrorCode::value, operation, "--along of a result without axes", "one number");
    const std::uint64_t axis = parse_axis(along, shape.size(), "--along");
    made.shape = shape;
    if (order == io::MemoryOrder::fortran) std::reverse(made.shape.begin(), made.shape.end());
    const auto place = [&](Coefficient& of, const char* option) {
      if (of.values.size() == 1) return;  // one for all, given or not
      if (of.values.size() != shape[axis]) {
        fail(
            ErrorCode::value, operation, fmt::format("{} values of {}", of.values.size(), option),
            fmt::format("{}, the extent of axis {} of the result, {}", shape[axis], axis, shape_text(shape)));
      }
      of.axis = order == io::MemoryOrder::fortran ? shape.size() - 1 - axis : axis;
    };
    place(made.arithmetic.scale, "--scale");
    place(made.arithmetic.offset, "--offset");
  }
  if (added.empty()) return made;
  const io::NpyHeader header = io::read_npy_header(added);
  const bool has_order = header.fortran_order == (order == io::MemoryOrder::fortran) ||
                         header.shape.size() < 2 || header.item_count() == 0;
  if (header.shape != shape || !has_order) {
    fail(ErrorCode::value, operation,
         fmt::format("--add {} of shape {}{}", added, shape_text(header.shape),
                     header.fortran_order ? " in Fortran order" : ""),
         fmt::format("the result's shape {}, in {} order", shape_text(shape),
                     order == io::MemoryOrder::fortran ? "Fortran" : "C"));
  }
  made.addend = {.path = added, .offset = header.data_offset};
  return made;
}

}  // namespace faro::cli
