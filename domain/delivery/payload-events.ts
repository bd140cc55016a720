/** `size` in bytes and hex SHA-256 of the whole body, of which only the first bytes are stored. */
type ResponseHead = { readonly size: number; readonly sha256: string };

/** Stream `payload-<event>`, which retention or an erasure request erases. */
export type PayloadEvent =
  /** Part of the body of the `PayloadKept` or `FormKept` that names its revision; a crash or a lost race may leave parts alone. */
  | {
      readonly type: "PayloadPartKept";
      readonly data: { readonly event_id: string; readonly encoding: "text" | "base64"; readonly body: string };
    }
  | {
      readonly type: "PayloadKept";
      readonly data: {
        readonly event_id: string;
        /** Each salt is 16 random bytes in base64, which the commitment to the payload or to its headers includes. */
        readonly salt: string;
        /** Absent without headers. */
        readonly headers_salt?: string;
        readonly content_type: string;
        readonly content_encoding?: string;
        /** "text" if the body is UTF-8 that survives the round trip, else "base64". */
        readonly encoding: "text" | "base64";
        readonly body: string;
        /** The revisions that hold the beginning of a long body (`PayloadPartKept`), in order; `body` is its end. */
        readonly parts?: readonly number[];
        readonly headers: Readonly<Record<string, string>>;
      };
    }
  /** The form of an approval's request that voters were shown, as canonical JSON (RFC 8785). Votes have the commitment to it. */
  | {
      readonly type: "FormKept";
      readonly data: {
        readonly event_id: string;
        readonly approval_id: string;
        readonly salt: string;
        readonly encoding: "text" | "base64";
        readonly body: string;
        readonly parts?: readonly number[];
      };
    }
  | {
      readonly type: "ResponseKept";
      readonly data: {
        readonly event_id: string;
        readonly number: number;
        /** Salts like those of a payload. `salt` is absent without a body. */
        readonly salt?: string;
        readonly headers_salt: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly encoding: "text" | "base64";
        readonly body: string;
        readonly truncated: boolean;
        readonly head?: ResponseHead;
        readonly request_headers: Readonly<Record<string, string>>;
      };
    };
