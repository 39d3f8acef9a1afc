/// The first byte of an element: class, form and number.
package struct DERTag: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package var isConstructed: Bool { rawValue & 0x20 != 0 }

  package static let integer = Self(rawValue: 0x02)
  package static let octetString = Self(rawValue: 0x04)
  package static let constructedOctetString = Self(rawValue: 0x24)
  package static let null = Self(rawValue: 0x05)
  package static let objectIdentifier = Self(rawValue: 0x06)
  package static let utf8String = Self(rawValue: 0x0C)
  package static let printableString = Self(rawValue: 0x13)
  package static let ia5String = Self(rawValue: 0x16)
  package static let sequence = Self(rawValue: 0x30)
  package static let set = Self(rawValue: 0x31)
  /// `[0]` around something else.
  package static let context0 = Self(rawValue: 0xA0)
  package static let context1 = Self(rawValue: 0xA1)
}

/// Where an element stands: nothing of it is copied.
package struct DERElement: Hashable, Sendable {
  package let tag: DERTag
  package let start: Int
  package let content: Range<Int>
  /// Behind its last byte, the end mark of an indefinite length included.
  package let end: Int

  /// Tag, length and content.
  package var whole: Range<Int> { start..<end }
}

/// The octets of a string.
package enum DEROctets: Sendable {
  case inPlace(Range<Int>)
  /// Brought together from the pieces in which they were written.
  case gathered([UInt8])
}
