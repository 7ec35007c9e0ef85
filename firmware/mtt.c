// SPDX-License-Identifier: Apache-2.0
// Ranges of translation entries: one bit an entry, first fit. Freed neighbours coalesce by
// themselves.
#include "fw.h"

static bool used(const struct fw *fw, uint32_t index)
{
    return fw->mtt[index / 32u] >> (index % 32u) & 1u;
}

static void mark(struct fw *fw, uint32_t first, uint32_t count, bool value)
{
    while (count > 0) {
        uint32_t bit = first % 32u;
        uint32_t n = count < 32u - bit ? count : 32u - bit;
        uint32_t mask = (n == 32u ? ~0u : (1u << n) - 1u) << bit;
        if (value) {
            fw->mtt[first / 32u] |= mask;
        } else {
            fw->mtt[first / 32u] &= ~mask;
        }
        first += n;
        count -= n;
    }
}

uint32_t fw_mtt_alloc(struct fw *fw, uint32_t count)
{
    uint32_t end = 1u << fw->log_mtt;
    uint32_t run = 0;
    while (fw->mtt_hint < end / 32u && fw->mtt[fw->mtt_hint] == ~0u) {
        fw->mtt_hint++;
    }
    for (uint32_t i = fw->mtt_hint * 32u; i < end;) {
        uint32_t word = fw->mtt[i / 32u];
        if (i % 32u == 0 && (word == 0 || word == ~0u)) { // whole words at a stride
            run = word == 0 ? run + 32u : 0;
            i += 32u;
        } else {
            run = used(fw, i) ? 0 : run + 1u;
            i++;
        }
        if (run >= count) {
            uint32_t first = i - run;
            mark(fw, first, count, true);
            return first;
        }
    }
    return FW_NONE;
}

void fw_mtt_free(struct fw *fw, uint32_t first, uint32_t count)
{
    mark(fw, first, count, false);
    if (first / 32u < fw->mtt_hint) {
        fw->mtt_hint = first / 32u;
    }
}
