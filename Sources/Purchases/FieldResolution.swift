import Time

/// The statement that gives a field its value, and the outcome of the others.
///
/// The highest authority that states the field wins. Inferred values count only without a stated one. A signed payload
/// that omits a field whose omission has a meaning clears earlier statements.
struct FieldResolution {
  /// The index of the statement that counts, or `nil`.
  let chosen: Int?
  /// The other statements with a value for the field.
  let others: [(place: Int, verdict: Outcome)]

  /// - Parameter byAuthority: the latest statements, the highest authority first.
  init<Key, Field>(_ field: Field, in byAuthority: [Statement<Key, Field>], rules: FoldRules<Field>) {
    let rule = rules[field]
    var silencedUntil: Timestamp?
    var voting: [(place: Int, isInferred: Bool)] = []
    var others: [(place: Int, verdict: Outcome)] = []
    for (place, statement) in byAuthority.enumerated() {
      let hasValue = statement.facts[field] != nil
      let isInferred = statement.facts.isInferred(field)
      if rule.silenced.contains(statement.source) {
        if hasValue { others.append((place, .noVote)) }
      } else if let silencedUntil, statement.rank.asOf <= silencedUntil {
        if hasValue { others.append((place, .silenced)) }
      } else {
        if hasValue { voting.append((place, isInferred)) }
        let isStated = hasValue && !isInferred
        if !isStated, rule.absence == .speaks, statement.source.speaksByAbsence { silencedUntil = statement.rank.asOf }
      }
    }
    let stated = voting.first { !$0.isInferred }
    let chosen = (stated ?? voting.first)?.place
    for vote in voting where vote.place != chosen {
      others.append((vote.place, vote.isInferred && stated != nil ? .givesWay : .outranked))
    }
    (self.chosen, self.others) = (chosen, others)
  }
}
