// SPDX-License-Identifier: Apache-2.0
// The core with tables in C++: a request is performed some time after it was taken and answered some time after that, each in
// any order, so that reads and writes of a row pass each other freely (H8).
#include "Vbdy_prot_core.h"
#include "tests/rtl/prot/dut_impl.h"

namespace prot {

namespace {

constexpr int kEntWords = 14, kMttWords = 3, kMttBits = 89; // 32-bit words of 448 and kMttBits bits

template <int Words> class Table {
public:
    struct Request {
        bool write = false, done = false, failed = false;
        unsigned tag = 0, row = 0;
        std::array<uint32_t, Words> data{}, next{};
        unsigned perform_in = 0, answer_in = 0;
    };

    explicit Table(uint32_t seed) : rng_(seed) {}

    bool offers() const { return answer_ >= 0; }
    const Request &answer() const { return list_[answer_]; }

    void take(Request r, unsigned slowest)
    {
        r.perform_in = slowest ? (unsigned)(rng_() % slowest) : 0;
        r.answer_in = slowest ? (unsigned)(rng_() % slowest) : 0;
        list_.push_back(r);
    }

    void answered() { list_.erase(list_.begin() + answer_); }

    // One cycle: perform what is due, in a random order, and choose what to answer.
    void step(bool in_order, bool fail_read, bool fail_write)
    {
        for (auto &r : list_) {
            if (r.done)
                r.answer_in -= r.answer_in > 0;
            else if (r.perform_in-- == 0)
                perform(r, r.write ? fail_write : fail_read);
            if (in_order && !r.done)
                break;
        }
        answer_ = -1;
        for (size_t i = 0; i < list_.size(); i++) {
            if (list_[i].done && list_[i].answer_in == 0 && (answer_ < 0 || (!in_order && rng_() % 2)))
                answer_ = (int)i;
            if (in_order)
                break;
        }
    }

    bool empty() const { return list_.empty(); }

private:
    std::map<unsigned, std::array<uint32_t, Words>> rows_;
    std::vector<Request> list_;
    std::mt19937 rng_;
    int answer_ = -1;

    void perform(Request &r, bool fail)
    {
        r.done = true;
        r.failed = fail;
        if (fail)
            return;
        if (r.write) {
            rows_[r.row] = r.data;
        } else {
            r.data = rows_[r.row];
            r.next = rows_[r.row + 1];
        }
    }
};

class CoreDut : public DutOf<Vbdy_prot_core> {
public:
    void settle(Pins &p) override
    {
        mpt_.step(!p.dly_reorder, p.fail_mpt_read, p.fail_mpt_write);
        mtt_.step(!p.dly_reorder, p.fail_mtt_read, p.fail_mtt_write);
        slowest_ = p.dly_max;
        drive_tables();
        DutOf::settle(p);
        p.idle = p.idle && mpt_.empty() && mtt_.empty();
    }

    void clock() override
    {
        Vbdy_prot_core &t = *top_;
        if (t.rst_ni) {
            if (t.mpt_rsp_valid_i && t.mpt_rsp_ready_o)
                mpt_.answered();
            if (t.mtt_rsp_valid_i && t.mtt_rsp_ready_o)
                mtt_.answered();
            if (t.mpt_req_valid_o && t.mpt_req_ready_i) {
                Table<kEntWords>::Request r;
                r.write = t.mpt_req_write_o;
                r.tag = t.mpt_req_tag_o;
                r.row = t.mpt_req_row_o;
                for (int i = 0; i < kEntWords; i++)
                    r.data[i] = t.mpt_req_data_o[i];
                mpt_.take(r, slowest_);
            }
            if (t.mtt_req_valid_o && t.mtt_req_ready_i) {
                Table<kMttWords>::Request r;
                r.write = t.mtt_req_write_o;
                r.tag = t.mtt_req_tag_o;
                r.row = t.mtt_req_row_o;
                for (int i = 0; i < kMttWords; i++)
                    r.data[i] = t.mtt_req_data_o[i];
                mtt_.take(r, slowest_);
            }
        }
        DutOf::clock();
    }

private:
    Table<kEntWords> mpt_{11};
    Table<kMttWords> mtt_{12};
    std::mt19937 rng_{13};
    unsigned slowest_ = 0;

    void drive_tables()
    {
        Vbdy_prot_core &t = *top_;
        t.mpt_req_ready_i = slowest_ == 0 || rng_() % 4 != 0;
        t.mtt_req_ready_i = slowest_ == 0 || rng_() % 4 != 0;
        t.mpt_rsp_valid_i = mpt_.offers();
        if (mpt_.offers()) {
            t.mpt_rsp_tag_i = mpt_.answer().tag;
            t.mpt_rsp_err_i = mpt_.answer().failed;
            for (int i = 0; i < kEntWords; i++)
                t.mpt_rsp_data_i[i] = mpt_.answer().data[i];
        }
        t.mtt_rsp_valid_i = mtt_.offers();
        if (mtt_.offers()) {
            t.mtt_rsp_tag_i = mtt_.answer().tag;
            t.mtt_rsp_err_i = mtt_.answer().failed;
            put_pair(t.mtt_rsp_data_i, mtt_.answer());
        }
    }

    // Two rows of kMttBits bits side by side.
    static void put_pair(VlWide<6> &w, const Table<kMttWords>::Request &r)
    {
        for (int i = 0; i < 6; i++)
            w[i] = 0;
        for (int b = 0; b < kMttBits; b++) {
            w[b / 32] |= (r.data[b / 32] >> b % 32 & 1) << b % 32;
            w[(kMttBits + b) / 32] |= (r.next[b / 32] >> b % 32 & 1) << (kMttBits + b) % 32;
        }
    }
};

} // namespace

std::unique_ptr<Dut> make_core_dut() { return std::make_unique<CoreDut>(); }

} // namespace prot
