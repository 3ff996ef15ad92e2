/* Delays each sync by the nanoseconds in SLOW_SYNC. A benchmark loads it before the C library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int fdatasync(int file) {
    int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    struct timespec more = {0, atol(getenv("SLOW_SYNC"))};
    nanosleep(&more, NULL);
    return sync(file);
}
