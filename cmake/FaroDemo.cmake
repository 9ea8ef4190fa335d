# FARO_DEMO: the command as `make demo` shows it. Sources that it does not reach are not compiled. What calls them
# is linked to faro_left_out() (cli/left_out.cpp), which refuses by name: tools/left_out.sh lists the functions that the linker lacks.
set(faro_demo_lacks "cli/(bench_shards|permute_(bits|devices|file|in_place|shards|store|stream)|simulate_shards)"
  "cli/verb_(checkpoint|convert|emit|layout|recover|route|rows|shuffle|tune|wisdom)" "src/(store|packed|shard|emit)/" "src/file/([^n]|n[^p])"
  "src/engines/cpu/(rows|values|tune)")
# On a machine with a GPU the demo runs there, and tells what was counted of its kernels. Elsewhere it moves arrays by affine maps and by
# axes: what moves them by index arrays, in place, by rows and with arithmetic is left out, and who reads such maps. Whatever axes may
# choose on another processor stays.
set(faro_demo_lacks_of_gpus "cli/(file_(plan|report)|ordered_input|row_dtype)"
  "src/(number_oracle|shell|machine/|plan/gpu|tell/(counts/[^l]|explain_rows|row_counts|svg_(box|figure|orbits)|tile_facts))"
  "src/api/(caches|executable_(arithmetic|blocks)|family|group|in_place_run|measured_choice|modular|reused_rows|routing|rows|run_whole|segments)"
  "src/engines/cpu/(family|in_place/|index/[^ae]|modular|transpose/)"
  "src/engines/cuda/(host/(calibrate|compiled|device_[st]|emitted|mapped|nvrtc|pieces|value))"
  "src/kernels/(affine_[bi]|[^a]|axes)" "src/schedule/(conflict|edge|euler|index_schedule_check|partition(_check)?\\.|perfect|plan|regular|runs|shared)"
  "src/layout/(adviser|bank_phases|box_|candidates|cyclic_blocks|in_place|layout_svg|placement|ragged|xor_search)"
  "src/permutation/(affine_json|arithmetic|cache_checks|circuit|computed|h|index_(check|file|rows|sweep)|meeting|modular|picture|qasm|recognise|rows|route|sampled|spec_file)"
  "src/plan/((block|family|row|value)_plan|choose_transpose|(cpu_|gpu_)?in_place|moved|row_values)")

# Takes what the demo does not reach out of a list of sources.
function(faro_leave_out list_name)
  set(sources ${${list_name}})
  if(FARO_DEMO)
    foreach(lacking IN LISTS faro_demo_lacks)
      list(FILTER sources EXCLUDE REGEX "^(${PROJECT_SOURCE_DIR}/)?${lacking}")
    endforeach()
    if(NOT FARO_HAVE_CUDA)
      foreach(lacking IN LISTS faro_demo_lacks_of_gpus)
        list(FILTER sources EXCLUDE REGEX "^(${PROJECT_SOURCE_DIR}/)?${lacking}")
      endforeach()
    endif()
  else()
    list(FILTER sources EXCLUDE REGEX "^cli/left_out\\.cpp")
  endif()
  set(${list_name} ${sources} PARENT_SCOPE)
endfunction()

function(faro_refuse_left_out target)
  if(FARO_DEMO)
    add_custom_command(TARGET ${target} PRE_LINK COMMAND_EXPAND_LISTS VERBATIM
      COMMAND ${PROJECT_SOURCE_DIR}/tools/left_out.sh ${PROJECT_BINARY_DIR}/left_out.ld $<TARGET_OBJECTS:${target}> $<TARGET_FILE:faro_library>)
    target_link_options(${target} PRIVATE ${PROJECT_BINARY_DIR}/left_out.ld)
    target_compile_definitions(${target} PRIVATE FARO_DEMO)
  endif()
endfunction()
