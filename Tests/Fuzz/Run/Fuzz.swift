import CLibFuzzer
import FuzzTargets
import Glibc
import Synchronization

/// `Fuzz list`, `Fuzz TARGET seeds DIRECTORY`, or `Fuzz TARGET` and what libFuzzer takes.
@main struct Fuzz {
  struct Unwritable: Error { let path: String }

  static func main() throws {
    let words = CommandLine.arguments.dropFirst()
    guard let target = FuzzTarget.all.first(where: { $0.name == words.first }) else {
      print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
      exit(words.first == "list" ? 0 : 2)
    }
    if words.dropFirst().first == "seeds", let directory = words.last {
      for (index, seed) in try target.seeds().enumerated() { try write(seed, to: "\(directory)/\(index)") }
      return
    }
    chosen.withLock { $0 = target }
    // libFuzzer takes the target's name for its program's.
    var count = CommandLine.argc - 1
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv + 1
    exit(unsafe LLVMFuzzerRunDriver(&count, &arguments) { unsafe test($0, $1) })
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard file >= 0, unsafe Glibc.write(file, bytes, bytes.count) == bytes.count, close(file) == 0 else {
      throw Unwritable(path: path)
    }
  }
}

private let chosen = Mutex<FuzzTarget?>(nil)

@c(LLVMFuzzerTestOneInput)
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = unsafe Array(UnsafeBufferPointer(start: start, count: count))
  do { try chosen.withLock { $0 }?.check(input) } catch { preconditionFailure("\(error)") }
  return 0
}
