/** What no export can show, whatever a control file asks of it. */
export const NEVER_EVIDENCED: readonly string[] = [
  "That something was done only if there is a record of it. The pack shows that no record is missing, not that no action is. The service writes a record before each attempt, and receivers can compare the header countersign-record of what they got with the records here.",
  "The time at which a record was made. recorded_at is the operator's word, and with it which records are in the period. Only the time of a cosignature by a witness is somebody else's: it shows that the records below a checkpoint existed by then.",
  "Whose key signed the checkpoint. The key in this folder comes from the operator. Compare it with one that you got in another way and at another time, and give that one to the verifier.",
  "That the operator showed the same history to everybody, unless the export has checkpoints cosigned by a witness whose key you have.",
  "That a person acted. A record names a member of the account; whoever held that member's session could act in that name. The operator can register a member.",
  "What a receiver did with a delivery. The records say what was sent, and what the receiver answered.",
  "What lies before the first record of the export, and what happened outside of this service.",
];
