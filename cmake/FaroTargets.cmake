# What all of our own targets share: warnings, instrumentation, and the facts of this build.

if(FARO_SANITIZE STREQUAL "address")
  # The fuzzers' instrumentation with it, so that unit tests and fuzzers share one build of the library.
  set(faro_instrumentation -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  set(faro_coverage -fsanitize=fuzzer-no-link)
  if(FARO_CHECKS STREQUAL "quick")
    # AddressSanitizer meets what is read through a null pointer or after its end, too; these cost a quarter of the time to compile.
    list(APPEND faro_instrumentation -fno-sanitize=null,vptr,object-size,function)
  endif()
elseif(FARO_SANITIZE STREQUAL "thread")
  set(faro_instrumentation -fsanitize=thread -fno-omit-frame-pointer)
elseif(NOT FARO_SANITIZE STREQUAL "")
  message(FATAL_ERROR "FARO_SANITIZE is `${FARO_SANITIZE}`; wanted empty, address or thread")
endif()
# An instrumented program takes GNU's linker seconds, and each of a hundred test programs half a second.
set(faro_linker "")
find_program(FARO_LLD ld.lld)
mark_as_advanced(FARO_LLD)
if(FARO_SANITIZE AND FARO_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(faro_linker -fuse-ld=lld)
endif()

# The instruction sets that Highway compiles for. Processors of the last ten years have AVX2 or more; older ones take the
# baseline. Instrumented vector code takes minutes to compile for each: there AVX2 and the baseline stand for all, and in quick
# checks the one of them that this machine runs. Where FARO_CPU_TARGETS is NATIVE, the best set of this machine's processor is the
# only one, and the command says so on a processor that lacks it (cli/main.cpp).
set(faro_instruction_sets "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4)")
set(native_generations "")
if(FARO_SANITIZE)
  set(faro_instruction_sets "-DHWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
  if(FARO_CHECKS STREQUAL "quick")
    set(native_generations haswell:HWY_AVX2)
  endif()
elseif(FARO_CPU_TARGETS STREQUAL "NATIVE")
  set(native_generations haswell:HWY_AVX2 skylake_x:HWY_AVX3 ice_lake:HWY_AVX3_DL)
elseif(NOT FARO_CPU_TARGETS STREQUAL "ALL")
  message(FATAL_ERROR "FARO_CPU_TARGETS is `${FARO_CPU_TARGETS}`; wanted ALL or NATIVE")
endif()
if(native_generations AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE native_macros ERROR_QUIET)
  set(ice_lake VPCLMULQDQ VAES AVX512VBMI AVX512VBMI2 AVX512VPOPCNTDQ AVX512BITALG AVX512VNNI)
  set(skylake_x AVX512F AVX512BW AVX512DQ AVX512VL AVX512CD)
  set(haswell AVX2 FMA F16C BMI BMI2)
  set(native_target "")
  set(native_needs "")
  foreach(generation IN LISTS native_generations)
    string(REPLACE ":" ";" generation ${generation})
    list(GET generation 0 features)
    set(has_all TRUE)
    foreach(feature IN LISTS ${features})
      if(NOT native_macros MATCHES "__${feature}__")
        set(has_all FALSE)
      endif()
    endforeach()
    if(NOT has_all)
      break()
    endif()
    list(APPEND native_needs ${${features}})
    list(GET generation 1 native_target)
  endforeach()
  if(native_target)
    set(faro_instruction_sets -DHWY_COMPILE_ONLY_STATIC -DHWY_BASELINE_TARGETS=${native_target})
  endif()
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # NEON, which every 64-bit ARM has, and no dispatch: Highway's own would ask for the instructions of AES as well, which some lack.
  # Registers of SVE cannot be held in arrays, as micro tiles hold them.
  set(faro_instruction_sets -DHWY_COMPILE_ONLY_STATIC -DTOOLCHAIN_MISS_SYS_AUXV_H)
endif()

set(faro_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # "literal" + std::to_string(i) warns falsely: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
  list(APPEND faro_warnings -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # g++ leaves these out of -Wconversion, and warns of names that are shadowed by another file of a layer less eagerly.
  list(APPEND faro_warnings -Wno-sign-conversion -Wno-shadow)
  # A loop under `omp simd` that clang leaves as it is, at -O1 and instrumented, is slower and no fault.
  list(APPEND faro_warnings -Wno-pass-failed)
endif()

# Units of whole layers leave hundreds of megabytes behind; to collect them again and again takes a tenth of g++'s time.
set(faro_compiler_heap "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND FARO_COMPILER_HEAP GREATER 0)
  math(EXPR heap_kib "${FARO_COMPILER_HEAP} * 1024")
  set(faro_compiler_heap "SHELL:--param ggc-min-heapsize=${heap_kib}")
endif()

# What nvcc hands to the host's compiler also holds its own code and, for the device, pragmas.
set(faro_cuda_warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas)

function(faro_own_target target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${faro_warnings}>
    $<$<COMPILE_LANGUAGE:CUDA>:${faro_cuda_warnings}> $<$<COMPILE_LANGUAGE:CXX>:${faro_instrumentation}>
    $<$<COMPILE_LANGUAGE:CXX>:${faro_instruction_sets}> $<$<COMPILE_LANGUAGE:CXX>:${faro_compiler_heap}>)
  target_link_options(${target} PRIVATE ${faro_instrumentation} ${faro_coverage} ${faro_linker})
  if(FARO_WERROR)
    set_target_properties(${target} PROPERTIES COMPILE_WARNING_AS_ERROR ON)
  endif()
endfunction()

# For programs that are not installed: by LLVM's linker, where it is.
function(faro_link_fast target)
  if(FARO_LLD AND NOT CMAKE_CROSSCOMPILING)
    target_link_options(${target} PRIVATE -fuse-ld=lld)
  endif()
endfunction()

# One layer of the library: the sources below src/FOLDER..., or ROOT/FOLDER..., as objects that go into `library`. Of src the latter have
# the headers that docs/architecture.md names, as tools/check_layers.py sees to.
#
#     faro_layer(LIBRARY NAME [ROOT src] FOLDERS FOLDER... [HOT REGEX LEVEL -O2] [COLD -O1] [PARSES])
#
# Files of a layer are compiled together (FARO_UNITY), which takes a third of the time; names in their unnamed namespaces are
# therefore unique within a layer. What decides and tells is optimised little (-Og, or COLD) in a Release build. Files whose path matches
# HOT, which move or search arrays, are compiled together at LEVEL; so is, file by file and at -O2, what includes itself once for each
# of Highway's instruction sets. In the quick sanitized build only what PARSES texts and files of strangers tells fuzzers which branches
# they reached, and checks the alignment of what it reads.
function(faro_layer library name)
  cmake_parse_arguments(layer "PARSES" "HOT;LEVEL;COLD;ROOT" "FOLDERS" ${ARGN})
  set(root ${PROJECT_SOURCE_DIR}/src)
  if(layer_ROOT)
    set(root ${layer_ROOT})
  endif()
  set(files "")
  foreach(folder IN LISTS layer_FOLDERS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${root}/${folder}/*.cpp ${root}/${folder}/*.cu)
    file(GLOB single CONFIGURE_DEPENDS ${root}/${folder}.cpp)
    list(APPEND files ${found} ${single})
  endforeach()
  faro_leave_out(files)
  set(cold ${files})
  if(layer_HOT)
    set(hot ${files})
    list(FILTER hot INCLUDE REGEX "^${root}/(${layer_HOT})")
    list(FILTER cold EXCLUDE REGEX "^${root}/(${layer_HOT})")
    if(hot)
      faro_layer_objects(${library} ${library}_${name}_hot ${layer_LEVEL} ${hot})
    endif()
    if(FARO_SANITIZE STREQUAL "address" AND NOT FARO_CHECKS STREQUAL "quick")
      target_compile_options(${library}_${name}_hot PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${faro_coverage}>)
    endif()
  endif()
  if(cold)
    if(NOT layer_COLD)
      set(layer_COLD -Og)
    endif()
    faro_layer_objects(${library} ${library}_${name} ${layer_COLD} ${cold})
    if(FARO_SANITIZE STREQUAL "address")
      if(layer_PARSES OR NOT FARO_CHECKS STREQUAL "quick")
        target_compile_options(${library}_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${faro_coverage}>)
      else()
        target_compile_options(${library}_${name} PRIVATE -fno-sanitize=alignment)
      endif()
    endif()
  endif()
endfunction()

# What costs nothing where nothing is moved: checked indices and buffers, in Release builds.
function(faro_harden target)
  if(NOT FARO_SANITIZE)
    target_compile_definitions(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:_FORTIFY_SOURCE=2;_GLIBCXX_ASSERTIONS>)
  endif()
endfunction()

function(faro_layer_objects library layer level)
  add_library(${layer} OBJECT ${ARGN})
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${layer}>)
  target_include_directories(${layer} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  if(layer_ROOT)
    target_include_directories(${layer} PRIVATE ${layer_ROOT} ${layer_ROOT}/include)
  endif()
  target_include_directories(${layer} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${layer} PRIVATE OpenMP::OpenMP_CXX hwy::hwy fmt::fmt nlohmann_json::nlohmann_json faro_build_info)
  target_compile_features(${layer} PRIVATE cxx_std_20)
  set_target_properties(${layer} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${FARO_UNITY} UNITY_BUILD_BATCH_SIZE 0)
  faro_use_cuda(${layer})
  faro_own_target(${layer})
  # A type of an unnamed namespace in a class of one of the files is no fault where files are compiled together.
  target_compile_options(${layer} PRIVATE $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-subobject-linkage>)
  target_compile_options(${layer} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:${level}>)
  if(NOT BUILD_SHARED_LIBS)
    # A layer is one object: a program that is linked with the library leaves out what it does not call.
    target_compile_options(${layer} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-ffunction-sections> $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-fdata-sections>)
  endif()
  if(FARO_SANITIZE AND (level STREQUAL "-Og" OR (FARO_CHECKS STREQUAL "quick" AND level STREQUAL "-O1")))
    # Instrumented, kernels that the planner counts take five minutes at -O1 and one so, parsers 53 s and 16.
    target_compile_options(${layer} PRIVATE -O0)
  endif()
  if(level MATCHES "^-O[1g]$")
    faro_harden(${layer})
  endif()
  set(sources ${ARGN})
  list(FILTER sources INCLUDE REGEX "cpp$")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} repeats REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
    if(repeats)
      # At -O2 loops over a tile's rows are not unrolled: tiles of single bytes lost a fifth (docs/notes/cpu-experiments.md).
      # Products are rounded before they are added to, whatever the instruction set: every one gives the same bits.
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
        COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>;-ffp-contract=off")
    endif()
  endforeach()
endfunction()

# The verb NAME of the command, in verb_NAME.cpp of the caller's folder and the files named after it, on `library`: a project of extras/ adds
# it where it is built.
function(faro_extra_verb name library)
  if(TARGET faro)
    target_include_directories(faro PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    foreach(file IN ITEMS verb_${name}.cpp ${ARGN})
      target_sources(faro PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endforeach()
    target_link_libraries(faro PRIVATE ${library})
    set_property(GLOBAL APPEND PROPERTY faro_extra_verbs ${name}_verb)
  endif()
endfunction()

# #include "faro_extra_verbs.hpp" gives faro::cli::extra_verbs(), what makes each of them, and missing_verbs(), those of projects that are
# not built.
function(faro_write_extra_verbs)
  set(missing "")
  if(FARO_DEMO)
    foreach(verb IN ITEMS layout emit tune wisdom take put add route shuffle recover convert checkpoint)
      string(APPEND missing "{\"${verb}\", \"the whole command\"}, ")
    endforeach()
  endif()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/extras/*/verb_*.cpp)
  foreach(file IN LISTS files)
    string(REGEX MATCH "^(extras/([a-z]+))/verb_([a-z]+)" matched ${file})
    if(NOT CMAKE_MATCH_2 IN_LIST faro_extras)
      string(APPEND missing "{\"${CMAKE_MATCH_3}\", \"${CMAKE_MATCH_1}\"}, ")
    endif()
  endforeach()
  get_property(verbs GLOBAL PROPERTY faro_extra_verbs)
  set(declarations "")
  foreach(verb IN LISTS verbs)
    string(APPEND declarations "Verb ${verb}(CLI::App& app);\n")
  endforeach()
  list(JOIN verbs ", " verbs)
  file(CONFIGURE OUTPUT ${faro_build_info_dir}/faro_extra_verbs.hpp @ONLY CONTENT [=[
#pragma once
#include <vector>
#include "cli/verbs.hpp"
namespace faro::cli {
@declarations@inline std::vector<Verb (*)(CLI::App&)> extra_verbs() { return {@verbs@}; }
struct MissingVerb {
  const char* verb;
  const char* project;
};
inline std::vector<MissingVerb> missing_verbs() { return {@missing@}; }
}  // namespace faro::cli
]=])
endfunction()

# #include "faro_build_info.hpp" gives FARO_VERSION, FARO_COMMIT and FARO_CUDA_STATUS as string literals. The commit is
# looked up at every build, and only the files that include the header are compiled again when it changes.
set(faro_build_info_dir ${PROJECT_BINARY_DIR}/generated)
add_custom_target(faro_build_info_header
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
          "-DCUDA_STATUS_FILE=${faro_build_info_dir}/cuda_status.txt"
          -D OUTPUT=${faro_build_info_dir}/faro_build_info.hpp -P ${PROJECT_SOURCE_DIR}/cmake/WriteBuildInfo.cmake
  BYPRODUCTS ${faro_build_info_dir}/faro_build_info.hpp
  COMMENT "Noting version and commit" VERBATIM)
add_library(faro_build_info INTERFACE)
add_dependencies(faro_build_info faro_build_info_header)
target_include_directories(faro_build_info INTERFACE ${faro_build_info_dir})

# #include "faro_processor.hpp" gives faro::processor_suffices(): whether the processor that runs has what this build was
# compiled for (FARO_CPU_TARGETS), and its name.
set(processor_features true)
string(REPLACE "HWY_" "" native_name "${native_target}")
foreach(feature IN LISTS native_needs)
  string(TOLOWER ${feature} feature)
  string(APPEND processor_features " && __builtin_cpu_supports(\"${feature}\")")
endforeach()
file(CONFIGURE OUTPUT ${faro_build_info_dir}/faro_processor.hpp @ONLY CONTENT [=[
#pragma once
namespace faro {
inline constexpr const char* kInstructionSet = "@native_name@";
inline bool processor_suffices() { return @processor_features@; }
}  // namespace faro
]=])
