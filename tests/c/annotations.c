// bug: data race
// fixed: 2 executions

// What programs tell other tools about their synchronisation changes nothing: all of it is seen anyway, and what is not there does
// not come to be by saying so.
#include <pthread.h>

#define EACH(F) \
    F(AnnotateBenignRace) F(AnnotateBenignRaceSized) F(AnnotateCondVarSignal) F(AnnotateCondVarSignalAll) \
    F(AnnotateCondVarWait) F(AnnotateFlushState) F(AnnotateHappensAfter) F(AnnotateHappensBefore) \
    F(AnnotateIgnoreReadsBegin) F(AnnotateIgnoreReadsEnd) F(AnnotateIgnoreSyncBegin) F(AnnotateIgnoreSyncEnd) \
    F(AnnotateIgnoreWritesBegin) F(AnnotateIgnoreWritesEnd) F(AnnotateMutexIsNotPHB) \
    F(AnnotateMutexIsUsedAsCondVar) F(AnnotateNewMemory) F(AnnotatePublishMemoryRange) \
    F(AnnotateRWLockAcquired) F(AnnotateRWLockCreate) F(AnnotateRWLockCreateStatic) F(AnnotateRWLockDestroy) \
    F(AnnotateRWLockReleased) F(AnnotateThreadName) F(AnnotateUnpublishMemoryRange) F(__tsan_acquire) \
    F(__tsan_release) F(__tsan_func_entry) F(__tsan_func_exit) F(__tsan_ignore_thread_begin) \
    F(__tsan_ignore_thread_end) F(__tsan_init) F(__tsan_mutex_create) F(__tsan_mutex_destroy) \
    F(__tsan_mutex_post_divert) F(__tsan_mutex_post_lock) F(__tsan_mutex_post_signal) \
    F(__tsan_mutex_post_unlock) F(__tsan_mutex_pre_divert) F(__tsan_mutex_pre_lock) F(__tsan_mutex_pre_signal) \
    F(__tsan_mutex_pre_unlock)
#define DECLARE(name) void name(void *, ...);
#define CALL(name) name(&data);
EACH(DECLARE)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int data;

static void *increment(void *unused) {
#ifndef BUG
    pthread_mutex_lock(&mutex);
#endif
    EACH(CALL)
    data++;
    EACH(CALL)
#ifndef BUG
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, increment, 0);
    increment(0);
    pthread_join(thread, 0);
    return data == 2 ? 0 : 1;
}
