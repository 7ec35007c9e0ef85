// SPDX-License-Identifier: Apache-2.0
// Objects and their handles (N1). A handle names index and use count, so a freed or foreign one is
// never taken for another.
#include "priv.h"

#define INDEX_BITS 20u
#define USES_MASK 0xfffu
#define FIRST_SLOTS 64u

static void free_slot(struct handles *h, uint32_t index)
{
    h->slots[index].obj = NULL;
    h->slots[index].next_free = HANDLE_NONE;
    if (h->free_head == HANDLE_NONE) {
        h->free_head = index;
    } else {
        h->slots[h->free_tail].next_free = index;
    }
    h->free_tail = index;
}

static int grow(struct handles *h)
{
    uint32_t count = h->count ? 2u * h->count : FIRST_SLOTS;
    struct handle_slot *slots =
        count < 1u << INDEX_BITS ? bdy_os_alloc(count * sizeof *slots) : NULL;
    if (!slots) {
        return -ENOMEM;
    }
    if (h->slots) {
        bdy_os_copy(slots, h->slots, h->count * sizeof *slots);
        bdy_os_free(h->slots);
    }
    uint32_t first = h->count;
    h->slots = slots;
    h->count = count;
    h->free_head = HANDLE_NONE; // only a full table grows
    for (uint32_t i = first; i < count; i++) {
        free_slot(h, i);
    }
    return 0;
}

int obj_add(struct bdy_uctx *uctx, struct obj *obj, enum obj_kind kind)
{
    struct handles *h = &uctx->core->handles;
    if (uctx->count[kind] >= uctx->core->limits.quota[kind]) {
        return -ENOMEM;
    }
    if (h->free_head == HANDLE_NONE && grow(h) != 0) {
        return -ENOMEM;
    }
    uint32_t index = h->free_head;
    struct handle_slot *slot = &h->slots[index];
    h->free_head = slot->next_free;
    slot->uses = (slot->uses + 1u) & USES_MASK;
    slot->obj = obj;

    obj->kind = kind;
    obj->handle = slot->uses << INDEX_BITS | (index + 1u);
    obj->uctx = uctx;
    obj->next = NULL;
    obj->prev = uctx->last;
    *(uctx->last ? &uctx->last->next : &uctx->first) = obj;
    uctx->last = obj;
    uctx->count[kind]++;
    return 0;
}

void obj_remove(struct obj *obj)
{
    struct bdy_uctx *uctx = obj->uctx;
    *(obj->prev ? &obj->prev->next : &uctx->first) = obj->next;
    *(obj->next ? &obj->next->prev : &uctx->last) = obj->prev;
    uctx->count[obj->kind]--;
    free_slot(&uctx->core->handles, (obj->handle & ((1u << INDEX_BITS) - 1u)) - 1u);
}

void *obj_find(struct bdy_uctx *uctx, uint32_t handle, enum obj_kind kind)
{
    const struct handles *h = &uctx->core->handles;
    uint32_t index = (handle & ((1u << INDEX_BITS) - 1u)) - 1u;
    struct obj *obj = index < h->count ? h->slots[index].obj : NULL;
    return obj && obj->handle == handle && obj->kind == kind && obj->uctx == uctx ? obj : NULL;
}

void handles_free(struct handles *handles)
{
    if (handles->slots) {
        bdy_os_free(handles->slots);
    }
}
