/// The stages could not be looked at lately: an app may have been taken back, so Apple answers.
struct StagesUnknown: Error, CustomStringConvertible {
  var description: String { "the stages could not be read in time: Apple was asked instead" }
}
