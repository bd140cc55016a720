import type { Commitment } from "../personal/events.ts";

/** Calls of one minute that are too cheap to provoke to be a record each. Several nodes' records of a minute add up. */
export type CallsEvent =
  | {
      /** Stream `calls-<subject>`: calls of one actor that were refused for one reason. */
      readonly type: "CallsRefused";
      readonly data: {
        /** The problem's code. */
        readonly problem: string;
        /** Why, as the first caller was told; shortened. */
        readonly detail: string;
        /** Method and path of the route, as `POST /v1/execute`. */
        readonly route: string;
        /** The id in the path, or null. It was only checked where it is also the stream's. */
        readonly target: string | null;
        readonly minute: string;
        readonly count: number;
        /** Where the first of them came from: a `Client`. */
        readonly client: Commitment | null;
        readonly at: string;
      };
    }
  | {
      /** Stream `calls-<account>`: what was refused in a minute in which too many kinds were. */
      readonly type: "MoreCallsRefused";
      readonly data: { readonly minute: string; readonly count: number; readonly at: string };
    }
  | {
      /** Stream `calls-installation`, of no account: refusals where nobody can tell whose account is meant. */
      readonly type: "StrangersRefused";
      readonly data: {
        readonly minute: string;
        /** By the problem's code. */
        readonly counts: Readonly<Record<string, number>>;
        readonly at: string;
      };
    };
