extension ArraySlice<UInt8> {
  /// A receipt without the prefix of a web page's data URI: `data:application/octet-stream;base64,`.
  package var withoutDataURI: Self {
    guard starts(with: "data:".utf8), let comma = prefix(128).firstIndex(of: UInt8(ascii: ",")),
      self[..<comma].reversed().starts(with: ";base64".utf8.reversed())
    else { return self }
    return self[(comma + 1)...]
  }
}
