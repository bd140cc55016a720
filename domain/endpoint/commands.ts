import type { Sealed } from "../source/events.ts";
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
  | { readonly type: "DisableEndpoint"; readonly account: string; readonly reason: string; readonly at: string }
  | { readonly type: "EnableEndpoint"; readonly account: string; readonly at: string }
  | { readonly type: "DeleteEndpoint"; readonly account: string; readonly at: string };
