import { createHmac } from "node:crypto";
import type { Client } from "./client.ts";

/** A webhook as its sender knows it, and what it was answered; several, when it was sent several times. */
export type Sending = {
  readonly hook: Hook;
  readonly id: string;
  readonly answers: { readonly status: number; readonly eventId: string; readonly code: string }[];
};

export type Hook = { readonly name: string; readonly path: string; readonly sourceId: string };

/** Sends as providers do: what got no answer, or a 5xx, is sent again under the same delivery id until it gets one. */
export type PersistentSender = {
  readonly sendings: Sending[];
  /** Once; false when there was no answer. */
  send(base: string, sending: Sending): Promise<boolean>;
  /** A new webhook, not yet sent. */
  next(hook: Hook): Sending;
  unanswered(): Sending[];
};

const SECRET = "a secret of the sender";

export const hookOf = async (client: Client, name: string, settings: Record<string, unknown>): Promise<Hook> => {
  const dedupe = { header: "X-Delivery-Id" };
  const made = await client.make("/v1/sources", { name, type: "hmac", secret: SECRET, dedupe, ...settings });
  return { name, path: new URL(made.ingest_url).pathname, sourceId: made.id };
};

export const persistentSender = (): PersistentSender => {
  const sendings: Sending[] = [];
  return {
    sendings,
    next(hook) {
      const sending = { hook, id: `${hook.name}-${sendings.length}`, answers: [] };
      sendings.push(sending);
      return sending;
    },
    async send(base, { hook, id, answers }) {
      const body = JSON.stringify({ id });
      const headers = {
        "content-type": "application/json",
        "x-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
        "x-delivery-id": id,
      };
      try {
        const response = await fetch(`${base}${hook.path}`, { method: "POST", headers, body });
        // Every answer of this call is a JSON object.
        const said = (await response.json()) as { event_id?: string; code?: string };
        if (response.status >= 500) return false;
        answers.push({ status: response.status, eventId: said.event_id ?? "", code: said.code ?? "" });
        return true;
      } catch {
        return false;
      }
    },
    unanswered: () => sendings.filter(({ answers }) => answers.length === 0),
  };
};

/** The event that a sending became, if it was ever answered 2xx. */
export const admittedAs = ({ answers }: Sending): string | null =>
  answers.find(({ status }) => status >= 200 && status < 300)?.eventId ?? null;
