# Checks that need the compiler's view, driven by ninja so that they run in parallel and only on
# what changed. scripts/lint calls both targets.

# Every header compiles alone, and twice.
file(GLOB_RECURSE headers RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS
  "src/*.h" "include/*.h")
set(checks "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "^(src|include)/" "" spelling "${header}")
  string(MAKE_C_IDENTIFIER "${header}" stem)
  set(file "${CMAKE_BINARY_DIR}/headers/${stem}.c")
  file(CONFIGURE OUTPUT "${file}" CONTENT
    "#include \"${spelling}\"\n#include \"${spelling}\"\ntypedef int ns_not_empty;\n")
  list(APPEND checks "${file}")
endforeach()
if(checks)
  add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${checks})
  target_link_libraries(check_headers PRIVATE noslip_flags ${NOSLIP_DEPENDENCIES})
else()
  add_custom_target(check_headers)
endif()

# clang-tidy on every source file of src/. A file is looked at again when it or a header of its
# layer or of a lower one has changed. Nearly all of its time goes into following paths:
# NOSLIP_TIDY_NODES limits them (0: the analyzer's own limit, 225000 in each function).
set(NOSLIP_TIDY_NODES 0 CACHE STRING "how far clang-tidy follows the paths of a function")
set(tidy_depth "")
if(NOSLIP_TIDY_NODES)
  foreach(word -Xclang -analyzer-config -Xclang max-nodes=${NOSLIP_TIDY_NODES})
    list(APPEND tidy_depth --extra-arg=${word})
  endforeach()
endif()
find_program(NOSLIP_TIDY clang-tidy-14)
add_custom_target(check_tidy)
set(stamps "")
set(layer_headers "")
foreach(layer IN LISTS NOSLIP_LAYERS ITEMS cli)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "src/${layer}/*.c")
  noslip_simd_sources(files)
  file(GLOB_RECURSE more CONFIGURE_DEPENDS "src/${layer}/*.h")
  list(APPEND layer_headers ${more})
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    set(stamp "${CMAKE_BINARY_DIR}/tidy/${layer}-${name}.ok")
    add_custom_command(OUTPUT "${stamp}"
      COMMAND ${NOSLIP_TIDY} --quiet -p "${CMAKE_BINARY_DIR}" ${tidy_depth} "${file}"
      COMMAND ${CMAKE_COMMAND} -E touch "${stamp}"
      DEPENDS "${file}" ${layer_headers} .clang-tidy
      COMMENT "clang-tidy ${layer}/${name}" VERBATIM)
    list(APPEND stamps "${stamp}")
  endforeach()
endforeach()
if(NOSLIP_TIDY AND stamps)
  add_custom_target(check_tidy_files DEPENDS ${stamps})
  add_dependencies(check_tidy check_tidy_files)
endif()
