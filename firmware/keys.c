// SPDX-License-Identifier: Apache-2.0
// Keys (H10): {slot, nonce, key byte}. Slots come from a keyed permutation of all slots, nonces
// from a keyed permutation of the 16 values of each slot, first key bytes from the same keyed
// function of a running number.
//
// key[slot] is only meaningful when its bit in known[] is set. While used:
//   [7:0] owner, [17:8] PD, [25:18] first key byte, [29:26] nonce counter, [31:30] kind
// and while free:
//   [12:0] next free slot, [29:26] nonce counter, [31:30] 0
#include "fw.h"

#define USED_PD_LSB 8u
#define USED_BYTE_LSB 18u
#define COUNT_LSB 26u
#define KIND_LSB 30u
#define LINK_MASK 0x1fffu
#define COUNT_MASK (0xfu << COUNT_LSB)

_Static_assert(FW_KEYS - 1u <= LINK_MASK, "a free slot's link holds a slot number");
_Static_assert(FW_PDS <= 1024u, "a used slot holds a PD number in 10 bits");

/** What the keyed function is used for: no use sees another one's values. */
enum domain { DOMAIN_SLOT = 1, DOMAIN_NONCE = 2, DOMAIN_BYTE = 3 };

static uint32_t rotate_left(uint32_t x, unsigned n)
{
    return x << n | x >> (32u - n);
}

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32u - n);
}

#define ROUNDS 27u

/** Key schedule of the block cipher Speck64/128. */
static void expand(struct fw *fw, uint64_t seed_lo, uint64_t seed_hi)
{
    uint32_t k = (uint32_t)seed_lo;
    uint32_t l[3] = {(uint32_t)(seed_lo >> 32), (uint32_t)seed_hi, (uint32_t)(seed_hi >> 32)};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        fw->round_keys[i] = k;
        uint32_t next = (k + rotate_right(l[0], 8)) ^ i;
        k = rotate_left(k, 3) ^ next;
        l[0] = l[1];
        l[1] = l[2];
        l[2] = next;
    }
}

/** The keyed function: one block of Speck64/128. */
static uint64_t encrypt(const struct fw *fw, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        x = (rotate_right(x, 8) + y) ^ fw->round_keys[i];
        y = rotate_left(y, 3) ^ x;
    }
    return (uint64_t)x << 32 | y;
}

/** Feistel network over `width` bits (2 to 32): a permutation whatever the round function is. */
uint32_t fw_permute(const struct fw *fw, uint32_t width, uint32_t value)
{
    uint32_t low_bits = width / 2u;
    uint32_t low_mask = (1u << low_bits) - 1u;
    uint32_t high_mask = (1u << (width - low_bits)) - 1u;
    uint32_t low = value & low_mask;
    uint32_t high = value >> low_bits & high_mask;
    for (uint32_t round = 0; round < 6u; round += 2u) {
        high ^= (uint32_t)encrypt(fw, DOMAIN_SLOT << 24 | round, low) & high_mask;
        low ^= (uint32_t)encrypt(fw, DOMAIN_SLOT << 24 | (round + 1u), high) & low_mask;
    }
    return high << low_bits | low;
}

/** The slot's n-th nonce: a Feistel network over 4 bits whose round tables are one block of the
 * keyed function. */
static uint32_t nonce_of(const struct fw *fw, uint32_t slot, uint32_t count)
{
    uint64_t tables = encrypt(fw, DOMAIN_NONCE << 24, slot);
    uint32_t low = count & 3u;
    uint32_t high = count >> 2 & 3u;
    for (uint32_t round = 0; round < 8u; round += 2u) {
        high ^= (uint32_t)(tables >> (8u * round + 2u * low)) & 3u;
        low ^= (uint32_t)(tables >> (8u * (round + 1u) + 2u * high)) & 3u;
    }
    return high << 2 | low;
}

void fw_keys_init(struct fw *fw, uint64_t seed_lo, uint64_t seed_hi)
{
    expand(fw, seed_lo, seed_hi);
    fw->fresh = 0;
    fw->free_head = FW_NONE;
    fw->free_tail = FW_NONE;
    fw->keys_made = 0;
    fw->keys_used = 0;
}

/** Slots that were never used come first; then the one that has been free for longest. */
static uint32_t take_slot(struct fw *fw)
{
    if (fw->fresh < 1u << fw->log_keys) {
        return fw_permute(fw, fw->log_keys, fw->fresh++);
    }
    uint32_t slot = fw->free_head;
    if (slot == FW_NONE) {
        return FW_NONE;
    }
    fw->free_head = slot == fw->free_tail ? FW_NONE : fw->key[slot] & LINK_MASK;
    return slot;
}

static bool known(const struct fw *fw, uint32_t slot)
{
    return fw->known[slot / 32u] >> (slot % 32u) & 1u;
}

uint32_t fw_key_alloc(struct fw *fw, enum bdy_mpt_kind kind, uint8_t owner, uint32_t pd)
{
    uint32_t slot = take_slot(fw);
    if (slot == FW_NONE) {
        return FW_NONE;
    }
    uint32_t first_byte = (uint32_t)encrypt(fw, DOMAIN_BYTE << 24, fw->keys_made++) & 0xffu;
    uint32_t before = known(fw, slot) ? fw->key[slot] : 0;
    uint32_t count = (before + (1u << COUNT_LSB)) & COUNT_MASK;
    fw->known[slot / 32u] |= 1u << (slot % 32u);
    fw->key[slot] = (uint32_t)kind << KIND_LSB | count | first_byte << USED_BYTE_LSB |
                    pd << USED_PD_LSB | owner;
    fw->keys_used++;
    return fw_key_first(fw, slot);
}

void fw_key_free(struct fw *fw, uint32_t slot)
{
    fw->key[slot] &= COUNT_MASK;
    if (fw->free_head == FW_NONE) {
        fw->free_head = slot;
    } else {
        fw->key[fw->free_tail] = (fw->key[fw->free_tail] & COUNT_MASK) | slot;
    }
    fw->free_tail = slot;
    fw->keys_used--;
}

enum bdy_mpt_kind fw_key_kind(const struct fw *fw, uint32_t slot)
{
    bool any = slot < 1u << fw->log_keys && known(fw, slot);
    return any ? (enum bdy_mpt_kind)(fw->key[slot] >> KIND_LSB) : BDY_MPT_KIND_NONE;
}

uint8_t fw_key_owner(const struct fw *fw, uint32_t slot)
{
    return (uint8_t)fw->key[slot];
}

uint32_t fw_key_pd(const struct fw *fw, uint32_t slot)
{
    return fw->key[slot] >> USED_PD_LSB & 0x3ffu;
}

uint32_t fw_key_first(const struct fw *fw, uint32_t slot)
{
    uint32_t count = fw->key[slot] >> COUNT_LSB & 0xfu;
    return slot << 12 | nonce_of(fw, slot, count) << 8 | (fw->key[slot] >> USED_BYTE_LSB & 0xffu);
}
