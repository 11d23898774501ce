//! What cannot be checked: the program is told so when it tries.

use crate::entry::entries;
use crate::ops;
use crate::real::pass;

/// Defines functions that are refused in a check: the entry, the function, its type, and why.
macro_rules! refused {
    ($($entry:ident => $function:ident $name:literal ($($argument:ident: $type:ty),*) -> $result:ty, $problem:literal;)*) => {
        entries! { $($entry => $function;)* }

        $(
            unsafe extern "C" fn $function($($argument: $type),*) -> $result {
                if let Some(caller) = ops::enter() {
                    caller.refuse(String::from($problem));
                }
                pass!($name, fn($($type),*) -> $result $(, $argument)*)
            }
        )*
    };
}

refused! {
    fork => fork_process c"fork" () -> i32, "`fork` cannot be checked: let the test start threads only";
    vfork => fork_briefly c"vfork" () -> i32, "`vfork` cannot be checked: let the test start threads only";
    system => run_command c"system" (command: usize) -> i32, "`system` cannot be checked: leave it out of the test";
    popen => open_command c"popen" (command: usize, mode: usize) -> usize, "`popen` cannot be checked: leave it out of the test";
    dlopen => load c"dlopen" (path: usize, flags: i32) -> usize,
        "`dlopen` in `main` cannot be checked: link the library, or load it in a constructor";
    sem_open => open_semaphore c"sem_open" (name: usize, flags: i32, mode: u32, value: u32) -> usize,
        "`sem_open` cannot be checked: use `sem_init`";
    pthread_cancel => cancel c"pthread_cancel" (thread: usize) -> i32,
        "`pthread_cancel` cannot be checked: let the thread look at a flag";
    pthread_mutex_consistent => make_consistent c"pthread_mutex_consistent" (mutex: usize) -> i32,
        "robust mutexes cannot be checked: use an ordinary one";
    pthread_kill => signal_thread c"pthread_kill" (thread: usize, signal: i32) -> i32,
        "`pthread_kill` cannot be checked: let the thread look at a flag";
    pthread_tryjoin_np => try_join c"pthread_tryjoin_np" (thread: usize, result: usize) -> i32,
        "`pthread_tryjoin_np` cannot be checked: use `pthread_join`";
    pthread_timedjoin_np => join_until c"pthread_timedjoin_np" (thread: usize, result: usize, time: usize) -> i32,
        "`pthread_timedjoin_np` cannot be checked: use `pthread_join`";
}
