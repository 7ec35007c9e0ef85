// SPDX-License-Identifier: Apache-2.0
// x86-64 ELF: a call of an imported function goes through a slot that a JUMP_SLOT or GLOB_DAT
// relocation names.

#define _GNU_SOURCE
#include "got.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct object {
    uintptr_t base;
    uintptr_t relro_start, relro_end; /**< whole pages that the loader has made read-only */
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2]; /**< DT_JMPREL, DT_RELA */
    size_t bytes[2];
};

struct request {
    const char *soname;
    struct bdy_got_hook *hooks;
    size_t count;
    int result;
};

static uintptr_t page_of(uintptr_t address)
{
    return address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static void read_dynamic(struct object *object, const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        const uintptr_t pointer = dynamic->d_un.d_ptr; // glibc has relocated these
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            object->symbols = (const void *)pointer;
            break;
        case DT_STRTAB:
            object->strings = (const void *)pointer;
            break;
        case DT_JMPREL:
            object->tables[0] = (const void *)pointer;
            break;
        case DT_PLTRELSZ:
            object->bytes[0] = dynamic->d_un.d_val;
            break;
        case DT_RELA:
            object->tables[1] = (const void *)pointer;
            break;
        case DT_RELASZ:
            object->bytes[1] = dynamic->d_un.d_val;
            break;
        default:
            break;
        }
    }
}

static struct object describe(const struct dl_phdr_info *info)
{
    struct object object = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_DYNAMIC)
            read_dynamic(&object, (const void *)start);
        if (p->p_type == PT_GNU_RELRO) {
            object.relro_start = page_of(start);
            object.relro_end = page_of(start + p->p_memsz);
        }
    }
    return object;
}

static int write_slot(const struct object *object, uintptr_t slot, bdy_got_fn value)
{
    const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    const int sealed = slot >= object->relro_start && slot < object->relro_end;
    if (sealed && mprotect((void *)page_of(slot), bytes, PROT_READ | PROT_WRITE) < 0)
        return -errno;
    *(bdy_got_fn *)slot = value;
    if (sealed && mprotect((void *)page_of(slot), bytes, PROT_READ) < 0)
        return -errno;
    return 0;
}

static int patch_one(const struct object *object, const ElfW(Rela) * rela, struct request *request)
{
    const unsigned type = ELF64_R_TYPE(rela->r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
        return 0;
    const char *name = object->strings + object->symbols[ELF64_R_SYM(rela->r_info)].st_name;
    for (size_t i = 0; i < request->count; i++) {
        struct bdy_got_hook *hook = &request->hooks[i];
        const uintptr_t slot = object->base + rela->r_offset;
        if (strcmp(name, hook->symbol) != 0 || *(bdy_got_fn *)slot == hook->replacement)
            continue;
        hook->original = *(bdy_got_fn *)slot;
        return write_slot(object, slot, hook->replacement);
    }
    return 0;
}

static int is_named(const char *path, const char *soname)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const size_t n = strlen(soname);
    return strncmp(file, soname, n) == 0 && (file[n] == '\0' || file[n] == '.');
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct request *request = arg;
    (void)size;
    if (!is_named(info->dlpi_name, request->soname))
        return 0;
    const struct object object = describe(info);
    request->result = 0;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < object.bytes[t] / sizeof(ElfW(Rela)) && request->result == 0; i++)
            request->result = patch_one(&object, &object.tables[t][i], request);
    return 1;
}

int bdy_got_patch(const char *soname, struct bdy_got_hook *hooks, size_t count)
{
    struct request request = {.soname = soname, .hooks = hooks, .count = count, .result = -ENOENT};
    dl_iterate_phdr(visit, &request);
    return request.result;
}
