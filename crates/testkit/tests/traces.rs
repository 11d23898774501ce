//! The strategies over traces against brute force, on programs that are data.

use unpick_strategies::research::trace::Method;
use unpick_testkit::drive::Settings;
use unpick_testkit::generate::{Profile, generate};
use unpick_testkit::interleave::orders;
use unpick_testkit::traces::{difference, explore};
use unpick_testkit::{Program, Random, fibers};

/// Random programs per profile.
const PROGRAMS: u64 = 60;

/// Orders of a program at most, for brute force.
const MOST: u64 = 3000;

fn program(text: &str) -> Program {
    Program::parse(text).expect("a program")
}

#[test]
fn no_strategy_loses_or_invents_a_graph() {
    let mut judged = 0;
    for profile in Profile::ALL {
        let mut random = Random::new(5);
        for number in 0..PROGRAMS {
            let program = generate(profile, &mut random);
            let mut small = false;
            if let Some(difference) = difference(&program, number % 2 == 0, MOST, &mut small) {
                panic!("{profile:?} {number}: {difference}");
            }
            judged += u64::from(small);
        }
    }
    assert!(judged > 300, "only {judged} programs were small enough");
}

#[test]
fn nothing_is_lost_or_invented_on_fibers() {
    let mut judged = 0;
    for profile in Profile::ALL {
        let mut random = Random::new(9);
        for _ in 0..12 {
            let program = generate(profile, &mut random);
            let Ok(truth) = orders(&program, false, 300) else { continue };
            if fibers::has_plain_accesses(&program) {
                continue;
            }
            judged += 1;
            for method in Method::ALL.into_iter().filter(|&method| method != Method::ChessAtomic) {
                let found = fibers::explore_by(&program, Settings::exact("cpp20"), method.name());
                assert!(found.keys.iter().eq(truth.graphs.keys()), "{}: {program}", method.name());
                if method.is_bounded() {
                    let name = format!("{}:1", method.name());
                    let found = fibers::explore_by(&program, Settings::exact("cpp20"), &name);
                    assert!(found.keys.iter().eq(truth.graphs_within(1)), "{name}: {program}");
                }
            }
        }
    }
    assert!(judged > 40, "only {judged} programs were small enough");
}

#[test]
fn programs_run_as_many_traces_as_the_reference() {
    use Method::{Dpor, DporCr, DporSleep, SourceDpor};
    // Orders; traces and stuck traces of each method; graphs.
    type Row = (&'static str, u64, [(u64, u64); 4], u64);
    let table: [Row; 9] = [
        ("Rsc x; Wsc x 1 || Rsc x; Wsc x 2", 6, [(6, 0), (6, 0), (4, 0), (4, 0)], 4),
        ("Rsc x; Wsc x 1 || Rsc x; Wsc x 2 || Rsc x; Wsc x 3", 90, [(90, 0), (90, 0), (36, 0), (36, 0)], 36),
        ("Rsc x; Rsc a; Wsc x 1 || Rsc x; Rsc b; Wsc x 2", 20, [(10, 0), (10, 0), (4, 0), (4, 0)], 4),
        ("Wsc x 1; Rsc y || Wsc y 1; Rsc x", 6, [(4, 0), (4, 0), (3, 0), (3, 0)], 3),
        ("Wsc x 1; Wsc y 1 || Rsc y; Rsc x", 6, [(4, 0), (4, 0), (3, 0), (3, 0)], 3),
        ("Wsc x 1 || Rsc x || Rsc x || Rsc x", 24, [(24, 0), (16, 0), (8, 0), (8, 0)], 8),
        ("Wsc x 1 || Rsc y; Rsc x || Rsc z; Rsc x", 30, [(26, 0), (19, 0), (4, 1), (4, 0)], 4),
        (
            "lock m; a=Rsc x; Wsc x 1; unlock m || lock m; a=Rsc x; Wsc x 2; unlock m || lock m; a=Rsc x; Wsc x 3; unlock m",
            6,
            [(6, 0), (6, 0), (6, 0), (6, 0)],
            6,
        ),
        (
            "Wsc w 1; Wsc y 1; Wsc x 1 || Rsc z; Wsc y 2; Rsc y; Wsc x 2 || Wsc z 1",
            280,
            [(34, 0), (34, 0), (12, 3), (12, 0)],
            12,
        ),
    ];
    for (text, all, counts, graphs) in table {
        let program = program(text);
        let truth = orders(&program, false, 1000).expect("a small program");
        assert_eq!((truth.within(u32::MAX), truth.graphs.len() as u64), (all, graphs), "{text}");
        for (method, (complete, stuck)) in [Dpor, DporCr, DporSleep, SourceDpor].into_iter().zip(counts) {
            let found = explore(&program, method, None, false).traces;
            let counts = (found.complete, found.stuck, found.classes);
            assert_eq!(counts, (complete, stuck, graphs), "{}: {text}", method.name());
        }
    }
}

#[test]
fn bounds_on_preemptions_give_as_many_graphs_as_published() {
    // For bounds 0, 1, ...; the counts of `chess` and `cb-dpor` follow from the reference.
    let table: [(&str, &[u64]); 10] = [
        ("Wsc x 1; Rsc y || Wsc y 1; Rsc x", &[2, 3, 3]),
        ("Rsc x; Wsc y 1 || Rsc y; Wsc x 1", &[2, 3, 3]),
        ("Wsc x 1; Wsc y 1 || Wsc y 2; Wsc x 2", &[2, 3, 3]),
        ("Wsc x 1; Wsc x 2 || Rsc x; Rsc x", &[2, 4, 6, 6]),
        ("Wsc x 1 || Wsc y 1 || Rsc x; Rsc y || Rsc y; Rsc x", &[14, 15, 15]),
        ("Rsc x; Wsc x 1 || Rsc x; Wsc x 2 || Rsc x; Wsc x 3", &[6, 24, 36, 36]),
        ("Wsc w 1; Wsc y 1; Wsc x 1 || Rsc z; Wsc y 2; Rsc y; Wsc x 2 || Wsc z 1", &[4, 10, 12, 12]),
        ("Wsc x 1 || Rsc x", &[2, 2]),
        ("FADDsc x 1 || FADDsc x 1", &[2, 2]),
        ("a=Rsc x; Wsc x (a+1) || a=Rsc x; Wsc x (a+1)", &[2, 4]),
    ];
    for (text, graphs) in table {
        let program = program(text);
        for (bound, &graphs) in graphs.iter().enumerate() {
            for method in [Method::Chess, Method::CbDpor, Method::CbDporNosleep, Method::Icb] {
                let found = explore(&program, method, Some(bound as u32), false).traces;
                assert_eq!(found.classes, graphs, "{} {bound}: {text}", method.name());
            }
        }
    }
    // Traces, graphs, then traces of CB-DPOR and stuck ones.
    let split = program("Wsc w 1; Wsc y 1; Wsc x 1 || Rsc z; Wsc y 2; Rsc y; Wsc x 2 || Wsc z 1");
    let rows = [(6, 4, 6, 0), (36, 10, 26, 0), (116, 12, 46, 5), (206, 12, 52, 8)];
    for (bound, (chess, graphs, traces, stuck)) in rows.into_iter().enumerate() {
        let found = explore(&split, Method::Chess, Some(bound as u32), false).traces;
        assert_eq!((found.complete, found.classes), (chess, graphs), "{bound}");
        let found = explore(&split, Method::CbDpor, Some(bound as u32), false).traces;
        assert_eq!((found.complete, found.stuck, found.classes), (traces, stuck, graphs), "{bound}");
    }
}

#[test]
fn without_a_bound_they_go_deeper_until_nothing_is_left_out() {
    let program = program("Wsc x 1; Wsc x 2 || Rsc x; Rsc x");
    for method in Method::ALL.into_iter().filter(|method| method.is_bounded()) {
        let found = explore(&program, method, None, false).traces;
        assert!(!found.cut, "{}", method.name());
        assert_eq!(found.explored, found.bound, "{}", method.name());
        // Preempting before loads and stores is what this program needs.
        let graphs = if method == Method::ChessAtomic { 2 } else { 6 };
        assert_eq!((found.classes, found.selective), (graphs, method == Method::ChessAtomic));
    }
}

#[test]
fn races_are_told_by_the_orders_as_written() {
    let find = |text: &str| explore(&program(text), Method::SourceDpor, None, false).racy;
    assert_eq!(find("Wna x 1; Wrel f 1 || a=Racq f; if(a==1){Rna x}"), 0);
    assert_eq!(find("Wna x 1; Wrlx f 1 || a=Racq f; if(a==1){Rna x}"), 1);
    // The race does not show when the first thread takes the lock first: two of three traces have it.
    assert_eq!(find("Wna x 1; lock m; unlock m || lock m; unlock m; Wna x 2"), 2);
}
