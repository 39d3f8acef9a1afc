import Runtime
import Simulator
import Time

/// The simulated Apple whose keys are kept in a data directory.
enum SimulatedApple {
  /// The PKI of this data directory, made at the first run: what an earlier story stored still verifies later.
  static func pki(in directory: String, now: Timestamp) throws -> ApplePKI {
    _ = FileMetadata.makeDirectory(directory)
    let files = PKIDirectory(path: "\(directory)/simulated-apple")
    if files.exists { return try files.load() }
    let pki = try ApplePKI.generate(at: now)
    try files.save(pki)
    return pki
  }
}
