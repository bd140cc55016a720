import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { withoutWarnings } from "../without-warnings.ts";

/**
 * gRPC names an IP address in a TLS connection, for which Node warns once a thread (DEP0123). This triggers the warning
 * unseen, as certificates may name addresses.
 */
export const warnOfAddressUnseen = (): void => {
  withoutWarnings(() =>
    connect({ socket: new PassThrough(), servername: "127.0.0.1" })
      .on("error", () => undefined)
      .destroy(),
  );
};
