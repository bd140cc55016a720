/** The provider did not answer, or refused what it should take. Nothing is known to have happened: the call may be made again. */
export class BillingUnavailable extends Error {
  override readonly name = "BillingUnavailable";
}
