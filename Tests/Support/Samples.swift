import Database
import Glibc

/// The real payloads beside the repository: `../shared/samples`, or where SWITCHYARD_SAMPLES says.
package enum Samples {
  private static let limit = 64 << 20

  /// `nil` if the samples are absent.
  ///
  /// A line on stderr says so. If SWITCHYARD_SAMPLES_REQUIRED is set, the tests stop.
  package static let directory: String? = {
    let place = unsafe getenv("SWITCHYARD_SAMPLES").map { unsafe String(cString: $0) } ?? besidePackage
    if !Files.names(in: place).isEmpty { return place }
    let words = Array("The samples are ABSENT (looked in \(place)): what they would show is not tested.\n".utf8)
    precondition(unsafe getenv("SWITCHYARD_SAMPLES_REQUIRED") == nil, "the samples are required")
    _ = unsafe write(STDERR_FILENO, words, words.count)
    return nil
  }()

  /// A sample's bytes, by its path below the directory; nil when it is not there.
  package static func bytes(_ path: String) -> [UInt8]? {
    directory.flatMap { Files.contents(of: "\($0)/\(path)", limit: limit) }
  }

  /// The paths below the directory, in order, of the files under `folder` with that ending.
  package static func paths(under folder: String, ending: String = "") -> [String] {
    guard let directory else { return [] }
    return Files.names(in: "\(directory)/\(folder)").sorted().flatMap { name -> [String] in
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      if !Files.names(in: "\(directory)/\(path)").isEmpty { return paths(under: path, ending: ending) }
      return name.hasSuffix(ending) ? [path] : []
    }
  }

  private static var besidePackage: String {
    // …/Tests/Support/Samples.swift
    let root = #filePath.split(separator: "/").dropLast(3)
    return "/" + root.dropLast().joined(separator: "/") + "/shared/samples"
  }
}
