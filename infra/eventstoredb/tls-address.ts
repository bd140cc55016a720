import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { withoutWarnings } from "../without-warnings.ts";

/** Provokes and hides a warning that Node gives once a thread: certificates may name IP addresses (DEP0123). */
export const warnOfAddressUnseen = (): void => {
  withoutWarnings(() =>
    connect({ socket: new PassThrough(), servername: "127.0.0.1" })
      .on("error", () => undefined)
      .destroy(),
  );
};
