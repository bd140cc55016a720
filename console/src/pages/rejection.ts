type Vote = { readonly member_id: string; readonly decision: string; readonly comment: string | null };

/** Who rejected it and what they wrote, as far as the reader may see that. */
export const rejectionOf = (votes: readonly Vote[], nameOf: (id: string) => string | null): string => {
  const vote = votes.findLast(({ decision }) => decision === "reject");
  const comment = vote?.comment ?? "";
  const who = vote === undefined ? null : nameOf(vote.member_id);
  // The name may be an address, so it does not begin the sentence, which gets a capital letter.
  const by = who === null ? "A person rejected it" : `It was rejected by ${who}`;
  return `${by}${comment === "" ? "" : `: “${comment}”`}`;
};
