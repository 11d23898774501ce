// Included by `surface.rs`, twice: what `sync::mpsc` has.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::time::Duration;

use subject::sync::mpsc::{
    IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, Sender, SyncSender, TryIter,
    TryRecvError, TrySendError, channel, sync_channel,
};

use crate::surface::Value;

fn functions<T: Value>() {
    let _: fn() -> (Sender<T>, Receiver<T>) = channel;
    let _: fn(usize) -> (SyncSender<T>, Receiver<T>) = sync_channel;
}

fn recv_timeout_error() {
    let _ = RecvTimeoutError::Timeout;
    let _ = RecvTimeoutError::Disconnected;
    implements!(RecvTimeoutError: Clone);
    implements!(RecvTimeoutError: Debug);
    implements!(RecvTimeoutError: Display);
    implements!(RecvTimeoutError: Error);
    implements!(RecvTimeoutError: From<RecvError>);
    implements!(RecvTimeoutError: PartialEq);
    implements!(RecvTimeoutError: Copy);
    implements!(RecvTimeoutError: Eq);
}

fn try_recv_error() {
    let _ = TryRecvError::Empty;
    let _ = TryRecvError::Disconnected;
    implements!(TryRecvError: Clone);
    implements!(TryRecvError: Debug);
    implements!(TryRecvError: Display);
    implements!(TryRecvError: Error);
    implements!(TryRecvError: From<RecvError>);
    implements!(TryRecvError: PartialEq);
    implements!(TryRecvError: Copy);
    implements!(TryRecvError: Eq);
}

fn try_send_error() {
    let _ = <TrySendError<u8>>::Full;
    let _ = <TrySendError<u8>>::Disconnected;
    implements!(TrySendError<u8>: Clone);
    implements!(TrySendError<u8>: Debug);
    implements!(TrySendError<u8>: Display);
    implements!(TrySendError<u8>: Error);
    implements!(TrySendError<u8>: From<SendError<u8>>);
    implements!(TrySendError<u8>: PartialEq);
    implements!(TrySendError<u8>: Copy);
    implements!(TrySendError<u8>: Eq);
}

fn into_iter() {
    implements!(IntoIter<u8>: Debug);
    implements!(IntoIter<u8>: Iterator);
}

fn iter() {
    implements!(Iter<'static, u8>: Debug);
    implements!(Iter<'static, u8>: Iterator);
}

fn receiver<T: Value>() {
    let _: fn(&Receiver<T>) -> Result<T, TryRecvError> = <Receiver<T>>::try_recv;
    let _: fn(&Receiver<T>) -> Result<T, RecvError> = <Receiver<T>>::recv;
    let _: fn(&Receiver<T>, Duration) -> Result<T, RecvTimeoutError> = <Receiver<T>>::recv_timeout;
    let _: fn(&Receiver<T>) -> Iter<'_, T> = <Receiver<T>>::iter;
    let _: fn(&Receiver<T>) -> TryIter<'_, T> = <Receiver<T>>::try_iter;
    implements!(Receiver<u8>: Debug);
    implements!(&'static Receiver<u8>: IntoIterator);
    implements!(Receiver<u8>: IntoIterator);
    implements!(Receiver<u8>: Send);
    refuses!(Receiver<u8>: Sync);
}

fn recv_error() {
    implements!(RecvError: Clone);
    implements!(RecvError: Debug);
    implements!(RecvError: Display);
    implements!(RecvError: Error);
    implements!(RecvError: PartialEq);
    implements!(RecvError: Copy);
    implements!(RecvError: Eq);
}

fn send_error() {
    implements!(SendError<u8>: Clone);
    implements!(SendError<u8>: Debug);
    implements!(SendError<u8>: Display);
    implements!(SendError<u8>: Error);
    implements!(SendError<u8>: PartialEq);
    implements!(SendError<u8>: Copy);
    implements!(SendError<u8>: Eq);
}

fn sender<T: Value>() {
    let _: fn(&Sender<T>, T) -> Result<(), SendError<T>> = <Sender<T>>::send;
    implements!(Sender<u8>: Clone);
    implements!(Sender<u8>: Debug);
    implements!(Sender<u8>: Send);
    implements!(Sender<u8>: Sync);
}

fn sync_sender<T: Value>() {
    let _: fn(&SyncSender<T>, T) -> Result<(), SendError<T>> = <SyncSender<T>>::send;
    let _: fn(&SyncSender<T>, T) -> Result<(), TrySendError<T>> = <SyncSender<T>>::try_send;
    implements!(SyncSender<u8>: Clone);
    implements!(SyncSender<u8>: Debug);
    implements!(SyncSender<u8>: Send);
}

fn try_iter() {
    implements!(TryIter<'static, u8>: Debug);
    implements!(TryIter<'static, u8>: Iterator);
}

/// Uses it all, so that nothing is left out.
pub(crate) fn all() {
    functions::<u8>();
    recv_timeout_error();
    try_recv_error();
    try_send_error();
    into_iter();
    iter();
    receiver::<u8>();
    recv_error();
    send_error();
    sender::<u8>();
    sync_sender::<u8>();
    try_iter();
}
