//! Starts threads so that each runs on its own processor.
//!
//! Linux may start a thread on its parent's processor and let both take turns for some milliseconds before it moves one
//! to an idle processor. A short query is finished by then.

#[cfg(target_os = "linux")]
pub(crate) use linux::Processors;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::Processors;

#[cfg(target_os = "linux")]
mod linux {
    use parking_lot::Mutex;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// The processors on which the threads of one group started.
    pub(crate) struct Processors(Mutex<CpuSet>);

    impl Processors {
        /// Starts a group with the current thread.
        pub(crate) fn new() -> Self {
            let processors = Self(Mutex::new(CpuSet::new()));
            processors.start();
            processors
        }

        /// Adds the current thread to the group. If another thread of the group started on the same processor, moves
        /// this one to an allowed processor where none did. The system may move it again later.
        pub(crate) fn start(&self) {
            let Some((free, allowed)) = self.take() else { return };
            let mut only = CpuSet::new();
            only.set(free);
            if sched_setaffinity(None, &only).is_ok() {
                // Restoring the affinity fails only if another process changed it in the meantime.
                let _ = sched_setaffinity(None, &allowed);
            }
        }

        /// The processor to move to and all allowed processors; `None` if the thread can stay.
        fn take(&self) -> Option<(usize, CpuSet)> {
            let here = sched_getcpu();
            if here >= CpuSet::MAX_CPU {
                return None;
            }
            let mut taken = self.0.lock();
            if !taken.is_set(here) {
                taken.set(here);
                return None;
            }
            let allowed = sched_getaffinity(None).ok()?;
            let is_free = |processor: &usize| allowed.is_set(*processor) && !taken.is_set(*processor);
            let free = (here..CpuSet::MAX_CPU).chain(0..here).find(is_free)?;
            taken.set(free);
            Some((free, allowed))
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn allowed() -> CpuSet {
            sched_getaffinity(None).unwrap()
        }

        #[test]
        fn each_thread_takes_its_own_processor_while_any_is_free() {
            let (processors, all) = (Processors::new(), allowed());
            for taken in 1..=all.count() {
                assert_eq!(processors.0.lock().count(), taken);
                processors.start();
            }
            assert!(*processors.0.lock() == all);
        }

        #[test]
        fn threads_keep_their_affinity() {
            let (processors, all) = (Processors::new(), allowed());
            std::thread::scope(|scope| {
                for _ in 0..=all.count() {
                    scope.spawn(|| {
                        processors.start();
                        assert!(allowed() == all);
                    });
                }
            });
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    /// On other systems the scheduler decides where threads start.
    pub(crate) struct Processors;

    impl Processors {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn start(&self) {}
    }
}
