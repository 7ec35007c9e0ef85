// SPDX-License-Identifier: Apache-2.0
// Keys (H10): {slot, nonce, key byte}. Slots come from a keyed permutation of all slots, nonces
// from a keyed permutation of the 16 values of each slot, first key bytes from a keyed stream.
//
// key[slot] is only meaningful when its bit in known[] is set. While used:
//   [9:0] PD, [17:10] first key byte, [21:18] nonce, [29:26] nonce counter, [31:30] kind
// and while free:
//   [12:0] next free slot, [29:26] nonce counter, [31:30] 0
#include "fw.h"

#define PD_MASK 0x3ffu
#define BYTE_LSB 10u
#define NONCE_LSB 18u
#define COUNT_LSB 26u
#define KIND_LSB 30u
#define LINK_MASK 0x1fffu
#define COUNT_MASK (0xfu << COUNT_LSB)

_Static_assert(FW_KEYS - 1u <= LINK_MASK, "a free slot's link holds a slot number");
_Static_assert(FW_PDS - 1u <= PD_MASK, "a used slot holds a PD number");
_Static_assert((BDY_LOG_KEYS + 1u) / 2u <= FW_FEISTEL_BITS,
               "a half of a slot number indexes a row");

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

/** Round function of the Feistel network: a table of keyed bytes, made eight at a time when first
 *  used, as each costs a block of the cipher. */
static uint32_t round_value(struct fw *fw, uint32_t round, uint32_t x)
{
    uint8_t *eight = &fw->feistel[round][x & ~7u];
    if (!(fw->feistel_made[round] >> (x / 8u) & 1u)) {
        uint64_t bytes = encrypt(fw, DOMAIN_SLOT << 24 | round, x / 8u);
        for (uint32_t i = 0; i < 8u; i++, bytes >>= 8) {
            eight[i] = (uint8_t)bytes;
        }
        fw->feistel_made[round] |= 1u << (x / 8u);
    }
    return eight[x % 8u];
}

/** Feistel network over `width` bits (2 to 14): a permutation whatever the round function is. */
uint32_t fw_permute(struct fw *fw, uint32_t width, uint32_t value)
{
    uint32_t low_bits = width / 2u;
    uint32_t low_mask = (1u << low_bits) - 1u;
    uint32_t high_mask = (1u << (width - low_bits)) - 1u;
    uint32_t low = value & low_mask;
    uint32_t high = value >> low_bits & high_mask;
    for (uint32_t round = 0; round < FW_FEISTEL_ROUNDS; round += 2u) {
        high ^= round_value(fw, round, low) & high_mask;
        low ^= round_value(fw, round + 1u, high) & low_mask;
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
    for (uint32_t i = 0; i < FW_FEISTEL_ROUNDS; i++) {
        fw->feistel_made[i] = 0;
    }
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

/** The next byte of the stream. */
static uint32_t first_byte(struct fw *fw)
{
    if (fw->keys_made % 8u == 0) {
        fw->key_bytes = encrypt(fw, DOMAIN_BYTE << 24, fw->keys_made / 8u);
    }
    fw->keys_made++;
    uint32_t byte = (uint32_t)fw->key_bytes & 0xffu;
    fw->key_bytes >>= 8;
    return byte;
}

uint32_t fw_key_alloc(struct fw *fw, enum bdy_mpt_kind kind, uint32_t pd)
{
    uint32_t slot = take_slot(fw);
    if (slot == FW_NONE) {
        return FW_NONE;
    }
    uint32_t before = known(fw, slot) ? fw->key[slot] : 0;
    uint32_t count = (before + (1u << COUNT_LSB)) & COUNT_MASK;
    fw->known[slot / 32u] |= 1u << (slot % 32u);
    fw->key[slot] = (uint32_t)kind << KIND_LSB | count |
                    nonce_of(fw, slot, count >> COUNT_LSB) << NONCE_LSB |
                    first_byte(fw) << BYTE_LSB | pd;
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

uint32_t fw_key_pd(const struct fw *fw, uint32_t slot)
{
    return fw->key[slot] & PD_MASK;
}

uint8_t fw_key_owner(const struct fw *fw, uint32_t slot)
{
    return fw->pd[fw_key_pd(fw, slot)].owner;
}

uint32_t fw_key_first(const struct fw *fw, uint32_t slot)
{
    uint32_t key = fw->key[slot];
    return slot << 12 | (key >> NONCE_LSB & 0xfu) << 8 | (key >> BYTE_LSB & 0xffu);
}

void fw_key_move(struct fw *fw, uint32_t slot, uint32_t key, uint32_t pd)
{
    fw->pd[fw_key_pd(fw, slot)].refs--;
    fw->pd[pd].refs++;
    fw->key[slot] =
        (fw->key[slot] & ~(0xffu << BYTE_LSB | PD_MASK)) | (key & 0xffu) << BYTE_LSB | pd;
}
