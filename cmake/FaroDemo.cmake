# FARO_DEMO: the command as `make demo` shows it. Sources that it does not reach are not compiled. What calls them
# is linked to faro_left_out() (cli/left_out.cpp), which refuses by name: tools/left_out.sh lists the functions that the linker lacks.
set(faro_demo_lacks "cli/(bench_shards|permute_(bits|devices|file|in_place|shards|store|stream)|simulate_shards)"
  "cli/verb_(checkpoint|convert|emit|layout|recover|route|rows|shuffle|tune|wisdom)" "src/(store|file|packed|shard|emit)/"
  "src/engines/cpu/(rows|values|tune)")
# On a machine with a GPU the demo runs there, and tells what was counted of its kernels.
set(faro_demo_lacks_of_gpus "src/(machine/|plan/gpu|tell/counts/[^l])")

# Takes what the demo does not reach out of a list of sources.
function(faro_leave_out list_name)
  set(sources ${${list_name}})
  if(FARO_DEMO)
    foreach(lacking IN LISTS faro_demo_lacks)
      list(FILTER sources EXCLUDE REGEX "^(${PROJECT_SOURCE_DIR}/)?${lacking}")
    endforeach()
    if(NOT FARO_HAVE_CUDA)
      list(FILTER sources EXCLUDE REGEX "^(${PROJECT_SOURCE_DIR}/)?${faro_demo_lacks_of_gpus}")
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
