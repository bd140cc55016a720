/** The views did not answer or did not take a commit: nothing was changed, and the same call may be made again later. */
export class ViewsUnavailable extends Error {
  override readonly name = "ViewsUnavailable";
}
