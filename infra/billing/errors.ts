export class BillingUnavailable extends Error {
  override readonly name = "BillingUnavailable";
}
