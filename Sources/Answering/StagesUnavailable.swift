/// The stages could not be looked at lately: an app may have been taken back, so we do not answer.
package struct StagesUnavailable: Error, CustomStringConvertible {
  package var description: String { "the stages could not be read in time, so Switchyard did not answer" }
}
