import type { Sealed } from "../sealed.ts";
import type { Counted, Seen } from "./circuit.ts";
import type { EndpointSettings } from "./events.ts";

export type EndpointCommand =
  | {
      readonly type: "RegisterEndpoint";
      readonly endpointId: string;
      readonly account: string;
      readonly settings: EndpointSettings;
      readonly secret: Sealed;
      readonly at: string;
    }
  | {
      readonly type: "ChangeEndpoint";
      readonly account: string;
      readonly changes: Partial<EndpointSettings>;
      /** A person with a session asks for it; left out: a key does. */
      readonly byPerson?: true;
      readonly at: string;
    }
  | {
      readonly type: "RotateEndpointSecret";
      readonly account: string;
      readonly secret: Sealed;
      /** Until then the secret before signs as well. */
      readonly previousUntil: string;
      readonly at: string;
    }
  | {
      readonly type: "DisableEndpoint";
      readonly account: string;
      readonly reason: string;
      /** When the attempt began that is the reason. */
      readonly startedAt: string;
      readonly at: string;
    }
  | { readonly type: "EnableEndpoint"; readonly account: string; readonly at: string }
  /** An attempt has ended; `counted` with it. */
  | {
      readonly type: "ReportAttempt";
      readonly account: string;
      readonly seen: Seen;
      readonly counted: Counted;
      readonly at: string;
    }
  /** Asks for the turn to send one event to an endpoint whose circuit is open. */
  | { readonly type: "ProbeEndpoint"; readonly account: string; readonly eventId: string; readonly at: string }
  /** Before an approval is asked for that is bound to this endpoint. */
  | { readonly type: "PutUnderApproval"; readonly account: string; readonly at: string }
  | { readonly type: "DeleteEndpoint"; readonly account: string; readonly at: string };
