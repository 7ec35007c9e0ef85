// SPDX-License-Identifier: Apache-2.0
// Verilator's user hooks. One model runs on a thread at a time, so a thread-local names who
// listens.
#include "sim/rtl/hooks.hpp"
#include "sim/rtl/hooks.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

namespace
{
thread_local bdy::MessageSink *current_sink = nullptr;

void say(std::string text)
{
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    if (current_sink != nullptr)
        current_sink->model_says(text);
    else
        std::fprintf(stderr, "%s\n", text.c_str());
}

std::string located(const char *what, const char *file, int line)
{
    std::string text(what);
    if (file != nullptr && *file != '\0')
        text += std::string(" at ") + file + ":" + std::to_string(line);
    return text;
}
} // namespace

namespace bdy
{

HookScope::HookScope(MessageSink *sink) : outer_(current_sink)
{
    current_sink = sink;
}

HookScope::~HookScope()
{
    current_sink = outer_;
}

} // namespace bdy

extern "C" int bdy_vl_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    if (length >= 0) {
        std::vector<char> text(static_cast<size_t>(length) + 1);
        std::vsnprintf(text.data(), text.size(), format, again);
        say(text.data());
    }
    va_end(again);
    return length;
}

// Returning from these would let a model run on that Verilator has given up (a loop that never
// settles would never end).
void vl_fatal(const char *file, int line, const char *, const char *msg)
{
    throw bdy::ModelStopped(located(msg, file, line));
}

void vl_stop(const char *file, int line, const char *)
{
    throw bdy::ModelStopped(located("$stop or failed assertion", file, line));
}

void vl_finish(const char *file, int line, const char *)
{
    throw bdy::ModelStopped(located("$finish", file, line));
}

void vl_warn(const char *file, int line, const char *, const char *msg)
{
    say(located(msg, file, line));
}
