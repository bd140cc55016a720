import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { withoutWarnings } from "../without-warnings.ts";

/**
 * Of a TLS connection to an IP address by that name, as gRPC makes it, Node warns (DEP0123), once a thread. Certificates
 * may name addresses, and whoever runs the program can do nothing about it: here is that once, for nobody to see.
 */
export const warnOfAddressUnseen = (): void => {
  withoutWarnings(() =>
    connect({ socket: new PassThrough(), servername: "127.0.0.1" })
      .on("error", () => undefined)
      .destroy(),
  );
};
