/**
 * The views did not answer or did not take a commit: the same call may be made again later. An engine without
 * transactions may have written a part of the commit, or all of it with the answer lost; a repeat is then "stale".
 */
export class ViewsUnavailable extends Error {
  override readonly name = "ViewsUnavailable";
}
