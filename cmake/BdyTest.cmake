# SPDX-License-Identifier: Apache-2.0
# Tests: one CTest entry per program or script, each leaving a JUnit file (see scripts/run_test).

# CTest's own time-out is only the net below run_test's, which leaves a report.
function(_bdy_add_test name kind seconds labels)
  math(EXPR net "${seconds} + 30")
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/scripts/run_test ${kind} ${name} ${seconds} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${net} SKIP_RETURN_CODE 77 LABELS "${labels}"
    ENVIRONMENT "BDY_SOURCE_DIR=${CMAKE_SOURCE_DIR};BDY_BUILD_DIR=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
endfunction()

# bdy_add_gtest(name SOURCES file... [LIBS target...] [LABELS label...] [TIMEOUT seconds] [ARGS arg...])
# A GoogleTest program with gtest_main. Label `long` keeps it out of `make test` and in `make test-long`;
# label `serial` keeps other tests from running beside it.
function(bdy_add_gtest name)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;LIBS;LABELS;ARGS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${T_LIBS} bdy_seams GTest::gtest_main)
  _bdy_add_test(${name} gtest ${T_TIMEOUT} "${T_LABELS}" $<TARGET_FILE:${name}> ${T_ARGS})
  if("serial" IN_LIST T_LABELS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# bdy_add_script_test(name COMMAND program arg... [LABELS label...] [TIMEOUT seconds])
# The exit code is the verdict; in the test plan its name is script:name.
function(bdy_add_script_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  _bdy_add_test(${name} script ${T_TIMEOUT} "${T_LABELS}" ${T_COMMAND})
  if("serial" IN_LIST T_LABELS)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
