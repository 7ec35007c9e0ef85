// SPDX-License-Identifier: Apache-2.0
/** @file backend.hpp  Ports of a Verilated class and the table of seam S3 for it. The only code
 * that knows a Verilated class. */
#ifndef BDY_SIM_RTL_BACKEND_HPP
#define BDY_SIM_RTL_BACKEND_HPP

#include "bdy_regs.h"
#include "sim/rtl/shim.hpp"

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

namespace bdy
{

/** Top has the ports of bdy_hca and was verilated with --trace-fst. */
template <class Top> class VerilatedPins final : public Pins
{
  public:
    explicit VerilatedPins(uint64_t seed)
    {
        context_.traceEverOn(true);
        // Whatever reset does not reach starts with seeded noise; 0 would ask Verilator for a seed
        // of its own.
        context_.randReset(2);
        context_.randSeed(static_cast<int>((seed ^ (seed >> 32)) & 0x3fffffff) + 1);
        bind();
        top_.reset(new Top(&context_, "hca"));
    }

    ~VerilatedPins() override
    {
        bind();
        close_wave();
        top_.reset();
        Verilated::threadContextp(nullptr);
    }

    void settle(const Inputs &in, Outputs &out) override
    {
        bind();
        apply(in);
        top_->clk_i = 0;
        top_->eval();
        dump(4 * top_->cycle_o);
        collect(out);
    }

    void edge() override
    {
        const uint64_t time = 4 * top_->cycle_o + 2;
        top_->clk_i = 1;
        top_->eval();
        dump(time);
    }

    uint64_t cycle() const override
    {
        return top_->cycle_o;
    }

    void trace(TracePort (&ports)[kTracePorts]) const override
    {
        const Top &t = *top_;
        ports[0] = {BDY_TRC_KIND_DOORBELL, 1, t.trc_db_valid_o != 0, &t.trc_db_o};
        ports[1] = {BDY_TRC_KIND_WQE, 8, t.trc_wqe_valid_o != 0, t.trc_wqe_o.m_storage};
        ports[2] = {BDY_TRC_KIND_ACCESS, 8, t.trc_acc_valid_o != 0, t.trc_acc_o.m_storage};
        ports[3] = {BDY_TRC_KIND_OP, 16, t.trc_op_valid_o != 0, t.trc_op_o.m_storage};
        ports[4] = {BDY_TRC_KIND_PKT_TX, 16, t.trc_tx_valid_o != 0, t.trc_tx_o.m_storage};
        ports[5] = {BDY_TRC_KIND_PKT_RX, 16, t.trc_rx_valid_o != 0, t.trc_rx_o.m_storage};
        ports[6] = {BDY_TRC_KIND_CQE, 8, t.trc_cqe_valid_o != 0, t.trc_cqe_o.m_storage};
        ports[7] = {BDY_TRC_KIND_EQE, 8, t.trc_eqe_valid_o != 0, t.trc_eqe_o.m_storage};
    }

    int wave(const char *path) override
    {
        bind();
        close_wave();
        if (path == nullptr)
            return 0;
        std::FILE *probe =
            std::fopen(path, "wb"); // the writer below does not report what it cannot open
        if (probe == nullptr)
            return -errno;
        std::fclose(probe);
        wave_.reset(new VerilatedFstC);
        top_->trace(wave_.get(), 99);
        wave_->open(path);
        return 0;
    }

  private:
    // Verilator keeps "the" context of a thread; with several models the last one made would be
    // everybody's.
    void bind()
    {
        Verilated::threadContextp(&context_);
    }

    void close_wave()
    {
        if (wave_)
            wave_->close();
        wave_.reset();
    }

    // Time in ns at the nominal 250 MHz.
    void dump(uint64_t time)
    {
        context_.time(time);
        if (wave_)
            wave_->dump(time);
    }

    void apply(const Inputs &in)
    {
        Top &t = *top_;
        t.rst_ni = in.rst_n;
        t.skip_valid_i = in.skip_valid;
        t.skip_to_i = in.skip_to;
        t.boot_run_i = in.boot_run;
        t.boot_valid_i = in.boot_valid;
        t.boot_addr_i = in.boot_addr & (BDY_FW_RAM_BYTES - 1);
        t.boot_data_i = in.boot_data;

        t.s_axil_awvalid_i = in.bar_awvalid;
        t.s_axil_awaddr_i = in.bar_awaddr;
        t.s_axil_wvalid_i = in.bar_wvalid;
        t.s_axil_wdata_i = in.bar_wdata;
        t.s_axil_wstrb_i = 0xff;
        t.s_axil_bready_i = 1;
        t.s_axil_arvalid_i = in.bar_arvalid;
        t.s_axil_araddr_i = in.bar_araddr;
        t.s_axil_rready_i = 1;

        t.m_axi_awready_i = in.mem_awready;
        t.m_axi_wready_i = in.mem_wready;
        t.m_axi_arready_i = in.mem_arready;
        t.m_axi_bvalid_i = in.mem_bvalid;
        t.m_axi_bid_i = in.mem_bid;
        t.m_axi_bresp_i = in.mem_bresp;
        t.m_axi_rvalid_i = in.mem_rvalid;
        t.m_axi_rid_i = in.mem_rid;
        t.m_axi_rresp_i = in.mem_rresp;
        t.m_axi_rlast_i = in.mem_rlast;
        if (in.mem_rvalid)
            std::memcpy(t.m_axi_rdata_i.m_storage, in.mem_rdata, kBeatBytes);

        t.msix_ready_i = 1;
        // No cable: what is sent leaves, nothing arrives.
        t.lnk_tx_ready_i = 1;
        t.lnk_rx_valid_i = 0;
        t.lnk_rx_last_i = 0;
        t.lnk_rx_keep_i = 0;
    }

    void collect(Outputs &out) const
    {
        const Top &t = *top_;
        out.bar_awready = t.s_axil_awready_o;
        out.bar_wready = t.s_axil_wready_o;
        out.bar_arready = t.s_axil_arready_o;
        out.bar_bvalid = t.s_axil_bvalid_o;
        out.bar_bresp = t.s_axil_bresp_o;
        out.bar_rvalid = t.s_axil_rvalid_o;
        out.bar_rresp = t.s_axil_rresp_o;
        out.bar_rdata = t.s_axil_rdata_o;

        out.mem_awvalid = t.m_axi_awvalid_o;
        out.mem_awid = t.m_axi_awid_o;
        out.mem_awaddr = t.m_axi_awaddr_o;
        out.mem_awlen = t.m_axi_awlen_o;
        out.mem_wvalid = t.m_axi_wvalid_o;
        out.mem_wlast = t.m_axi_wlast_o;
        out.mem_wstrb = t.m_axi_wstrb_o;
        out.mem_wdata = reinterpret_cast<const uint8_t *>(t.m_axi_wdata_o.m_storage);
        out.mem_bready = t.m_axi_bready_o;
        out.mem_arvalid = t.m_axi_arvalid_o;
        out.mem_arid = t.m_axi_arid_o;
        out.mem_araddr = t.m_axi_araddr_o;
        out.mem_arlen = t.m_axi_arlen_o;
        out.mem_rready = t.m_axi_rready_o;

        out.msix_valid = t.msix_valid_o;
        out.msix_addr = t.msix_addr_o;
        out.msix_data = t.msix_data_o;
        out.idle = t.idle_o;
        out.fatal = t.fatal_o;
        out.next_timer = t.next_timer_o;
    }

    VerilatedContext context_;
    std::unique_ptr<Top> top_;
    std::unique_ptr<VerilatedFstC> wave_;
};

/** The functions of bdy_dev_ops for one Verilated class. Nothing thrown gets past them. */
template <class Top> struct Backend {
    static std::unique_ptr<Pins> make(uint64_t seed)
    {
        return std::unique_ptr<Pins>(new VerilatedPins<Top>(seed));
    }

    template <class Call> static int guarded(Call call)
    {
        try {
            return call();
        } catch (const std::bad_alloc &) {
            return -ENOMEM;
        } catch (...) {
            return -EIO;
        }
    }

    static Shim &of(bdy_dev *dev)
    {
        return *static_cast<Shim *>(dev);
    }

    static int create(const bdy_dev_cfg *cfg, const bdy_dev_up *up, void *up_arg, bdy_dev **out)
    {
        return guarded([&] {
            Shim *shim = nullptr;
            const int err = Shim::create(make, *cfg, *up, up_arg, &shim);
            *out = shim;
            return err;
        });
    }

    static void destroy(bdy_dev *dev)
    {
        guarded([&] {
            delete static_cast<Shim *>(dev);
            return 0;
        });
    }

    static int boot(bdy_dev *dev, const void *image, size_t bytes)
    {
        return guarded([&] { return of(dev).boot(image, bytes); });
    }

    static int mmio_write(bdy_dev *dev, uint32_t offset, uint64_t value)
    {
        return guarded([&] { return of(dev).mmio_write(offset, value); });
    }

    static int mmio_read(bdy_dev *dev, uint32_t offset)
    {
        return guarded([&] { return of(dev).mmio_read(offset); });
    }

    static int mmio_read_done(bdy_dev *dev, uint64_t *value)
    {
        return of(dev).mmio_read_done(value);
    }

    static int dma_cpl(bdy_dev *dev, bdy_dma_kind kind, uint32_t tag, bdy_dma_status status,
                       const void *data, uint32_t bytes)
    {
        return of(dev).dma_cpl(kind, tag, status, data, bytes);
    }

    static int run(bdy_dev *dev, uint64_t until, int stop_on_upcall, bdy_dev_stop *why)
    {
        return of(dev).run(until, stop_on_upcall != 0, *why);
    }

    static int skip(bdy_dev *dev, uint64_t to)
    {
        return of(dev).skip(to);
    }

    static void status(bdy_dev *dev, bdy_dev_status *out)
    {
        of(dev).status(*out);
    }

    static int wave(bdy_dev *dev, const char *path)
    {
        return guarded([&] { return of(dev).wave(path); });
    }

    static constexpr bdy_dev_ops table(const char *name)
    {
        return {BDY_DEV_ABI,    name,    create, destroy, boot,   mmio_write, mmio_read,
                mmio_read_done, dma_cpl, run,    skip,    status, wave};
    }
};

} // namespace bdy
#endif
