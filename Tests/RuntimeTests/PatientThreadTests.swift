/// Nobody waits for a comparison: it must not make anybody wait.
@Suite struct `A patient thread` {
  @Test func `computes everything itself, and gives back what it comes to`() async {
    let thread = LowPriorityThread()
    var (done, places): (Set<Int>, Set<String>) = ([], [])
    await withTaskGroup(of: (Int, String).self) { group in
      for number in 0..<64 { group.addTask { await thread.run { (number, Self.place()) } } }
      for await (number, place) in group {
        done.insert(number)
        places.insert(place)
      }
    }
    #expect(done == Set(0..<64) && places.count == 1, "\(places)")
  }

  /// A Dispatch thread that a nice thread makes is as nice, and would serve requests so for as long as it lives.
  @Test func `computes on the only nice thread, and another hands its results on`() async {
    let thread = LowPriorityThread()
    let handingOn = RecordingExecutor()
    let computing = await withTaskExecutorPreference(handingOn) {
      var computing: Int32
      // A result that is there before the task has suspended is not handed on.
      repeat { computing = await thread.run { Self.niceness() } } while handingOn.niceness.count < 2
      return computing
    }
    #expect(handingOn.niceness.allSatisfy { $0 < computing }, "\(computing) \(handingOn.niceness)")
  }

  @Test func `ends with whoever has it`() async {
    let path = await LowPriorityThread().run { Self.place() }
    let hasEnded = await eventually { unsafe access(path, F_OK) != 0 }
    #expect(hasEnded, "\(path)")
  }

  fileprivate static func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// The directory of the calling thread.
  private static func place() -> String {
    let path = unsafe realpath("/proc/thread-self", nil)
    defer { unsafe free(path) }
    return unsafe path.map { unsafe String(cString: $0) } ?? "/"
  }
}

/// Runs tasks, and records the niceness of each thread that hands it one.
private final class RecordingExecutor: TaskExecutor {
  private let recorded = Mutex<[Int32]>([])
  var niceness: [Int32] { recorded.withLock { $0 } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    recorded.withLock { $0.append(`A patient thread`.niceness()) }
    DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
