/** The provider did not answer or refused; the call can be repeated. */
export class BillingUnavailable extends Error {
  override readonly name = "BillingUnavailable";
}
