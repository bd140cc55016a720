import type { Wire } from "./wire.ts";

/** `text` is sealed before it is stored. */
export type Kept = { readonly status: number; readonly text: string };

type Rest = { readonly headers: Readonly<Record<string, string>>; readonly text?: string; readonly base64?: string };

export const keptText = ({ headers, body }: Wire): string => {
  const rest: Rest = {
    headers,
    ...(typeof body === "string" ? { text: body } : {}),
    ...(body instanceof Uint8Array ? { base64: Buffer.from(body).toString("base64") } : {}),
  };
  return JSON.stringify(rest);
};

export const wireOfKept = ({ status, text }: Kept): Wire => {
  // What `keptText` wrote, authenticated by the box.
  const rest = JSON.parse(text) as Rest;
  const bytes = rest.base64 === undefined ? null : Buffer.from(rest.base64, "base64");
  return { status, headers: { ...rest.headers, "idempotent-replayed": "true" }, body: rest.text ?? bytes };
};
