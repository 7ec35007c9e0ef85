// SPDX-License-Identifier: Apache-2.0
/** @file hooks.hpp  Where the hooks of a Verilated model lead to. */
#ifndef BDY_SIM_RTL_HOOKS_HPP
#define BDY_SIM_RTL_HOOKS_HPP

#include <stdexcept>
#include <string>

namespace bdy
{

/** The model cannot go on. Thrown through Verilator's code, caught by the shim before the seam. */
class ModelStopped : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/** Whoever is told what a model on this thread says. */
class MessageSink
{
  public:
    virtual void model_says(const std::string &text) = 0;

  protected:
    ~MessageSink() = default;
};

/** Names the sink of this thread's model while in scope; scopes nest. */
class HookScope
{
  public:
    explicit HookScope(MessageSink *sink);
    ~HookScope();
    HookScope(const HookScope &) = delete;
    HookScope &operator=(const HookScope &) = delete;

  private:
    MessageSink *outer_;
};

} // namespace bdy
#endif
