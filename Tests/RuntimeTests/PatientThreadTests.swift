import Glibc
import Runtime
import Support
import Testing

/// Nobody waits for a comparison: it must not make anybody wait.
@Suite struct `A patient thread` {
  @Test func `computes everything itself, and gives back what it comes to`() async {
    let thread = PatientThread()
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

  /// A thread that a nice one makes is as nice: it would serve requests so for ever.
  @Test func `is the only nice one, whatever is done with its results`() async {
    let thread = PatientThread()
    let computing = await thread.run { Self.niceness() }
    let others = await withTaskGroup(of: Int32.self) { group in
      for _ in 0..<200 {
        group.addTask {
          _ = await thread.run { 1 }
          // On a thread of its own, made for it if none is idle.
          return await SideThread(label: "result").run { Self.niceness() } ?? 0
        }
      }
      return await group.reduce(into: Set<Int32>()) { $0.insert($1) }
    }
    #expect(others.allSatisfy { $0 < computing }, "\(computing) \(others)")
  }

  @Test func `ends with whoever has it`() async {
    let path = await PatientThread().run { Self.place() }
    let hasEnded = await eventually { unsafe access(path, F_OK) != 0 }
    #expect(hasEnded, "\(path)")
  }

  private static func niceness() -> Int32 { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }

  /// The directory of the calling thread.
  private static func place() -> String {
    let path = unsafe realpath("/proc/thread-self", nil)
    defer { unsafe free(path) }
    return unsafe path.map { unsafe String(cString: $0) } ?? "/"
  }
}
