/* A disk with faults, preloaded into a process: what it writes below one folder is counted, and may fail, kill the process,
 * or be written into a journal from which every state that a power cut could leave can be made.
 *
 * disk_arm(folder, acks, journal, at, kind): from now on. `at`: the n-th operation below the folder, from 1; 0 for none. `kind`:
 * an errno; -1 kills the process before the operation, -2 in the middle of a write. ENOSPC stays, other errors happen once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX], acks[PATH_MAX];
static int journal = -1;
static long at, count;
static int kind;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

void disk_arm(const char *folder_, const char *acks_, const char *journal_, long at_, int kind_) {
    snprintf(folder, sizeof folder, "%s/", folder_);
    snprintf(acks, sizeof acks, "%s", acks_);
    at = at_, kind = kind_, count = 0;
    if (*journal_) journal = open(journal_, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

long disk_count(void) { return count; }

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int is_ours(const char *path) {
    size_t length = strlen(path);
    return *folder && !strncmp(path, folder, strlen(folder)) && !(length > 4 && !strcmp(path + length - 4, "-shm"));
}

/* op: w(rite) s(ync) t(runcate) r(ename) u(nlink) a(cknowledgement) */
static void note(char op, const char *path, int64_t offset, const void *data, uint32_t length) {
    if (journal < 0) return;
    uint16_t path_length = strlen(path);
    char head[1 + 2 + 8 + 4];
    head[0] = op;
    memcpy(head + 1, &path_length, 2), memcpy(head + 3, &offset, 8), memcpy(head + 11, &length, 4);
    size_t size = sizeof head + path_length + length;
    char *record = malloc(size);
    memcpy(record, head, sizeof head), memcpy(record + sizeof head, path, path_length);
    memcpy(record + sizeof head + path_length, data, length);
    if (REAL(write)(journal, record, size) < 0) abort();
    free(record);
}

/* Whether the operation is to fail; a write may be cut in half before the process dies. */
static int fails(int fd, const void *data, size_t length, int64_t offset) {
    count++;
    if (!at || count < at || (count > at && kind != ENOSPC)) return 0;
    if (kind == -2 && data && length > 1) REAL(pwrite)(fd, data, length / 2, offset);
    if (kind < 0) raise(SIGKILL);
    errno = kind;
    return 1;
}

static ssize_t do_write(int fd, const void *data, size_t length, off_t offset, int at_offset) {
    char path[PATH_MAX];
    if (fd == journal || !*folder || !path_of(fd, path)) goto plain;
    if (!strcmp(path, acks)) {
        pthread_mutex_lock(&lock);
        note('a', path, 0, data, length);
        pthread_mutex_unlock(&lock);
    }
    if (!is_ours(path)) goto plain;
    pthread_mutex_lock(&lock);
    off_t place = at_offset ? offset : lseek(fd, 0, SEEK_CUR);
    ssize_t done = -1;
    if (!fails(fd, data, length, place)) {
        done = REAL(pwrite)(fd, data, length, place);
        if (done > 0) {
            note('w', path, place, data, done);
            if (!at_offset) lseek(fd, place + done, SEEK_SET);
        }
    }
    pthread_mutex_unlock(&lock);
    return done;
plain:
    return at_offset ? REAL(pwrite)(fd, data, length, offset) : REAL(write)(fd, data, length);
}

ssize_t write(int fd, const void *data, size_t length) { return do_write(fd, data, length, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return do_write(fd, data, length, offset, 1); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return do_write(fd, data, length, offset, 1); }

static int sync_of(int fd, const char *name) {
    char path[PATH_MAX];
    int is_counted = *folder && path_of(fd, path) && (is_ours(path) || !strncmp(path, folder, strlen(path)));
    if (!is_counted) return ((int (*)(int))real(name))(fd);
    pthread_mutex_lock(&lock);
    int done = -1;
    /* The data need not reach a real disk: what would be on it is made from the journal. */
    if (!fails(fd, NULL, 0, 0)) note('s', path, 0, "", 0), done = 0;
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int fd) { return sync_of(fd, "fsync"); }
int fdatasync(int fd) { return sync_of(fd, "fdatasync"); }

static int truncate_of(int fd, off_t length) {
    char path[PATH_MAX];
    if (!*folder || !path_of(fd, path) || !is_ours(path)) return REAL(ftruncate)(fd, length);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(fd, NULL, 0, 0)) done = REAL(ftruncate)(fd, length), note('t', path, length, "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length) { return truncate_of(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncate_of(fd, length); }

int rename(const char *from, const char *to) {
    if (!is_ours(to)) return REAL(rename)(from, to);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(-1, NULL, 0, 0)) done = REAL(rename)(from, to), note('r', from, 0, to, strlen(to));
    pthread_mutex_unlock(&lock);
    return done;
}

int unlink(const char *path) {
    if (!is_ours(path)) return REAL(unlink)(path);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails(-1, NULL, 0, 0)) done = REAL(unlink)(path), note('u', path, 0, "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}
