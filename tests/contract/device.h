// SPDX-License-Identifier: Apache-2.0
/** @file device.h  A device behind seam S3 as a test holds it: every up-call is recorded, none is
 * answered by itself. */
#ifndef BDY_TESTS_CONTRACT_DEVICE_H
#define BDY_TESTS_CONTRACT_DEVICE_H

#include "bdy_regs.h"
#include "bindery/device.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace contract
{

struct Request {
    uint64_t seen; // status.now after the run that brought it
    uint32_t tag;
    bdy_dma_kind kind;
    uint64_t bus;
    uint32_t bytes;
    std::vector<uint8_t> data, strobe;
};

struct Message {
    uint64_t address;
    uint32_t data;
};

struct Event {
    uint64_t cycle;
    uint32_t kind;
    std::vector<uint64_t> words;
    bool operator==(const Event &o) const
    {
        return cycle == o.cycle && kind == o.kind && words == o.words;
    }
};

class Device
{
  public:
    explicit Device(const bdy_dev_ops &ops, uint64_t seed = 1, const char *wave = nullptr,
                    bool want_trace = true)
        : ops(ops)
    {
        const bdy_dev_cfg cfg = {seed, wave};
        const bdy_dev_up up = {on_dma, on_msix, want_trace ? on_trace : nullptr, on_message};
        created = ops.create(&cfg, &up, this, &dev);
    }
    ~Device()
    {
        if (created == 0)
            ops.destroy(dev);
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    bdy_dev_stop run(uint64_t until, bool stop_on_upcall = false)
    {
        bdy_dev_stop why = BDY_STOP_DEAD;
        in_run = true;
        run_result = ops.run(dev, until, stop_on_upcall, &why);
        in_run = false;
        const uint64_t now = status().now;
        for (Request &r : requests)
            if (r.seen == 0)
                r.seen = now;
        return why;
    }
    bdy_dev_stop run_for(uint64_t cycles, bool stop_on_upcall = false)
    {
        return run(status().now + cycles, stop_on_upcall);
    }

    /** Run idle cycles too, up to `until`. */
    void run_through(uint64_t until)
    {
        while (!status().dead && status().now < until)
            run(until);
    }

    bdy_dev_status status() const
    {
        bdy_dev_status st;
        ops.status(dev, &st);
        return st;
    }

    bool run_to_idle(uint64_t limit = 200000)
    {
        const uint64_t until = status().now + limit;
        while (status().now < until && !status().dead && !status().idle)
            run(until);
        return status().idle;
    }

    int write(uint32_t offset, uint64_t value)
    {
        return ops.mmio_write(dev, offset, value);
    }

    /** A read to its end. */
    int read(uint32_t offset, uint64_t *value, uint64_t limit = 100000)
    {
        int err = ops.mmio_read(dev, offset);
        const uint64_t until = status().now + limit;
        while (err == 0 && status().now < until && !status().dead) {
            err = ops.mmio_read_done(dev, value);
            if (err == 0)
                run_for(1);
        }
        return err;
    }

    int complete(const Request &r, bdy_dma_status status, const void *data = nullptr)
    {
        return ops.dma_cpl(dev, r.kind, r.tag, status, data, r.bytes);
    }

    const bdy_dev_ops &ops;
    bdy_dev *dev = nullptr;
    int created = -1, run_result = 0;
    bool in_run = false;
    unsigned outside = 0; // up-calls that came outside run
    std::vector<Request> requests;
    std::vector<Message> messages;
    std::vector<Event> trace;
    std::vector<std::string> texts;
    unsigned fatal_texts = 0;
    std::function<void()> inside; // called inside every dma_req and msix up-call

  private:
    static Device &self(void *arg)
    {
        Device &d = *static_cast<Device *>(arg);
        d.outside += d.in_run ? 0 : 1;
        return d;
    }
    static void on_dma(void *arg, const bdy_dma_req *req)
    {
        Device &d = self(arg);
        Request r{0, req->tag, req->kind, req->bus, req->bytes, {}, {}};
        if (req->data)
            r.data.assign(req->data, req->data + req->bytes);
        if (req->strobe)
            r.strobe.assign(req->strobe, req->strobe + (req->bytes + 7) / 8);
        d.requests.push_back(r);
        if (d.inside)
            d.inside();
    }
    static void on_msix(void *arg, uint64_t address, uint32_t data)
    {
        Device &d = self(arg);
        d.messages.push_back({address, data});
        if (d.inside)
            d.inside();
    }
    static void on_trace(void *arg, const bdy_trace *ev)
    {
        self(arg).trace.push_back({ev->cycle, ev->kind, {ev->words, ev->words + ev->nwords}});
    }
    static void on_message(void *arg, int fatal, const char *text)
    {
        Device &d = *static_cast<Device *>(arg); // wave and destroy may speak too
        d.texts.push_back(text);
        d.fatal_texts += fatal ? 1 : 0;
    }
};

} // namespace contract
#endif
