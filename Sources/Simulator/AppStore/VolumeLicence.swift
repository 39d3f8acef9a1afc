package import Time

/// What an organisation bought for one of its people: Apple's Volume Purchase Program.
package struct VolumeLicence: Hashable, Sendable {
  package var organisation: String
  package var expirationDate: Timestamp

  package init(of organisation: String, until expirationDate: Timestamp) {
    self.organisation = organisation
    self.expirationDate = expirationDate
  }
}
