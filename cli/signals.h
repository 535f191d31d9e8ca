// SPDX-License-Identifier: MIT
// Removes temporary files when a signal ends the program. Private to output.c and main.c.
#ifndef PELT_CLI_SIGNALS_H
#define PELT_CLI_SIGNALS_H

// SIGINT, SIGTERM and SIGHUP remove the files first; a closed pipe and a file over the size limit become
// write errors.
void cli_signals_init(void);
// Creates a file, which must not exist, for writing and lists it as temporary. path must live until it is removed from
// the list. Returns a descriptor, or -1 with errno; *out_slot is -1 where all are taken.
int cli_signals_create(const char *path, int *out_slot);
// Any thread. After it no handler uses the path.
void cli_signals_remove(int slot);

#endif
