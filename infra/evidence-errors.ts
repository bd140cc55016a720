/** What was folded from the log was changed or is gone, so it has to be folded again. */
export class EvidenceDamaged extends Error {
  override readonly name = "EvidenceDamaged";
}

export class EvidenceUnavailable extends Error {
  override readonly name = "EvidenceUnavailable";
}
