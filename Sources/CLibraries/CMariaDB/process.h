#pragma once
// Starting a server or its keeper: what posix_spawn cannot do (a session of its own, another user, no inherited
// descriptors, an end with its parent).
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct child_process_request {
  const char *path;
  char *const *arguments;
  char *const *environment;
  const char *directory;
  int output;           // becomes standard output
  int errors;           // becomes standard error
  int becomes_user;     // 1: give up every privilege and run as user and group
  uid_t user;
  gid_t group;
  int signal_at_parent_end;  // sent when the *thread* that called ends; 0: none
};

// Makes a pipe that no started program inherits; 0, or -1 with errno set.
static inline int child_process_pipe(int *ends) { return pipe2(ends, O_CLOEXEC); }

// In the child between fork and exec: system calls only, no library state, no locks.
static inline __attribute__((noreturn)) void child_process_become(
    const struct child_process_request *request, int report, pid_t parent) {
  struct sigaction standard;
  __builtin_memset(&standard, 0, sizeof standard);
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < 32; number++) sigaction(number, &standard, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setsid();  // Ctrl-C in our terminal is ours to handle, not the server's
  umask(0077);
  int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, 0) < 0 || dup2(request->output, 1) < 0 || dup2(request->errors, 2) < 0) goto failed;
  if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) != 0)
    for (int descriptor = 3; descriptor < 65536; descriptor++) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  if (request->becomes_user) {
    // The raw calls: the library's would signal threads that do not exist in this child.
    if (syscall(SYS_setgroups, 0, NULL) != 0) goto failed;
    if (syscall(SYS_setresgid, request->group, request->group, request->group) != 0) goto failed;
    if (syscall(SYS_setresuid, request->user, request->user, request->user) != 0) goto failed;
  }
  if (request->signal_at_parent_end != 0) {
    if (prctl(PR_SET_PDEATHSIG, (unsigned long)request->signal_at_parent_end) != 0) goto failed;
    if (getppid() != parent) _exit(127);  // it ended before we could ask to be told
  }
  if (chdir(request->directory) != 0) goto failed;
  execve(request->path, request->arguments, request->environment);
failed:;
  int reason = errno;
  if (write(report, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

// Starts the program; 0, or the errno of the step that failed in either process.
static inline int child_process_start(const struct child_process_request *request, pid_t *pid) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of ours may run in the child
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) child_process_become(request, report[1], parent);
  int reason = child < 0 ? errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(report[1]);
  if (child > 0) {
    int told = 0;
    ssize_t count;
    do count = read(report[0], &told, sizeof told);
    while (count < 0 && errno == EINTR);
    if (count == sizeof told) {
      reason = told;
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    }
  }
  close(report[0]);
  *pid = child;
  return reason;
}

// Waits for the end of a child and leaves it as a zombie, so that its number stays its own until it is collected.
static inline void child_process_await(pid_t pid) {
  siginfo_t information;
  while (waitid(P_PID, (id_t)pid, &information, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
}

// Collects an ended child: its exit code, or 128 + the number of the signal that ended it.
static inline int child_process_collect(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
