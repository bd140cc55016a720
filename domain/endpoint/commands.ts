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
      /** Left out if a key asks, because only a person with a session may send secrets to another address. */
      readonly byPerson?: true;
      readonly at: string;
    }
  | {
      readonly type: "RotateEndpointSecret";
      readonly account: string;
      readonly secret: Sealed;
      readonly previousUntil: string;
      readonly at: string;
    }
  | {
      readonly type: "DisableEndpoint";
      readonly account: string;
      readonly reason: string;
      readonly startedAt: string;
      readonly at: string;
    }
  | { readonly type: "EnableEndpoint"; readonly account: string; readonly at: string }
  | {
      readonly type: "ReportAttempt";
      readonly account: string;
      readonly attempt: EndedAttempt;
      readonly counts: AttemptCounts;
      readonly at: string;
    }
  | { readonly type: "ProbeEndpoint"; readonly account: string; readonly eventId: string; readonly at: string }
  /** Given before an approval of a request to this endpoint is asked for: from then on no key changes its secrets. */
  | { readonly type: "PutUnderApproval"; readonly account: string; readonly at: string }
  | { readonly type: "DeleteEndpoint"; readonly account: string; readonly at: string };
