import Runtime
import Simulator
import Time

enum SimulatedApple {
  /// Returns the PKI of this data directory, created at the first run, so that data of earlier stories still verifies.
  static func pki(in directory: String, now: Timestamp) throws -> ApplePKI {
    _ = FileMetadata.makeDirectory(directory)
    let files = PKIDirectory(path: "\(directory)/simulated-apple")
    if files.exists { return try files.load() }
    let pki = try ApplePKI.generate(at: now)
    try files.save(pki)
    return pki
  }
}
