// A program that does at once what its argument names.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static volatile int *volatile nowhere;

__attribute__((constructor)) static void early(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "early")) *nowhere = 1;
}

__attribute__((noinline)) static int rest(void) {
    volatile int code = 7;
    usleep(2000000);
    return code;
}

static void *spin(void *unused) { for (;;) pause(); return unused; }

// pry tries what a program must not be able to do to the first process, and prints what worked.
static void pry(void) {
    int memory = open("/proc/1/mem", O_RDWR), readable = open("/proc/1/mem", O_RDONLY), environment = open("/proc/1/environ", O_RDONLY);
    long attached = ptrace(PTRACE_ATTACH, 1, 0, 0), seized = ptrace(PTRACE_SEIZE, 1, 0, 0);
    kill(getppid(), SIGKILL);
    kill(getppid(), SIGSTOP);
    printf("pried %d %d %d %ld %ld\n", memory, readable, environment, attached, seized);
}

int main(int count, char **words) {
    const char *way = count > 1 ? words[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(way, "well")) return 0;
    if (!strcmp(way, "crash")) *nowhere = 1;
    // Writes to a file first, as if it used that much memory.
    if (!strcmp(way, "waits")) {
        FILE *file = fopen(words[2], "w");
        if (!file || fputs(words[3], file) < 0 || fclose(file)) return 8;
        return rest();
    }
    if (!strcmp(way, "pry")) pry();
    if (!strcmp(way, "forks")) {
        pid_t child = fork();
        if (child == 0) *nowhere = 1;
        sleep(1);
    }
    if (!strcmp(way, "stubborn")) {
        signal(SIGTERM, SIG_IGN);
        for (int n = 0; n < 3; n++)
            if (fork() == 0) for (;;) pause();
        for (;;) pause();
    }
    if (!strcmp(way, "orphans")) {
        for (int n = 0; n < 50; n++) {
            if (fork() == 0) { if (fork() == 0) { usleep(100000); if (n % 10 == 0) raise(SIGSTOP); _exit(0); } _exit(0); }
        }
        sleep(1);
        return system("ls -d /proc/[0-9]*/stat | xargs cat 2>/dev/null | grep -c ') Z 1 ' | sed s/^/zombies:/") && 0;
    }
    // Runs another program while it has threads, many times.
    if (!strcmp(way, "execs")) {
        int left = atoi(words[2]);
        char number[16];
        pthread_t id;
        for (int n = 0; n < 4; n++) pthread_create(&id, NULL, spin, NULL);
        sprintf(number, "%d", left - 1);
        if (left > 0) execl("/proc/self/exe", "brief", "execs", number, NULL);
        return 4;
    }
    return 0;
}
