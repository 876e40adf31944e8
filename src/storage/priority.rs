//! I/O priorities of threads.
//!
//! Linux keeps a priority for each thread (`ioprio_set(2)`), and asks for it if the scheduler of a disk knows
//! priorities: `bfq` and `mq-deadline` do, `none` and `kyber` do not. The priority holds for what the thread itself
//! waits for or starts, so for reads, direct writes, early write-back and syncs, not for pages that the system writes
//! back later. Elsewhere nothing happens. A thread without a priority of its own is taken to be as urgent as others
//! are; of the scheduling class `SCHED_IDLE` it would be less, which is not asked for.

/// I/O priority of merges that run beside other work. Takes effect on Linux, on disks whose scheduler heeds it
/// (`bfq`, `mq-deadline`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IoPriority {
    /// Only when nobody else wants the disk: if somebody always does, merges do not end.
    Idle,
    /// After everybody else's, and never without any share of the disk.
    #[default]
    Low,
    /// Priority of the thread, left as it is.
    Unchanged,
}

/// Keeps the thread's reads and writes no more urgent than was asked for while this lives.
#[derive(Debug)]
#[must_use = "the priority holds as long as this lives"]
pub(crate) struct Lowered {
    /// Priority before, if it was changed.
    before: Option<system::Value>,
    /// It belongs to a thread, and so must its end.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl IoPriority {
    /// Lowers that of this thread; what is as low already stays, and so does a thread of the real-time class, which might not
    /// get that back. Best effort: where the system refuses, nothing changes.
    pub(crate) fn lower(self) -> Lowered {
        let before = system::value(self).and_then(|wanted| {
            let before = system::get()?;
            let is_later = system::lateness(wanted) > Some(system::lateness(before)?);
            (is_later && system::set(wanted)).then_some(before)
        });
        Lowered { before, _not_send: std::marker::PhantomData }
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            system::set(system::to_restore(before));
        }
    }
}

/// The system calls, which no maintained crate has as safe functions.
#[cfg(target_os = "linux")]
mod system {
    use super::IoPriority;

    /// A class in the bits from 13 on, a level from 0 (first) to 7 below them: `linux/ioprio.h`.
    pub(super) type Value = libc::c_long;

    const CLASS_SHIFT: u32 = 13;
    const LEVEL: Value = 7;
    const NONE: Value = 0;
    const REAL_TIME: Value = 1;
    const BEST_EFFORT: Value = 2;
    const IDLE: Value = 3;
    /// Level of a thread that has none of its own.
    const USUAL_LEVEL: Value = 4;
    const WHO_PROCESS: libc::c_long = 1;
    const THIS_THREAD: libc::c_long = 0;

    pub(super) fn value(priority: IoPriority) -> Option<Value> {
        match priority {
            IoPriority::Idle => Some(IDLE << CLASS_SHIFT),
            IoPriority::Low => Some(BEST_EFFORT << CLASS_SHIFT | LEVEL),
            IoPriority::Unchanged => None,
        }
    }

    /// Rank of a value of [`value`] or of a thread, later ones greater; `None` for the real-time class.
    pub(super) fn lateness(value: Value) -> Option<(Value, Value)> {
        match (value >> CLASS_SHIFT, value & LEVEL) {
            (REAL_TIME, _) => None,
            (IDLE, _) => Some((IDLE, 0)),
            (NONE, _) => Some((BEST_EFFORT, USUAL_LEVEL)),
            other => Some(other),
        }
    }

    /// Returns what can be set again. For a thread without a class, older kernels tell a level that they do not take back.
    pub(super) fn to_restore(before: Value) -> Value {
        if before >> CLASS_SHIFT == NONE { 0 } else { before }
    }

    #[expect(unsafe_code, reason = "a system call")]
    pub(super) fn get() -> Option<Value> {
        // SAFETY: takes two numbers and touches no memory of ours.
        let value = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, THIS_THREAD) };
        (value >= 0).then_some(value)
    }

    #[expect(unsafe_code, reason = "a system call")]
    pub(super) fn set(value: Value) -> bool {
        // SAFETY: takes three numbers and touches no memory of ours; it changes how this thread's requests are ordered.
        unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, THIS_THREAD, value) == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::IoPriority;

    pub(super) type Value = i64;

    pub(super) fn value(_: IoPriority) -> Option<Value> {
        None
    }

    pub(super) fn lateness(value: Value) -> Option<Value> {
        Some(value)
    }

    pub(super) fn to_restore(before: Value) -> Value {
        before
    }

    pub(super) fn get() -> Option<Value> {
        None
    }

    pub(super) fn set(_: Value) -> bool {
        false
    }
}

/// Priority that this thread has.
#[cfg(all(test, target_os = "linux"))]
pub(crate) fn io_priority() -> Option<IoPriority> {
    let value = system::get().expect("Linux tells");
    [IoPriority::Idle, IoPriority::Low].into_iter().find(|of| system::value(*of) == Some(value))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_less_urgent_for_a_while_and_never_more() {
        // A thread of its own: a test may not leave anything behind on that of others.
        let test = || {
            let before = system::get().expect("Linux tells");
            assert!(before >> 13 != 3, "this test was started as idle");
            {
                let _low = IoPriority::Low.lower();
                assert_eq!(system::get(), Some(2 << 13 | 7));
                {
                    let _idle = IoPriority::Idle.lower();
                    assert_eq!(system::get(), Some(3 << 13));
                    let _low = IoPriority::Low.lower();
                    assert_eq!(system::get(), Some(3 << 13), "lower already");
                }
                let _unchanged = IoPriority::Unchanged.lower();
                assert_eq!(system::get(), Some(2 << 13 | 7));
            }
            assert_eq!(system::get(), Some(system::to_restore(before)));
        };
        std::thread::spawn(test).join().unwrap();
    }

    #[test]
    fn classes_are_ordered_before_levels() {
        let order = [2 << 13, 2 << 13 | 4, 2 << 13 | 7, 3 << 13];
        assert!(order.is_sorted_by_key(|value| system::lateness(*value)));
        let usual = system::lateness(2 << 13 | 4);
        assert_eq!([0, 4].map(system::lateness), [usual; 2], "as those that ask for nothing");
        assert_eq!(system::lateness(1 << 13 | 7), None);
        assert_eq!([0, 4, 2 << 13 | 5].map(system::to_restore), [0, 0, 2 << 13 | 5]);
    }
}
