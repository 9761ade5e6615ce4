// A program that ends in the way that its first argument names, once there is a byte to read and so many milliseconds have passed as the second says. A leak takes
// its next MiB after as many as the third says, else 10.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile int *nowhere;

static void pause_for(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR) {}
}

__attribute__((noinline)) int crash_here(int deep) { return deep > 0 ? crash_here(deep - 1) + 1 : *nowhere; }
__attribute__((noinline)) int overflow(int deep) { volatile char room[4096]; room[deep % 4096] = 1; return overflow(deep + 1) + room[7]; }
__attribute__((noinline)) void give_up(void) { abort(); }
__attribute__((noinline)) void leave(int code) { exit(code); }
__attribute__((noinline)) void check(int lines) { assert(lines > 0); }
__attribute__((noinline)) void grow(void) {
    for (;;) { char *more = malloc(1 << 20); memset(more, 1, 1 << 20); pause_for(5); }
}

__attribute__((noinline)) void leak(int milliseconds) {
    for (;;) { char *piece = malloc(1 << 20); if (piece) memset(piece, 7, 1 << 20); pause_for(milliseconds); }
}
static void *idle(void *unused) { for (;;) pause_for(1000); return unused; }
static void *crash(void *unused) { (void)unused; pause_for(100); return (void *)(long)crash_here(2); }
static void *leave_thread(void *unused) { (void)unused; pause_for(100); leave(3); return NULL; }
static void *brief(void *unused) { return unused; }

static volatile sig_atomic_t told, counted;
static void on_term(int unused) { (void)unused; told = 1; }
static void on_usr(int unused) { (void)unused; counted++; }

// hang is what a liveness probe ends: SIGTERM does not, and is-well, which is the probe, fails from now on.
void raise_again(int number) { signal(number, SIG_DFL); raise(number); }
__attribute__((noinline)) void hang(void) { signal(SIGTERM, SIG_IGN); close(open("/tmp/hung", O_CREAT | O_WRONLY, 0600)); for (;;) pause_for(1000); }

static void thread(void *(*work)(void *)) { pthread_t id; pthread_create(&id, NULL, work, NULL); }

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "";
    char go;
    pthread_t id;
    (void)id;
    if (!strcmp(way, "is-well")) return access("/tmp/hung", F_OK) == 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGUSR1, on_usr);
    if (!strcmp(way, "threads-segv")) { thread(idle); thread(idle); }
    if (!strcmp(way, "handled")) signal(SIGTERM, on_term);
    if (!strcmp(way, "raises")) signal(SIGTERM, raise_again);
    if (!strcmp(way, "sealed")) prctl(PR_SET_DUMPABLE, 0);
    printf("ready\n");
    while (read(0, &go, 1) < 0 && errno == EINTR) {}
    if (count > 2) pause_for(atol(words[2]));
    if (!strcmp(way, "segv") || !strcmp(way, "threads-segv")) return crash_here(3);
    if (!strcmp(way, "thread-segv")) { thread(idle); thread(crash); for (;;) pause_for(1000); }
    if (!strcmp(way, "thread-exit")) { thread(idle); thread(leave_thread); for (;;) pause_for(1000); }
    if (!strcmp(way, "abort")) give_up();
    if (!strcmp(way, "assert")) check(0);
    if (!strcmp(way, "exit")) leave(3);
    if (!strcmp(way, "overflow")) return overflow(0);
    if (!strcmp(way, "trap")) __builtin_trap();
#if defined(__x86_64__)
    if (!strcmp(way, "breakpoint")) { __asm__ volatile("int3"); for (;;) pause_for(1000); }
#endif
    if (!strcmp(way, "divide")) { volatile int zero = 0; return 7 / zero; }
    if (!strcmp(way, "jump")) { void (*volatile to)(void) = NULL; to(); }
    if (!strcmp(way, "hang")) hang();
    if (!strcmp(way, "grow")) grow();
    if (!strcmp(way, "leak")) leak(count > 3 ? atoi(words[3]) : 10);
    if (!strcmp(way, "opens")) for (int n = 0; n < 60; n++) (void)!dup(1);
    if (!strcmp(way, "crowd")) for (int n = 0; n < 30; n++) thread(idle);
    if (!strcmp(way, "masses")) for (int n = 0; n < 3000; n++) thread(idle);
    if (!strcmp(way, "opens") || !strcmp(way, "crowd") || !strcmp(way, "masses")) {
        while (read(0, &go, 1) < 0 && errno == EINTR) {}
        leave(3);
    }
    if (!strcmp(way, "exec")) { thread(idle); pause_for(50); execl("/proc/self/exe", "victim", "exit", NULL); }
    if (!strcmp(way, "seals-later")) { prctl(PR_SET_DUMPABLE, 0); thread(brief); thread(brief); pause_for(200); leave(6); }
    if (!strcmp(way, "last-thread")) { thread(brief); pthread_exit(NULL); }
    if (!strcmp(way, "many-threads")) for (int n = 0; n < 2000; n++) { pthread_create(&id, NULL, brief, NULL); pthread_join(id, NULL); }
    if (!strcmp(way, "many-threads")) return 4;
    if (!strcmp(way, "handled")) { while (!told) pause_for(20); printf("told\n"); pause_for(100); return 0; }
    if (!strcmp(way, "count")) {
        while (read(0, &go, 1) < 0 && errno == EINTR) {}
        return counted;
    }
    for (;;) pause_for(1000);
}
