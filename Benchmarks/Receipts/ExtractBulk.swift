import Glibc
import JSON
import Runtime
import Signing
import Simulator

/// `switchyard extract` as a process of its own, on a file of receipts of three purchases each, on all cores.
///
/// The file (`BulkReceipts`) is made first and lies in the page cache; the output goes to a file, the rejects to
/// another. Rates are those of the program's own clock. The resident memory is the kernel's greatest, looked at twenty
/// times a second; the issue allows 128 MB and 16 bytes a receipt. Accounts must be exact or nothing is measured.
/// `--receipts 1000000` is the issue's size; the default is a tenth of it.
enum ExtractBulk {
  static let benchmark = Benchmark(
    name: "extract", summary: "a file of receipts in bulk, verified and unverified, 2 % damaged, 5 % twice"
  ) { settings in
    let bulk = BulkReceipts(count: settings.receipts, samples: try ReceiptSamples())
    let place = try ScratchDirectory()
    let size = try await bulk.write(to: "\(place.path)/receipts.csv", note: settings.note)
    let root = try place.write(bulk.samples.pki.root.certificate.der, to: "root.der")
    settings.note("  \(bulk.count) receipts, \(size >> 20) MB")
    let verified = try run(bulk, ["--root", root], place, settings)
    let unverified = try run(bulk, ["--unverified"], place, settings)
    let allowed = 128 + Double(16 * bulk.count) / Double(1 << 20)
    return [
      Measurement(
        name: "extract.verified", value: verified.rate, unit: "receipts/s", target: .atLeast(25_000)),
      Measurement(
        name: "extract.unverified", value: unverified.rate, unit: "receipts/s", target: .atLeast(40_000)),
      Measurement(
        name: "extract.memory", value: max(verified.megabytes, unverified.megabytes), unit: "MB",
        target: .below(allowed)),
    ]
  }

  /// Extracts from `receipts.csv` in `place`; the rate, and the most memory that it took.
  static func run(
    _ bulk: BulkReceipts, _ options: [String], _ place: ScratchDirectory, _ settings: Benchmark.Settings
  ) throws -> (rate: Double, megabytes: Double) {
    let command =
      "exec '\(ServedProcess.ownDirectory)/switchyard' extract --json \(options.joined(separator: " ")) "
      + "--rejects '\(place.path)/rejects' '\(place.path)/receipts.csv' >'\(place.path)/out' 2>'\(place.path)/summary'"
    let program = try ChildProgram("/bin/sh", ["-c", command])
    var megabytes = 0.0
    while let peak = try? ProcessFigures(id: program.id).peakMegabytes() {
      megabytes = max(megabytes, peak)
      usleep(50_000)
    }
    let status = program.wait()
    let summary = try Input.read("\(place.path)/summary", limit: 1 << 20).split(separator: 0x0A).last ?? []
    guard status == ExitStatus.doneWithRejects.rawValue, let object = try JSONReader.read(Array(summary)).object,
      let milliseconds = object["milliseconds"]?.integer
    else { throw BenchmarkError("extract ended with \(status): \(String(decoding: summary, as: UTF8.self))") }
    let expected = [
      ("in", bulk.count), ("usable", bulk.usable), ("duplicates", bulk.duplicates), ("rejected", bulk.rejected),
    ]
    for (key, count) in expected where object[key]?.integer != Int64(count) {
      throw BenchmarkError("\(key) is \(object[key]?.integer ?? -1) instead of \(count)")
    }
    settings.note("  \(options[0]): \(milliseconds) ms, \(String(decoding: summary, as: UTF8.self))")
    return (Double(bulk.count) * 1_000 / Double(max(1, milliseconds)), megabytes)
  }
}
