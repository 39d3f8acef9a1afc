/// The part of a request that a connection is at.
enum ConnectionStep {
  case reading
  /// What is left of a refused body is read and dropped, so that the client gets to read why.
  case discarding(left: Int)
  /// The handler decides whether to take the body.
  case deciding(Pending<HTTPAdmission>)
  case answering(Pending<HTTPResponse>)
  case sending
  /// The answer is out and the end announced. What still arrives is dropped for a moment: closing with unread bytes
  /// resets the connection, and the answer is lost with it.
  case lingering(left: Int)
  case over
}
