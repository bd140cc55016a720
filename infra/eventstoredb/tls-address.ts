import { PassThrough } from "node:stream";
import { connect } from "node:tls";
import { withoutWarnings } from "../without-warnings.ts";

/** Provokes, unseen, the one warning that Node gives a thread of TLS to an IP address (DEP0123), which is in order. */
export const warnOfAddressUnseen = (): void => {
  withoutWarnings(() =>
    connect({ socket: new PassThrough(), servername: "127.0.0.1" })
      .on("error", () => undefined)
      .destroy(),
  );
};
