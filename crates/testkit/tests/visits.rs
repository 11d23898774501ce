use unpick_testkit::drive::{Settings, explore};
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::{Random, family};
#[test]
fn visits() {
    for model in ["sc", "cpp20"] {
        for bound in 0..4 {
            let (mut fewer, mut n, mut sum, mut all, mut inb, mut multi) = (0, 0, 0, 0, 0, 0);
            for profile in Profile::ALL {
                let mut random = Random::new(4);
                for _ in 0..200 {
                    let program = generate(profile, &mut random);
                    let full = explore(&program, Settings::counting(model));
                    let f = explore(&program, Settings { bound: Some(bound), ..Settings::counting(model) });
                    let (a, b) = (full.complete + full.blocked, f.complete + f.blocked + f.beyond);
                    assert!(b <= a);
                    n += 1; fewer += u32::from(b < a); sum += b; all += a; inb += f.complete + f.blocked;
                    multi += u32::from(f.complete + f.blocked < a);
                }
            }
            println!("{model} b={bound}: fewer on {fewer} of {n} (bound matters on {multi}); visited {sum} of {all}, {inb} within");
        }
        for (name, size) in [("binc", 4), ("inc", 4), ("wrw", 3), ("lastzero", 8), ("fib", 3), ("casw", 5), ("ainc", 6), ("lockinc", 5)] {
            let p = family::member(name, size).unwrap().program;
            let t = std::time::Instant::now();
            let full = explore(&p, Settings::counting(model));
            let tf = t.elapsed();
            for bound in 0..3 {
                let t = std::time::Instant::now();
                let f = explore(&p, Settings { bound: Some(bound), ..Settings::counting(model) });
                println!("{model} {name} {size} b={bound}: {} within, {} beyond, {} left out, {:?} of {} {:?}", f.complete + f.blocked, f.beyond, f.left_out, t.elapsed(), full.complete + full.blocked, tf);
            }
        }
    }
}
