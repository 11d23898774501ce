//! Without checks, unpick's types are `std`'s own: the same types, not equal ones. Run by `cargo xtask
//! test` as an ordinary build, which has no dev-dependencies.

use std::any::TypeId;

macro_rules! same {
    ($($path:tt)+) => {
        (stringify!($($path)+), TypeId::of::<unpick::$($path)+>(), TypeId::of::<std::$($path)+>())
    };
}

fn main() {
    let types = [
        same!(sync::Arc<u8>),
        same!(sync::Weak<u8>),
        same!(sync::Mutex<u8>),
        same!(sync::MutexGuard<'static, u8>),
        same!(sync::RwLock<u8>),
        same!(sync::RwLockReadGuard<'static, u8>),
        same!(sync::RwLockWriteGuard<'static, u8>),
        same!(sync::Condvar),
        same!(sync::WaitTimeoutResult),
        same!(sync::Barrier),
        same!(sync::BarrierWaitResult),
        same!(sync::Once),
        same!(sync::OnceState),
        same!(sync::OnceLock<u8>),
        same!(sync::LazyLock<u8>),
        same!(sync::PoisonError<u8>),
        same!(sync::TryLockError<u8>),
        same!(sync::LockResult<u8>),
        same!(sync::TryLockResult<u8>),
        same!(sync::mpsc::Sender<u8>),
        same!(sync::mpsc::SyncSender<u8>),
        same!(sync::mpsc::Receiver<u8>),
        same!(sync::mpsc::Iter<'static, u8>),
        same!(sync::mpsc::TryIter<'static, u8>),
        same!(sync::mpsc::IntoIter<u8>),
        same!(sync::mpsc::SendError<u8>),
        same!(sync::mpsc::TrySendError<u8>),
        same!(sync::mpsc::RecvError),
        same!(sync::mpsc::TryRecvError),
        same!(sync::mpsc::RecvTimeoutError),
        same!(sync::atomic::AtomicBool),
        same!(sync::atomic::AtomicI8),
        same!(sync::atomic::AtomicI16),
        same!(sync::atomic::AtomicI32),
        same!(sync::atomic::AtomicI64),
        same!(sync::atomic::AtomicIsize),
        same!(sync::atomic::AtomicU8),
        same!(sync::atomic::AtomicU16),
        same!(sync::atomic::AtomicU32),
        same!(sync::atomic::AtomicU64),
        same!(sync::atomic::AtomicUsize),
        same!(sync::atomic::AtomicPtr<u8>),
        same!(sync::atomic::Ordering),
        same!(thread::JoinHandle<u8>),
        same!(thread::Thread),
        same!(thread::ThreadId),
        same!(thread::Builder),
        same!(thread::Scope<'static, 'static>),
        same!(thread::ScopedJoinHandle<'static, u8>),
        same!(thread::LocalKey<u8>),
        same!(thread::AccessError),
        same!(thread::Result<u8>),
        same!(cell::Cell<u8>),
        same!(cell::RefCell<u8>),
        same!(cell::OnceCell<u8>),
        same!(cell::LazyCell<u8>),
        same!(cell::Ref<'static, u8>),
        same!(cell::RefMut<'static, u8>),
        same!(cell::BorrowError),
        same!(cell::BorrowMutError),
        same!(time::Instant),
        same!(time::Duration),
        same!(time::SystemTime),
    ];
    // The one that has methods of its own is laid out as `std`'s.
    assert_eq!(
        std::alloc::Layout::new::<unpick::cell::UnsafeCell<u64>>(),
        std::alloc::Layout::new::<std::cell::UnsafeCell<u64>>(),
    );
    let different: Vec<&str> =
        types.iter().filter(|(_, ours, std)| ours != std).map(|(name, ..)| *name).collect();
    assert!(different.is_empty(), "not std's own: {different:?}");
    println!("{} types are std's own", types.len());
}
