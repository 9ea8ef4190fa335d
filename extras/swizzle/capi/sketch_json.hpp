// Specifications and sketches (faro/swizzle/program.hpp) from JSON, as faro.sketch in Python writes them.
//
//     value        ["I", 3]                                             element 3 of array I
//                  {"sum": {"outer": "+", …}, "terms": [[value, …], …]}
//     expression   7   ["lane"]   ["warp"]   ["block"]   ["loop", 0]   ["argument", 0]   ["hole", 1, expression, …]
//                  ["+", a, b]   -  *  /  %  ^  <  <=  ==  and  or   ["not", a]   ["select", condition, a, b]
//     register     [number of its array, expression]
//     statement    ["load", register, array, expression, when]   ["store", array, expression, register, when]
//                  ["shuffle", register, register, expression]   ["permute", registers, registers, expression of argument 0]
//                  ["move", register, register]   ["accumulate", accumulator, [register, …], when]
//                  ["start", accumulator, [register, …]]
//                  ["evaluate", register, accumulator]   ["store_sum", array, expression, accumulator, when]
//                  ["barrier"]   ["present", registers, array, expression, when]
//                  ["loop", number, name, count, [statement, …]]
//                  ["global_to_registers" | "registers_to_global", registers, array, transfer]
//
// Division and remainder are those of mathematics. Numbers count what was declared before, from 0.
#pragma once

#include <nlohmann/json.hpp>

#include "faro/swizzle/examples.hpp"
#include "faro/swizzle/program.hpp"
#include "faro/swizzle/specification.hpp"

namespace faro::capi {

using Json = nlohmann::ordered_json;

/// "+" and "lane", as expressions begin; empty for constants.
const char* word_of(swizzle::IndexKind kind);

/// {"arrays": [{"name", "kind", "size"}, …], "wanted": {"O": [[index, value], …]}}
/// Errors: those of Specification; ErrorCode::spec for what is none.
swizzle::Specification specification_of(const Json& json);

/// {"warp", "warps", "blocks", "banks" where it is not as many as lanes, "declarations": [{"kind", "name",
/// …}, …], "statements": [statement, …]} Errors: those of Program; ErrorCode::spec for what is none.
swizzle::Program program_of(const Json& json, const swizzle::Specification& specification);

/// {"name", "specification", "sketch"}: a sketch's file. Law: sketch_file(sketch_of(json)) is the same text
/// again for what sketch_file() has written. Errors: those of both.
swizzle::Example sketch_of(const Json& json);
std::string sketch_file(const swizzle::Example& example);
/// The same of a file's text. Errors: ErrorCode::spec, naming the file, for what is no JSON of a sketch.
swizzle::Example read_sketch(const std::string& text, const std::string& file);

}  // namespace faro::capi
