//! Without checks, unpick's types are `std`'s own: the same types, not equal ones. Run by `cargo xtask
//! test` as an ordinary build, which has no dev-dependencies.

use std::any::TypeId;

macro_rules! same {
    ($($($module:ident)::+ :: $name:ident $(< $($argument:tt),+ >)?;)+) => {
        [$((
            concat!($("::", stringify!($module),)+ "::", stringify!($name)),
            TypeId::of::<unpick::$($module)::+::$name$(<$($argument),+>)?>(),
            TypeId::of::<std::$($module)::+::$name$(<$($argument),+>)?>(),
        ),)+]
    };
}

fn main() {
    let types = same! {
        sync::Arc<u8>;
        sync::Weak<u8>;
        sync::Mutex<u8>;
        sync::MutexGuard<'static, u8>;
        sync::RwLock<u8>;
        sync::RwLockReadGuard<'static, u8>;
        sync::RwLockWriteGuard<'static, u8>;
        sync::Condvar;
        sync::WaitTimeoutResult;
        sync::Barrier;
        sync::BarrierWaitResult;
        sync::Once;
        sync::OnceState;
        sync::OnceLock<u8>;
        sync::LazyLock<u8>;
        sync::PoisonError<u8>;
        sync::TryLockError<u8>;
        sync::mpsc::Sender<u8>;
        sync::mpsc::SyncSender<u8>;
        sync::mpsc::Receiver<u8>;
        sync::mpsc::Iter<'static, u8>;
        sync::mpsc::TryIter<'static, u8>;
        sync::mpsc::IntoIter<u8>;
        sync::mpsc::SendError<u8>;
        sync::mpsc::TrySendError<u8>;
        sync::mpsc::RecvError;
        sync::mpsc::TryRecvError;
        sync::mpsc::RecvTimeoutError;
        sync::atomic::AtomicBool;
        sync::atomic::AtomicI8;
        sync::atomic::AtomicI16;
        sync::atomic::AtomicI32;
        sync::atomic::AtomicI64;
        sync::atomic::AtomicIsize;
        sync::atomic::AtomicU8;
        sync::atomic::AtomicU16;
        sync::atomic::AtomicU32;
        sync::atomic::AtomicU64;
        sync::atomic::AtomicUsize;
        sync::atomic::AtomicPtr<u8>;
        sync::atomic::Ordering;
        thread::JoinHandle<u8>;
        thread::Thread;
        thread::ThreadId;
        thread::Builder;
        thread::Scope<'static, 'static>;
        thread::ScopedJoinHandle<'static, u8>;
        thread::LocalKey<u8>;
        thread::AccessError;
        cell::Cell<u8>;
        cell::RefCell<u8>;
        cell::OnceCell<u8>;
        cell::LazyCell<u8>;
        cell::Ref<'static, u8>;
        cell::RefMut<'static, u8>;
        cell::BorrowError;
        cell::BorrowMutError;
        time::Instant;
        time::Duration;
        time::SystemTime;
    };
    let different: Vec<&str> = types.iter().filter(|(_, ours, std)| ours != std).map(|(name, ..)| *name).collect();
    assert!(different.is_empty(), "not std's own: {different:?}");
    println!("{} types are std's own", types.len());
}
