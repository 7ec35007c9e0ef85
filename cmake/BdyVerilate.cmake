# SPDX-License-Identifier: Apache-2.0
# RTL into C++ libraries.

set(BDY_FAST_OPT -O3 CACHE STRING "Optimisation of the models that bdy_verilate calls FAST")

# bdy_rtl_files(variable list.f): the files of a file list, paths from the root of the project.
function(bdy_rtl_files variable list)
  get_filename_component(list ${list} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines)
  set(files "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "//.*$" "" line "${line}")
    string(STRIP "${line}" line)
    if(line)
      list(APPEND files ${line})
    endif()
  endforeach()
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

# bdy_verilate(target TOP module [FILES file...] [FILELIST list.f] [FAST] [TRACE] [PREFIX Vname] [ARGS verilator-arg...])
# BDY_FAST_OPT (default -O3) is the optimisation of FAST models; -O1 builds them sooner.
# A static library with the class Vmodule (header "Vmodule.h"). Paths count from the root of the project. Assertions are
# always on. FAST compiles with -O3, for the model behind `bindery`; otherwise -O1, which tests compile quickly with.
# TRACE adds FST tracing (costs nothing while no file is open).
function(bdy_verilate target)
  cmake_parse_arguments(V "FAST;TRACE" "TOP;FILELIST;PREFIX" "FILES;ARGS" ${ARGN})
  if(NOT V_PREFIX)
    set(V_PREFIX V${V_TOP})
  endif()
  set(files ${V_FILES})
  if(V_FILELIST)
    bdy_rtl_files(listed ${V_FILELIST})
    list(APPEND files ${listed})
  endif()
  list(TRANSFORM files PREPEND ${CMAKE_SOURCE_DIR}/ REGEX "^[^/]")

  set(optimise -O1)
  if(V_FAST)
    set(optimise ${BDY_FAST_OPT})
  endif()
  set(trace "")
  if(V_TRACE)
    set(trace TRACE_FST)
  endif()

  add_library(${target} STATIC)
  verilate(${target} TOP_MODULE ${V_TOP} PREFIX ${V_PREFIX} SOURCES ${files} ${trace}
    VERILATOR_ARGS --assert -O3 -Wall ${V_ARGS}
    OPT_FAST ${optimise} OPT_SLOW -O0 OPT_GLOBAL -O2)
  # Generated code is not ours to warn about, and its debug information is most of a build's time and size.
  target_compile_options(${target} PRIVATE -w -g0)
  target_compile_definitions(${target} PUBLIC VL_TIME_CONTEXT)
  get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${target} SYSTEM INTERFACE ${includes})
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(V_TRACE)
    target_link_libraries(${target} PUBLIC z)
  endif()
endfunction()
