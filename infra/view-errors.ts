/**
 * The call may be repeated. An engine without transactions may have written a part of a commit, or all of it, in which
 * case the repeat is "stale".
 */
export class ViewsUnavailable extends Error {
  override readonly name = "ViewsUnavailable";
}
