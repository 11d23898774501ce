//! Names of objects, for tools that show schedules.

use crate::future::batch_semaphore::BatchSemaphore;
use crate::sync::Mutex;

/// Gives an object a name and a kind. Reports of unpick find names in the source, and do not need it.
pub trait WithName {
    /// Sets name and kind.
    #[must_use]
    fn with_name_and_kind(self, name: Option<&str>, kind: Option<&str>) -> Self;

    /// Sets the name.
    #[must_use]
    fn with_name(self, name: &str) -> Self
    where
        Self: Sized,
    {
        self.with_name_and_kind(Some(name), None)
    }

    /// Sets the kind.
    #[must_use]
    fn with_kind(self, kind: &str) -> Self
    where
        Self: Sized,
    {
        self.with_name_and_kind(None, Some(kind))
    }
}

impl<T> WithName for Mutex<T> {
    fn with_name_and_kind(self, _name: Option<&str>, _kind: Option<&str>) -> Mutex<T> {
        self
    }
}

impl<T> WithName for &Mutex<T> {
    fn with_name_and_kind(self, _name: Option<&str>, _kind: Option<&str>) -> Self {
        self
    }
}

impl WithName for BatchSemaphore {
    fn with_name_and_kind(self, _name: Option<&str>, _kind: Option<&str>) -> BatchSemaphore {
        self
    }
}

impl WithName for &BatchSemaphore {
    fn with_name_and_kind(self, _name: Option<&str>, _kind: Option<&str>) -> Self {
        self
    }
}
