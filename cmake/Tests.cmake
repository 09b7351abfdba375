# Tests: every test_*.c in a folder of tests is one cmocka program linked to the static library
# (so that it sees internal functions), every test_*.sh one script run by bash.
enable_testing()
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(LAPACK REQUIRED IMPORTED_TARGET lapacke openblas) # a judge; no part of noslip

file(GLOB test_programs CONFIGURE_DEPENDS "tests/*/test_*.c" "tests/*/*/test_*.c")
file(GLOB test_scripts CONFIGURE_DEPENDS "tests/*/test_*.sh" "tests/*/*/test_*.sh")
file(GLOB test_support CONFIGURE_DEPENDS "tests/support/*.c")

# Debian's own interpreter is the one that has python3-h5py and python3-numpy.
find_program(NOSLIP_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(NOSLIP_PYTHON python3)

set(program "")
if(TARGET noslip_program)
  set(program "$<TARGET_FILE:noslip_program>")
endif()

add_library(test_flags INTERFACE)
target_link_libraries(test_flags INTERFACE noslip_flags PkgConfig::CMOCKA PkgConfig::LAPACK
  ${NOSLIP_DEPENDENCIES})
target_include_directories(test_flags INTERFACE "${CMAKE_SOURCE_DIR}/tests")
target_compile_definitions(test_flags INTERFACE
  NS_MODELS_DIR="${CMAKE_SOURCE_DIR}/models" NS_DOCS_DIR="${CMAKE_SOURCE_DIR}/docs"
  NS_TESTS_DIR="${CMAKE_SOURCE_DIR}/tests" NS_PROGRAM="${program}" NS_PYTHON="${NOSLIP_PYTHON}")

set(support "")
if(test_support)
  add_library(test_support OBJECT ${test_support})
  target_link_libraries(test_support PRIVATE test_flags)
  set(support $<TARGET_OBJECTS:test_support>)
endif()

# Against what would never end; tests take seconds, a minute at most, on a machine of their own.
set(guard 1200)
set(test_dir "${CMAKE_BINARY_DIR}/tests")
file(MAKE_DIRECTORY "${test_dir}")
foreach(file IN LISTS test_programs)
  get_filename_component(name "${file}" NAME_WE)
  add_executable(${name} "${file}" ${support})
  target_link_libraries(${name} PRIVATE test_flags noslip_static)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${test_dir}")
  if(program)
    add_dependencies(${name} noslip_program)
  endif()
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${test_dir}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${guard})
endforeach()

if(program)
  set(script_environment NOSLIP=${program} MODELS=${CMAKE_SOURCE_DIR}/models
    DOCS=${CMAKE_SOURCE_DIR}/docs TESTS=${CMAKE_SOURCE_DIR}/tests PYTHON=${NOSLIP_PYTHON})
  foreach(file IN LISTS test_scripts)
    get_filename_component(name "${file}" NAME_WE)
    add_test(NAME ${name} COMMAND bash "${file}" WORKING_DIRECTORY "${test_dir}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${guard}
      ENVIRONMENT "${script_environment}")
  endforeach()
endif()

# What depends on instruction sets and engines; .ci/run repeats these with every lower
# instruction set and with clang (target numerics).
set(numerics algebra cascade ensemble events gauss jet jet_rules machine native ode ops
  program quad step_sizes sweep taylor vecmath)
add_custom_target(numerics)
foreach(name IN LISTS numerics)
  if(TARGET test_${name})
    set_tests_properties(test_${name} PROPERTIES LABELS numerics)
    add_dependencies(numerics test_${name})
  endif()
endforeach()

# All results against tests/models/golden.txt, with several instruction sets, engines and
# numbers of threads.
if(program AND NOSLIP_PYTHON)
  function(golden name)
    add_test(NAME ${name} COMMAND
      "${NOSLIP_PYTHON}" "${CMAKE_SOURCE_DIR}/scripts/golden" "${program}" ${ARGN})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${guard} LABELS "whole;golden"
      PROCESSORS 2 COST 50)
  endfunction()
  golden(golden)
  golden(golden_interpreter --engine interpreter --threads 1 --brief)
  golden(golden_native --engine native --threads 2 --brief)
  golden(golden_plain --simd plain --engine interpreter --brief)
  golden(golden_plain_compiled --simd plain --engine native --brief --part 3/12)
  if(NOSLIP_X86)
    golden(golden_avx2 --simd avx2 --lower --brief)
    golden(golden_avx2_native --simd avx2 --lower --engine native --threads 1 --brief
      --part 1/3)
  endif()
endif()

# Long runs of the whole program, whose parts other tests look at under sanitizers.
foreach(name test_reproduce test_doc_commands)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES LABELS whole)
  endif()
endforeach()

# In a browser: the reports (above), and the page's own tests. Not under sanitizers, where
# nothing of C would be tested twice. They take longest: COST has them begin first.
if(TEST test_browser)
  set_tests_properties(test_browser PROPERTIES LABELS browser TIMEOUT ${guard}
    RESOURCE_LOCK browser COST 100)
  if(NOSLIP_NODE AND NOSLIP_NPM)
    add_test(NAME test_viewer COMMAND bash "${CMAKE_SOURCE_DIR}/viewer/test/run.sh")
    set_tests_properties(test_viewer PROPERTIES LABELS browser TIMEOUT ${guard}
      RESOURCE_LOCK browser COST 100)
    add_test(NAME test_playground COMMAND bash "${CMAKE_SOURCE_DIR}/viewer/test/play.sh")
    set_tests_properties(test_playground PROPERTIES LABELS browser TIMEOUT ${guard}
      ENVIRONMENT "${script_environment}" RESOURCE_LOCK browser COST 100 SKIP_RETURN_CODE 77)
  endif()
endif()
