//! Channels, as in `loom::sync::mpsc`, with the bounded ones that loom does not have.

pub use unpick::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
