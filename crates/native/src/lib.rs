//! The runtime of C and C++ programs under test.
//!
//! A program that was compiled with `-fsanitize=thread`, and linked with this library in place of the compiler's
//! own, calls it for each access to memory; and since it comes before the C library, also for threads, locks,
//! memory and the end of the process. Started by `unpick run`, the program is run again and again, each time
//! in another way; started in any other way, it is an ordinary program.
//!
//! | module | does |
//! |---|---|
//! | `mode` | whose code runs: an ordinary program, one under test, or the engine |
//! | `start` | from the start of the process to the exploration |
//! | `constructors` | what runs before `main` and after it |
//! | `explore` | the loop over executions, and the verdict |
//! | `session` | one execution |
//! | `ops` | ops of the program: from a call to its answer |
//! | `entry` | how calls come in, with the caller's registers and stack in view |
//! | `abi_atomic`, `abi_plain`, `abi_bytes` | what the instrumentation calls, and functions that copy bytes |
//! | `threads`, `pthread`, `c11`, `futex`, `statics`, `time`, `random`, `memory`, `crash` | what stands in front of the C library |
//! | `unseen`, `seeks` | state of threads that is not in memory |
//! | `unwind` | how threads end themselves |
//! | `refused` | what cannot be checked |
//! | `told` | what programs tell us: `unpick.h` |
//! | `wakes`, `facts` | how threads wait for each other, and what one execution tells the next |
//! | `fiber`, `pool` | threads of the program on one OS thread |
//! | `standby`, `isolation`, `watch` | what the program must not destroy or stop: checkpoints, processes of their own, blocked calls |
//! | `modules`, `snapshot`, `files` | the memory and the open files of the program, and how they are brought back |
//! | `leaks` | memory that is left behind |
//! | `excuses` | violations that are known |
//! | `unordered` | writes that nothing orders |
//! | `heap`, `shadow`, `places` | what is known of memory: blocks, accesses, locations of the graph |
//! | `reporting`, `record`, `frames`, `output` | what is sent about a violation |
//! | `debugger` | one execution under a debugger |
//! | `own_memory`, `sys`, `real` | the engine's own memory, the kernel, and the C library behind us |

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod abi_atomic;
mod abi_bytes;
mod abi_plain;
mod c11;
mod constructors;
mod crash;
mod debugger;
mod entry;
mod excuses;
mod explore;
mod facts;
mod fiber;
mod files;
mod frames;
mod frontend;
mod futex;
mod heap;
mod isolation;
mod leaks;
mod mappings;
mod memory;
mod mode;
mod modules;
mod ops;
mod output;
mod own_memory;
mod places;
mod pool;
mod pthread;
mod random;
mod real;
mod record;
mod refused;
mod reporting;
mod seeks;
mod session;
mod shadow;
mod snapshot;
mod standby;
mod start;
mod statics;
mod sys;
mod threads;
mod time;
mod told;
mod trial;
mod unordered;
mod unseen;
mod unwind;
mod verifier;
mod wakes;
mod watch;
