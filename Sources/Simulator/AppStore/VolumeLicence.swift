package import Time

/// A purchase by an organization for one of its people through Apple's Volume Purchase Program.
package struct VolumeLicence: Hashable, Sendable {
  package var organisation: String
  package var expirationDate: Timestamp

  package init(of organisation: String, until expirationDate: Timestamp) {
    self.organisation = organisation
    self.expirationDate = expirationDate
  }
}
