// SPDX-License-Identifier: Apache-2.0
#include "sim/host/maps.h"

#include "bindery/pci.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** The list is in address order. */
static int covered(FILE *maps, uint64_t from, uint64_t end, unsigned dir, int *readable)
{
    *readable = 1;
    char line[512];
    while (from < end && fgets(line, sizeof(line), maps)) {
        unsigned long long start, stop;
        char perms[5];
        const int whole = strchr(line, '\n') != NULL;
        if (sscanf(line, "%llx-%llx %4s", &start, &stop, perms) == 3 && stop > from) {
            if (start > from || ((dir & BDY_DMA_TO_DEVICE) && perms[0] != 'r') ||
                ((dir & BDY_DMA_FROM_DEVICE) && perms[1] != 'w'))
                return -EFAULT;
            *readable &= perms[0] == 'r';
            from = stop;
        }
        if (!whole) /* a long path: drop its rest */
            for (int c = fgetc(maps); c != '\n' && c != EOF; c = fgetc(maps))
                ;
    }
    return from < end ? -EFAULT : 0;
}

int bdy_maps_check(const char *path, uint64_t from, uint64_t end, unsigned dir, int *readable)
{
    FILE *maps = fopen(path, "re");
    if (!maps)
        return errno == EACCES ? -EPERM : -EFAULT;
    const int err = covered(maps, from, end, dir, readable);
    fclose(maps);
    return err;
}
