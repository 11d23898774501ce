//! unpick's types have the methods and the traits of `std`'s: the same code is compiled twice, against
//! either. What is missing, or has another type, does not compile. `docs/std.md` has the list.

use std::fmt::Debug;
use std::hash::Hash;

use crate::support::holds;

/// What values have that stand for all others.
pub(crate) trait Value: Copy + Debug + Default + Ord + Hash + Send + Sync + 'static {}

impl Value for u8 {}

/// The type has the trait.
macro_rules! implements {
    ($type:ty: $($bound:tt)+) => {{
        fn check<T: ?Sized + $($bound)+>() {}
        check::<$type>();
    }};
}

/// The type does not have the trait: there would be two implementations to choose from.
macro_rules! refuses {
    ($type:ty: $bound:path) => {{
        trait Unless<Case> {
            fn check() {}
        }
        struct Case;
        impl<T: ?Sized> Unless<()> for T {}
        impl<T: ?Sized + $bound> Unless<Case> for T {}
        <$type as Unless<_>>::check();
    }};
}

macro_rules! twice {
    ($($name:ident: $file:literal;)*) => {
        mod of_std {
            $(pub(super) mod $name {
                use std as subject;
                include!($file);
            })*
        }

        mod of_unpick {
            $(pub(super) mod $name {
                use unpick as subject;
                include!($file);
            })*
        }

        #[test]
        fn everything_is_there() {
            $(
                of_std::$name::all();
                of_unpick::$name::all();
            )*
        }
    };
}

twice! {
    sync: "surface/sync.rs";
    atomic: "surface/atomic.rs";
    mpsc: "surface/mpsc.rs";
    thread: "surface/thread.rs";
    cell: "surface/cell.rs";
    auto: "surface/auto.rs";
}

mod behaviour_of_std {
    use std as subject;
    include!("surface/behaviour.rs");
}

mod behaviour_of_unpick {
    use unpick as subject;
    include!("surface/behaviour.rs");
}

#[track_caller]
fn compare(std: &[String], unpick: &[String]) {
    for (std, unpick) in std.iter().zip(unpick) {
        assert_eq!(std, unpick);
    }
    assert_eq!(std.len(), unpick.len());
}

#[test]
fn outside_a_check_the_types_do_what_those_of_std_do() {
    compare(&behaviour_of_std::seen(), &behaviour_of_unpick::seen());
}

#[test]
fn inside_a_check_the_types_do_what_those_of_std_do() {
    let std = behaviour_of_std::seen();
    holds(move || compare(&std, &behaviour_of_unpick::seen()));
}
