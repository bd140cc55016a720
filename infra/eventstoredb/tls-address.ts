import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { withoutWarnings } from "../without-warnings.ts";

/** Node warns once a thread of IP addresses in TLS (DEP0123), which certificates may name: this hides the warning. */
export const warnOfAddressUnseen = (): void => {
  withoutWarnings(() =>
    connect({ socket: new PassThrough(), servername: "127.0.0.1" })
      .on("error", () => undefined)
      .destroy(),
  );
};
