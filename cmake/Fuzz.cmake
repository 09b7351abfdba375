# Fuzz targets: every fuzz/fuzz_*.c with LLVMFuzzerTestOneInput, against a library compiled for
# coverage. Only the library and these are built; scripts/fuzz runs them.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "NOSLIP_FUZZ needs clang: use `cmake --preset fuzz`")
endif()
target_compile_options(noslip_objects PRIVATE -fsanitize=fuzzer-no-link)

file(GLOB fuzz_targets CONFIGURE_DEPENDS "fuzz/fuzz_*.c")
foreach(file IN LISTS fuzz_targets)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} "${file}")
  target_link_libraries(${name} PRIVATE noslip_flags noslip_static ${NOSLIP_DEPENDENCIES})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  set_source_files_properties("${file}" PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
# of the program, not of the library
target_sources(fuzz_tree PRIVATE src/cli/lsp/tree.c)
target_sources(fuzz_lsp PRIVATE src/cli/lsp/tree.c src/cli/lsp/lsp.c)
