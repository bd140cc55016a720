/** Without transactions MongoDB may have written all of a failed commit, and then the repeat is "stale". */
export class ViewsUnavailable extends Error {
  override readonly name = "ViewsUnavailable";
}
