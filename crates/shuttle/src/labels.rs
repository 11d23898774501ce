//! Labels: values that a test attaches to its threads and tasks, one of each type.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::fmt;

/// A value that can be copied without knowing its type.
trait Label: Any {
    fn copy(&self) -> Box<dyn Label>;
    fn name(&self) -> &'static str;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<T: Clone + 'static> Label for T {
    fn copy(&self) -> Box<dyn Label> {
        Box::new(self.clone())
    }

    fn name(&self) -> &'static str {
        type_name::<T>()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<T>) -> Box<dyn Any> {
        self
    }
}

/// The labels of a thread or task.
#[derive(Default)]
pub struct Labels(BTreeMap<TypeId, Box<dyn Label>>);

impl Labels {
    /// No labels.
    pub fn new() -> Labels {
        Labels::default()
    }

    /// Attaches a label, and returns the one of its type that was there before.
    pub fn insert<T: Clone + 'static>(&mut self, value: T) -> Option<T> {
        unpack(self.0.insert(TypeId::of::<T>(), Box::new(value)))
    }

    /// The label of a type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>()).and_then(|label| (**label).as_any().downcast_ref())
    }

    /// The label of a type.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.get_mut(&TypeId::of::<T>()).and_then(|label| (**label).as_any_mut().downcast_mut())
    }

    /// The label of a type, which is attached if there is none.
    pub fn get_or_insert<T: Clone + 'static>(&mut self, value: T) -> &mut T {
        self.get_or_insert_with(|| value)
    }

    /// The label of a type, which is made and attached if there is none.
    pub fn get_or_insert_with<T: Clone + 'static, F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        let label = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(f()));
        (**label).as_any_mut().downcast_mut().expect("labels are kept by their type")
    }

    /// The label of a type, which is its default if there is none.
    pub fn get_or_insert_default<T: Default + Clone + 'static>(&mut self) -> &mut T {
        self.get_or_insert_with(T::default)
    }

    /// Takes away the label of a type.
    pub fn remove<T: 'static>(&mut self) -> Option<T> {
        unpack(self.0.remove(&TypeId::of::<T>()))
    }

    /// Takes away all labels.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Attaches the labels of another set, in place of those of the same types.
    pub fn extend(&mut self, other: Labels) {
        self.0.extend(other.0);
    }
}

fn unpack<T: 'static>(label: Option<Box<dyn Label>>) -> Option<T> {
    label.and_then(|label| label.into_any().downcast().ok()).map(|value| *value)
}

impl Clone for Labels {
    fn clone(&self) -> Labels {
        Labels(self.0.iter().map(|(&kind, label)| (kind, (**label).copy())).collect())
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.values().map(|label| (**label).name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_label_of_each_type() {
        let mut labels = Labels::new();
        assert_eq!(labels.insert(1u8), None);
        assert_eq!(labels.insert(2u8), Some(1));
        *labels.get_or_insert_default::<String>() += "text";
        assert_eq!((labels.get::<u8>(), labels.len()), (Some(&2), 2));
        let copy = labels.clone();
        assert_eq!(labels.remove::<String>().as_deref(), Some("text"));
        labels.clear();
        assert!(labels.is_empty() && copy.get::<String>().is_some());
    }
}
