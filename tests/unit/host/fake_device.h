// SPDX-License-Identifier: Apache-2.0
/** @file fake_device.h  A device of seam S3 that does what a test schedules, and the host around
 * it. */
#ifndef BDY_TESTS_UNIT_HOST_FAKE_DEVICE_H
#define BDY_TESTS_UNIT_HOST_FAKE_DEVICE_H

#include "bdy_regs.h"
#include "sim/host/host.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct bdy_dev {
    using Action = std::function<void(bdy_dev &)>;

    bdy_dev_up up{};
    void *up_arg = nullptr;
    uint64_t now = 0;
    bool dead = false;
    bool deaf = false; // answers no BAR read
    size_t mmio_room = 64;
    unsigned upcalls = 0;
    uint32_t next_tag = 0;
    std::multimap<uint64_t, Action> plan; // by cycle
    std::deque<std::pair<uint32_t, uint64_t>> writes;
    std::map<uint32_t, uint64_t> regs;
    int reading = -1;
    uint64_t skips = 0;

    struct Done {
        uint64_t asked, cycle;
        bdy_dma_kind kind;
        bdy_dma_status status;
        std::vector<uint8_t> data;
        bool is_done;
    };
    std::vector<Done> dma; // by tag
    size_t outstanding = 0;

    // ------------------------------------------------ what a test does
    void at(uint64_t cycle, Action action)
    {
        plan.emplace(cycle, std::move(action));
    }
    /** Only from inside an action. Returns the tag. */
    uint32_t dma_read(uint64_t bus, uint32_t bytes)
    {
        return ask(BDY_DMA_READ, bus, bytes, nullptr, nullptr);
    }
    uint32_t dma_write(uint64_t bus, const std::vector<uint8_t> &data,
                       const uint8_t *strobe = nullptr)
    {
        return ask(BDY_DMA_WRITE, bus, static_cast<uint32_t>(data.size()), data.data(), strobe);
    }
    void msix(uint64_t address, uint32_t data)
    {
        upcalls++;
        up.msix(up_arg, address, data);
    }
    void die(const char *text)
    {
        dead = true;
        up.message(up_arg, 1, text);
    }

    // ------------------------------------------------ the seam
    uint32_t ask(bdy_dma_kind kind, uint64_t bus, uint32_t bytes, const uint8_t *data,
                 const uint8_t *strobe)
    {
        const uint32_t tag = next_tag++;
        dma.push_back({now, 0, kind, BDY_DMA_ERROR, {}, false});
        outstanding++;
        upcalls++;
        const bdy_dma_req req = {tag, kind, bus, bytes, data, strobe};
        up.dma_req(up_arg, &req);
        return tag;
    }
    bool idle() const
    {
        return outstanding == 0 && writes.empty() && reading < 0 &&
               (plan.empty() || plan.begin()->first > now);
    }
    void cycle()
    {
        if (!writes.empty()) {
            regs[writes.front().first] = writes.front().second;
            writes.pop_front();
        }
        while (!plan.empty() && plan.begin()->first <= now) {
            Action action = plan.begin()->second;
            plan.erase(plan.begin());
            action(*this);
        }
        now++;
    }
};

namespace fake
{
inline bdy_dev *last = nullptr; // the one created last

inline int create(const bdy_dev_cfg *, const bdy_dev_up *up, void *up_arg, bdy_dev **out)
{
    last = *out = new bdy_dev;
    last->up = *up;
    last->up_arg = up_arg;
    last->regs[BDY_REG_BAR_STATE_OFFSET] = BDY_DEV_ST_READY;
    return 0;
}
inline void destroy(bdy_dev *d)
{
    delete d;
}
inline int boot(bdy_dev *, const void *image, size_t)
{
    return image ? 0 : -ENOENT;
}
inline int mmio_write(bdy_dev *d, uint32_t offset, uint64_t value)
{
    if (d->dead)
        return -EIO;
    if (d->writes.size() >= d->mmio_room)
        return -ENOSPC;
    d->writes.emplace_back(offset, value);
    return 0;
}
inline int mmio_read(bdy_dev *d, uint32_t offset)
{
    if (d->dead)
        return -EIO;
    d->reading = static_cast<int>(offset);
    return 0;
}
inline int mmio_read_done(bdy_dev *d, uint64_t *value)
{
    if (d->dead)
        return -EIO;
    if (d->deaf || !d->writes.empty())
        return 0;
    *value = d->regs[static_cast<uint32_t>(d->reading)];
    d->reading = -1;
    return 1;
}
inline int dma_cpl(bdy_dev *d, bdy_dma_kind kind, uint32_t tag, bdy_dma_status status,
                   const void *data, uint32_t bytes)
{
    if (tag >= d->dma.size() || d->dma[tag].is_done || d->dma[tag].kind != kind)
        return -ENOENT;
    auto &r = d->dma[tag];
    r.is_done = true;
    r.cycle = d->now;
    r.status = status;
    if (status == BDY_DMA_OK && kind == BDY_DMA_READ)
        r.data.assign(static_cast<const uint8_t *>(data),
                      static_cast<const uint8_t *>(data) + bytes);
    d->outstanding--;
    return 0;
}
inline int run(bdy_dev *d, uint64_t until, int stop_on_upcall, bdy_dev_stop *why)
{
    *why = BDY_STOP_UNTIL;
    while (!d->dead && d->now < until) {
        d->upcalls = 0;
        d->cycle();
        if (d->upcalls && stop_on_upcall) {
            *why = BDY_STOP_UPCALL;
            return 0;
        }
        if (d->idle()) {
            *why = BDY_STOP_IDLE;
            return 0;
        }
    }
    if (d->dead)
        *why = BDY_STOP_DEAD;
    return 0;
}
inline uint64_t timer(const bdy_dev *d)
{
    return d->plan.empty() ? UINT64_MAX : d->plan.begin()->first;
}
inline int skip(bdy_dev *d, uint64_t to)
{
    if (!d->idle())
        return -EBUSY;
    if (to < d->now || to > timer(d))
        return -EINVAL;
    d->now = to;
    d->skips++;
    return 0;
}
inline void status(bdy_dev *d, bdy_dev_status *out)
{
    *out = {d->now, timer(d), d->idle(), d->dead};
}
inline int wave(bdy_dev *, const char *)
{
    return -ENOSYS;
}
inline const bdy_dev_ops ops = {BDY_DEV_ABI, "fake",         create,  destroy, boot, mmio_write,
                                mmio_read,   mmio_read_done, dma_cpl, run,     skip, status,
                                wave};

/** A host over a fake device, with a log. */
class Rig
{
  public:
    struct Logged {
        bdy_host_event ev;
        std::string text;
        std::vector<uint8_t> data;
    };

    explicit Rig(const std::function<void(bdy_host_cfg &)> &change = nullptr)
    {
        bdy_host_cfg cfg;
        bdy_host_cfg_init(&cfg);
        cfg.log = on_log;
        cfg.arg = this;
        if (change)
            change(cfg);
        EXPECT_EQ(bdy_host_create(&cfg, &ops, &host), 0);
        dev = last;
        pci = bdy_host_pci(host);
        self = bdy_host_aspace_self(host);
    }
    ~Rig()
    {
        bdy_host_aspace_free(host, self);
        bdy_host_destroy(host);
    }
    Rig(const Rig &) = delete;
    Rig &operator=(const Rig &) = delete;

    /** Do something in the device's next cycle and let everything that follows from it happen. */
    void in_device(const bdy_dev::Action &action)
    {
        dev->at(dev->now, action);
        settle();
    }
    void settle()
    {
        bdy_host_why why;
        do
            ASSERT_EQ(bdy_host_run(host, 100000, &why), 0);
        while (why == BDY_HOST_BUDGET);
    }
    /** One read of the device, to its end. */
    const bdy_dev::Done &read(uint64_t bus, uint32_t bytes)
    {
        uint32_t tag = 0;
        in_device([&](bdy_dev &d) { tag = d.dma_read(bus, bytes); });
        return dev->dma.at(tag);
    }
    bdy_dma_status write(uint64_t bus, const std::vector<uint8_t> &data,
                         const uint8_t *strobe = nullptr)
    {
        uint32_t tag = 0;
        in_device([&](bdy_dev &d) { tag = d.dma_write(bus, data, strobe); });
        EXPECT_TRUE(dev->dma.at(tag).is_done);
        return dev->dma.at(tag).status;
    }
    struct bdy_host_stats stats() const
    {
        struct bdy_host_stats s;
        bdy_host_stats(host, &s);
        return s;
    }
    void msix(unsigned vector, bdy_dev &d) const
    {
        uint64_t address;
        uint32_t data;
        ASSERT_EQ(pci->ops->msix_message(pci, vector, &address, &data), 0);
        d.msix(address, data);
    }

    ::bdy_host *host = nullptr;
    bdy_dev *dev = nullptr;
    bdy_pci *pci = nullptr;
    bdy_aspace *self = nullptr;
    std::vector<Logged> log;

  private:
    static void on_log(void *arg, const bdy_host_event *ev)
    {
        Logged l{*ev, ev->text ? ev->text : "", {}};
        if (ev->data)
            l.data.assign(static_cast<const uint8_t *>(ev->data),
                          static_cast<const uint8_t *>(ev->data) + ev->bytes);
        static_cast<Rig *>(arg)->log.push_back(l);
    }
};

/** The bus address of byte `at` of a mapping, counted from its first byte. */
inline uint64_t bus_of(const bdy_dma_map &map, uint64_t at)
{
    at += map.offset;
    for (size_t i = 0; i < map.npages; i++) {
        if (at < map.pages[i].bytes)
            return map.pages[i].bus + at;
        at -= map.pages[i].bytes;
    }
    ADD_FAILURE() << "beyond the mapping";
    return 0;
}
constexpr unsigned kBoth = BDY_DMA_TO_DEVICE | BDY_DMA_FROM_DEVICE;
} // namespace fake
#endif
