// SPDX-License-Identifier: Apache-2.0
// S1 over a device that is firmware itself, compiled for the host, on the model of its peripherals.
// Bus addresses are scrambled; what is not mapped cannot be reached. Time passes only in wait and
// BAR reads.
#ifndef FAKE_PCI_H
#define FAKE_PCI_H

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "bindery/pci.h"
#include "mcu_model.h"

class FakePci
{
  public:
    explicit FakePci(uint32_t seed = 1) : random_(seed), model_(mcu_model_new())
    {
        static const bdy_pci_ops ops = {
            BDY_PCI_ABI, BarRead, BarWrite, DmaAlloc, DmaFree, DmaMap,
            DmaUnmap,    IrqSet,  Message,  Wait,     Now,     ResetDevice,
        };
        front_.pci.ops = &ops;
        front_.self = this;
        model_->memory = Memory;
        model_->event = Event;
        model_->arg = this;
        bar_[BDY_REG_BAR_ID_OFFSET] =
            BDY_DEV_MAGIC | uint64_t{BDY_ABI_VERSION} << 32 | uint64_t{3} << 48;
        bar_[BDY_REG_BAR_CAP_OFFSET] = BDY_LOG_KEYS | BDY_LOG_MTT << 8 | BDY_LOG_QPS << 16 |
                                       BDY_LOG_CQS << 24 | uint64_t{BDY_LOG_EQS} << 32 |
                                       uint64_t{BDY_UAR_COUNT} << 40;
    }

    ~FakePci()
    {
        EXPECT_EQ(model_->faults, 0u);
        mcu_model_free(model_);
    }

    FakePci(const FakePci &) = delete;
    FakePci &operator=(const FakePci &) = delete;

    bdy_pci *Pci()
    {
        return &front_.pci;
    }

    mcu_model *Model()
    {
        return model_;
    }

    /** An event as the data path raises it; delivered in the next wait. */
    void Raise(uint32_t eqn, unsigned kind, uint32_t number, uint32_t data = 0)
    {
        Event(this, eqn, kind | uint64_t{number} << 8 | uint64_t{data} << 32);
    }

    /** Let pending interrupts in. */
    void Settle()
    {
        Wait(Pci(), now_ + 1);
    }

    /** Buffers and mappings that are held now. */
    size_t Held() const
    {
        return allocs_.size() + maps_;
    }

    size_t Maps() const
    {
        return maps_;
    }

    struct Write {
        uint32_t offset;
        uint64_t value;
    };

    // What a test may turn.
    bool hang = false;             // firmware no longer runs
    bool deaf = false;             // interrupts are lost
    int dma_alloc_fails_after = 0; // the n-th allocation from now
    int map_error = 0;             // dma_map's next answer
    int bar_error = 0;             // every BAR access
    std::vector<uint64_t>
        frames; // sizes of the frames that dma_map hands out, in turn; empty: 4096
    std::function<uint64_t(size_t)> bus; // bus address of the n-th frame; empty: scrambled

    std::map<uint32_t, uint64_t> bar_;                    // BAR registers as last written
    std::vector<Write> doorbells;                         // writes to UAR pages
    std::vector<std::pair<uint64_t, unsigned>> map_calls; // bytes, direction
    uint64_t now_ = 0;
    unsigned resets = 0;

  private:
    struct Front {
        bdy_pci pci;
        FakePci *self;
    };

    struct Eq {
        uint32_t pi = 0, ci = 0;
        bool armed = false;
    };

    static FakePci *Self(bdy_pci *pci)
    {
        return reinterpret_cast<Front *>(pci)->self;
    }

    static int BarRead(bdy_pci *pci, uint32_t offset, uint64_t *value)
    {
        FakePci *f = Self(pci);
        f->now_ += 20;
        f->Run();
        if (f->bar_error) {
            return f->bar_error;
        }
        if (offset == BDY_REG_BAR_CYCLE_OFFSET) {
            *value = f->now_;
        } else if (offset == BDY_REG_BAR_STATE_OFFSET) {
            *value = f->model_->dev_state | uint64_t{f->model_->health} << 8;
        } else {
            *value = f->bar_[offset];
        }
        return 0;
    }

    static int BarWrite(bdy_pci *pci, uint32_t offset, uint64_t value)
    {
        FakePci *f = Self(pci);
        if (f->bar_error) {
            return f->bar_error;
        }
        EXPECT_EQ(offset % 8, 0u);
        EXPECT_LT(offset, BDY_BAR_BYTES);
        if (offset >= BDY_UAR_BASE) {
            f->doorbells.push_back({offset, value});
            return 0;
        }
        f->bar_[offset] = value;
        if (offset == BDY_REG_BAR_CMDQ_OFFSET) {
            f->model_->cmdq_base = value & ~uint64_t{0xfff};
            f->model_->cmdq_log = value & 15;
        } else if (offset == BDY_REG_BAR_CMDQ_DB_OFFSET) {
            f->model_->pi = static_cast<uint16_t>(value);
        } else if (offset >= BDY_REG_BAR_EQ_DB_OFFSET &&
                   offset < BDY_REG_BAR_EQ_DB_OFFSET + 8 * FW_EQS) {
            Eq &eq = f->eqs_[(offset - BDY_REG_BAR_EQ_DB_OFFSET) / 8];
            eq.ci = static_cast<uint32_t>(value);
            eq.armed = value >> 32 & 1;
        }
        return 0;
    }

    /** Contiguous frames at a place of their own on the bus. */
    uint64_t TakeBus(uint64_t bytes, uint64_t align)
    {
        next_bus_ = (next_bus_ + align - 1) / align * align + align * (1 + random_() % 7);
        uint64_t at = next_bus_;
        next_bus_ += bytes;
        return at;
    }

    static int DmaAlloc(bdy_pci *pci, size_t bytes, bdy_dma_buf *out)
    {
        FakePci *f = Self(pci);
        if (f->dma_alloc_fails_after > 0 && --f->dma_alloc_fails_after == 0) {
            return -ENOMEM;
        }
        size_t rounded = (bytes + 4095) / 4096 * 4096;
        uint64_t at = f->TakeBus(rounded, 4096);
        auto memory = std::make_unique<std::vector<uint64_t>>(rounded / 8);
        *out = {memory->data(), at, rounded, -1, nullptr};
        f->allocs_[at] = std::move(memory);
        return 0;
    }

    static void DmaFree(bdy_pci *pci, bdy_dma_buf *buf)
    {
        EXPECT_EQ(Self(pci)->allocs_.erase(buf->bus), 1u);
        buf->cpu = nullptr;
    }

    static int DmaMap(bdy_pci *pci, bdy_aspace *, uint64_t va, uint64_t bytes, unsigned dir,
                      bdy_dma_map *out)
    {
        FakePci *f = Self(pci);
        EXPECT_GT(bytes, 0u);
        f->map_calls.emplace_back(bytes, dir);
        if (f->map_error) {
            return std::exchange(f->map_error, 0);
        }
        // Frames begin where the range's first one, of the first size, lies aligned in the address
        // space.
        uint64_t size = f->Frame(0);
        uint64_t offset = va % size;
        std::vector<bdy_dma_page> pages;
        for (uint64_t covered = 0; covered < offset + bytes; covered += size) {
            size = f->Frame(pages.size());
            uint64_t at = f->bus ? f->bus(pages.size()) : f->TakeBus(size, size);
            pages.push_back({at, size});
        }
        out->pages = new bdy_dma_page[pages.size()];
        std::copy(pages.begin(), pages.end(), out->pages);
        out->npages = pages.size();
        out->offset = offset;
        out->priv = nullptr;
        f->maps_++;
        return 0;
    }

    uint64_t Frame(size_t n) const
    {
        return frames.empty() ? 4096 : frames[n % frames.size()];
    }

    static void DmaUnmap(bdy_pci *pci, bdy_dma_map *map)
    {
        delete[] map->pages;
        map->pages = nullptr;
        Self(pci)->maps_--;
    }

    static int IrqSet(bdy_pci *pci, unsigned vector, bdy_irq_fn fn, void *arg)
    {
        Self(pci)->irqs_[vector] = {fn, arg};
        return 0;
    }

    static int Message(bdy_pci *, unsigned vector, uint64_t *address, uint32_t *data)
    {
        *address = 0xfee00000;
        *data = 0x4000 + vector;
        return 0;
    }

    /** MSI-X through the table that the driver wrote. */
    void Interrupt(uint32_t vector)
    {
        uint32_t row = BDY_REG_BAR_MSIX_ADDR_STRIDE * vector;
        EXPECT_EQ(bar_[BDY_REG_BAR_MSIX_ADDR_OFFSET + row], 0xfee00000u);
        uint64_t data = bar_[BDY_REG_BAR_MSIX_DATA_OFFSET + row];
        EXPECT_EQ(data, 0x4000u + vector) << "masked, or never programmed";
        pending_.push_back(vector);
    }

    bool Run()
    {
        if (!hang && model_->dev_state != BDY_DEV_ST_RESET) {
            fw_step(&model_->fw);
        }
        std::vector<uint32_t> now = std::exchange(pending_, {});
        bool any = false;
        for (uint32_t vector : deaf ? std::vector<uint32_t>{} : now) {
            if (irqs_[vector].first) {
                irqs_[vector].first(irqs_[vector].second, vector);
                any = true;
            }
        }
        return any;
    }

    static int Wait(bdy_pci *pci, uint64_t deadline)
    {
        FakePci *f = Self(pci);
        if (f->bar_error == -EIO) {
            return -EIO;
        }
        f->now_++;
        if (f->Run()) {
            return 0;
        }
        f->now_ = std::max(f->now_, deadline);
        return -ETIMEDOUT;
    }

    static uint64_t Now(bdy_pci *pci)
    {
        return Self(pci)->now_;
    }

    static int ResetDevice(bdy_pci *pci)
    {
        FakePci *f = Self(pci);
        f->resets++;
        mcu_model_reset(f->model_);
        f->eqs_ = {};
        f->pending_.clear();
        return 0;
    }

    static int Memory(void *arg, uint64_t bus, void *data, uint32_t bytes, bool write)
    {
        auto *f = static_cast<FakePci *>(arg);
        auto it = f->allocs_.upper_bound(bus);
        if (it == f->allocs_.begin()) {
            return -1;
        }
        --it;
        uint64_t off = bus - it->first, size = it->second->size() * 8;
        if (off >= size || bytes > size - off) {
            return -1;
        }
        auto *host = reinterpret_cast<uint8_t *>(it->second->data()) + off;
        std::memcpy(write ? host : data, write ? data : host, bytes);
        return 0;
    }

    /** The event queue block: entry with phase and index, MSI-X when armed. */
    static void Event(void *arg, uint32_t eqn, uint64_t word0)
    {
        auto *f = static_cast<FakePci *>(arg);
        const uint64_t *ctx = f->model_->eq[eqn];
        Eq &eq = f->eqs_[eqn];
        uint32_t log_size = static_cast<uint32_t>(bdy_eq_ctx_get_log_size(ctx));
        uint64_t eqe[BDY_EQE_WORDS] = {word0, f->now_};
        bdy_eqe_set_phase(eqe, !(eq.pi >> log_size & 1));
        bdy_eqe_set_index(eqe, eq.pi);
        EXPECT_LT(eq.pi - eq.ci, 1u << log_size) << "event queue overflow";
        uint64_t at = bdy_eq_ctx_get_base(ctx) + BDY_EQE_BYTES * (eq.pi & ((1u << log_size) - 1));
        EXPECT_EQ(Memory(f, at, eqe, BDY_EQE_BYTES, true), 0);
        eq.pi++;
        if (eq.armed) {
            eq.armed = false;
            f->Interrupt(static_cast<uint32_t>(bdy_eq_ctx_get_vector(ctx)));
        }
    }

    Front front_{};
    std::mt19937 random_;
    mcu_model *model_;
    std::map<uint64_t, std::unique_ptr<std::vector<uint64_t>>> allocs_;
    size_t maps_ = 0;
    uint64_t next_bus_ = 0x5a0000000000;
    std::array<Eq, FW_EQS> eqs_{};
    std::array<std::pair<bdy_irq_fn, void *>, BDY_MSIX_VECTORS> irqs_{};
    std::vector<uint32_t> pending_;
};

#endif
