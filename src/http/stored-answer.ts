import { defined } from "../../domain/defined.ts";
import type { SentAnswer } from "./sent-answer.ts";

type StoredAnswer = { readonly status: number; readonly text: string };

type Rest = { readonly headers: Readonly<Record<string, string>>; readonly text?: string; readonly base64?: string };

export const storedText = ({ headers, body }: SentAnswer): string => {
  const rest: Rest = defined({
    headers,
    text: typeof body === "string" ? body : undefined,
    base64: body instanceof Uint8Array ? Buffer.from(body).toString("base64") : undefined,
  });
  return JSON.stringify(rest);
};

export const repeatedAnswer = ({ status, text }: StoredAnswer): SentAnswer => {
  // Opening the sealed text has verified it, so it is exactly what `storedText` wrote.
  const rest = JSON.parse(text) as Rest;
  const bytes = rest.base64 === undefined ? null : Buffer.from(rest.base64, "base64");
  return { status, headers: { ...rest.headers, "idempotent-replayed": "true" }, body: rest.text ?? bytes };
};
