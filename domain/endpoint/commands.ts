import type { Sealed } from "../sealed.ts";
import type { AttemptCounts, EndedAttempt } from "./circuit.ts";
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
      /** Left out if a key asks instead of a person with a session. */
      readonly byPerson?: true;
      readonly at: string;
    }
  | {
      readonly type: "RotateEndpointSecret";
      readonly account: string;
      readonly secret: Sealed;
      /** Until then the previous secret signs as well. */
      readonly previousUntil: string;
      readonly at: string;
    }
  | {
      readonly type: "DisableEndpoint";
      readonly account: string;
      readonly reason: string;
      /** When the attempt began that gave the reason. */
      readonly startedAt: string;
      readonly at: string;
    }
  | { readonly type: "EnableEndpoint"; readonly account: string; readonly at: string }
  /** `counts` includes the attempt. */
  | {
      readonly type: "ReportAttempt";
      readonly account: string;
      readonly attempt: EndedAttempt;
      readonly counts: AttemptCounts;
      readonly at: string;
    }
  /** Claims the next probe of an endpoint whose circuit is open. */
  | { readonly type: "ProbeEndpoint"; readonly account: string; readonly eventId: string; readonly at: string }
  /** Comes before the request for an approval that is bound to this endpoint. */
  | { readonly type: "PutUnderApproval"; readonly account: string; readonly at: string }
  | { readonly type: "DeleteEndpoint"; readonly account: string; readonly at: string };
