/** A failed commit may have been written after all, as MongoDB is used without transactions: its repeat is "stale". */
export class ViewsUnavailable extends Error {
  override readonly name = "ViewsUnavailable";
}
