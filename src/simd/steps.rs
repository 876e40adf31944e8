//! Steps of instruction sets, and which of them the processor has.
//!
//! Asked once: several questions, of which each costs a load and a test, cost more than some of the kernels.

use std::sync::OnceLock;

/// Instruction sets that processors have together. Whoever is on a step has all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Nothing but what all processors of the architecture have.
    Portable,
    /// AVX2, BMI1, BMI2 and POPCNT, as processors for x86 since 2013 (Intel) and 2015 (AMD).
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with bytes to compress, shuffle and multiply (BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ, VNNI), as since Ice Lake and Zen 4. Not
    /// the first processors with AVX-512, which ran slower for a while after each use of it.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// NEON, as every processor has that Rust's standard library for this architecture runs on.
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    Neon,
}

#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_avx2() -> bool {
    step() >= Step::Avx2
}

#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn has_avx512() -> bool {
    step() >= Step::Avx512
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
#[inline]
pub(super) fn has_neon() -> bool {
    step() >= Step::Neon
}

/// The step that kernels are chosen by.
#[inline]
fn step() -> Step {
    static FOUND: OnceLock<Step> = OnceLock::new();
    let found = *FOUND.get_or_init(find);
    #[cfg(test)]
    let found = found.min(tests::HIGHEST.get());
    found
}

#[cfg(target_arch = "x86_64")]
fn find() -> Step {
    let has_avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    let has_avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("avx512vnni");
    match (has_avx2, has_avx512) {
        (false, _) => Step::Portable,
        (true, false) => Step::Avx2,
        (true, true) => Step::Avx512,
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
fn find() -> Step {
    if std::arch::is_aarch64_feature_detected!("neon") { Step::Neon } else { Step::Portable }
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little"))))]
fn find() -> Step {
    Step::Portable
}

#[cfg(test)]
pub(crate) use tests::{each_step, step_of_this_thread};

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[cfg(target_arch = "x86_64")]
    const ALL: &[Step] = &[Step::Portable, Step::Avx2, Step::Avx512];
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    const ALL: &[Step] = &[Step::Portable, Step::Neon];
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )))]
    const ALL: &[Step] = &[Step::Portable];

    thread_local! {
        pub(super) static HIGHEST: Cell<Step> = const { Cell::new(ALL[ALL.len() - 1]) };
    }

    /// Once for each step that the machine has: until the next, kernels of this thread are those of that step.
    pub(crate) fn each_step() -> impl Iterator<Item = ()> {
        struct Steps(usize);

        impl Iterator for Steps {
            type Item = ();

            fn next(&mut self) -> Option<()> {
                let highest = ALL.get(self.0).filter(|highest| **highest <= *find_once())?;
                HIGHEST.set(*highest);
                self.0 += 1;
                Some(())
            }
        }

        impl Drop for Steps {
            fn drop(&mut self) {
                HIGHEST.set(ALL[ALL.len() - 1]);
            }
        }

        fn find_once() -> &'static Step {
            static FOUND: OnceLock<Step> = OnceLock::new();
            FOUND.get_or_init(find)
        }

        Steps(0)
    }

    /// Gives the threads that call it the highest step of this one.
    pub(crate) fn step_of_this_thread() -> impl Fn(usize) + Send + Sync {
        let highest = HIGHEST.get();
        move |_| HIGHEST.set(highest)
    }

    #[test]
    fn every_step_of_the_machine_is_taken_in_tests() {
        let steps: Vec<Step> = each_step().map(|()| step()).collect();
        assert_eq!(steps[0], Step::Portable);
        assert!(steps.is_sorted());
        assert_eq!(steps.last(), Some(&find()));
        assert_eq!(step(), find());
    }

    #[test]
    fn threads_have_the_step_of_who_starts_them() {
        for () in each_step() {
            let (of_this, own) = (step_of_this_thread(), step());
            let there = std::thread::spawn(move || {
                of_this(0);
                step()
            });
            assert_eq!(there.join().unwrap(), own);
        }
    }
}
