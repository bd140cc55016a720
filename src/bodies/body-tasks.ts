import type { FieldPath } from "../../domain/gate/field-path.ts";
import type { Json, JsonObject } from "../../domain/json.ts";
import type { Identity } from "../providers/identify.ts";
import { redactText } from "../redaction/redact-text.ts";
import { type ContentOrder, contentOf, type VisibleContent } from "./approval-content.ts";
import { type FieldsOrder, type VisibleFields, visibleFields } from "./approval-fields.ts";
import type { Form } from "./approval-form.ts";
import { type AttemptsOrder, type VisibleAttempt, visibleAttempts } from "./event-answer.ts";
import { type PlacesOrder, placesIn } from "./result-places.ts";
import { type ResultsOrder, visibleResults } from "./visible-results.ts";
import { type IdentityOrder, identityOf } from "./webhook-identity.ts";

type TextOrder = { readonly body: Uint8Array; readonly hidden: readonly FieldPath[] };

/** Orders and answers are plain data, because they are sent to another thread and back. */
export type Orders = {
  readonly content: ContentOrder;
  readonly fields: FieldsOrder;
  readonly text: TextOrder;
  readonly attempts: AttemptsOrder;
  readonly results: ResultsOrder;
  readonly places: PlacesOrder;
  readonly identity: IdentityOrder;
};

export type Answers = {
  readonly content: VisibleContent & { readonly form: Form };
  readonly fields: VisibleFields;
  /** Null if the body is not JSON: hidden fields cannot be found in it, so nothing of it is shown. */
  readonly text: Uint8Array | null;
  readonly attempts: readonly VisibleAttempt[];
  readonly results: readonly (JsonObject | null)[];
  readonly places: ReturnType<typeof placesIn>;
  readonly identity: Identity;
};

export type TaskName = keyof Orders;

type Task<Order, Answer> = {
  readonly bytesOf: (order: Order) => number;
  readonly run: (order: Order) => Answer;
  readonly packed?: (answer: Answer) => Answer;
};

/** Each byte of an answer counts this often, because the answer is searched for every spelling of each hidden value. */
const COMPARED_WEIGHT = 8;

const bodyLength = (body: Json): number => (typeof body === "string" ? body.length : JSON.stringify(body).length);

export const TASKS: { readonly [Name in TaskName]: Task<Orders[Name], Answers[Name]> } = {
  content: {
    bytesOf: ({ kept }) => (kept === null || kept === "damaged" ? 0 : kept.body.length),
    run: contentOf,
    packed: (answer) => {
      const { payload } = answer;
      return { ...answer, payload: payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload)) };
    },
  },
  fields: {
    bytesOf: ({ kept }) => (kept === null || kept === "damaged" ? 0 : kept.body.length),
    run: visibleFields,
  },
  text: {
    bytesOf: ({ body }) => body.length,
    run({ body, hidden }) {
      const shown = redactText(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"), hidden);
      return shown === null ? null : Buffer.from(shown);
    },
  },
  attempts: {
    bytesOf({ responses, hiding }) {
      if (hiding === null) return 0;
      let bytes = 0;
      for (const { body } of responses.values()) bytes += body.length;
      return (hiding.payload?.length ?? 0) + COMPARED_WEIGHT * bytes;
    },
    run: visibleAttempts,
  },
  results: {
    bytesOf({ results, hidings }) {
      let bytes = 0;
      for (const [index, hiding] of hidings.entries()) {
        const body = results[index]?.body ?? null;
        if (hiding !== null) bytes += (hiding.payload?.length ?? 0) + COMPARED_WEIGHT * bodyLength(body);
      }
      return bytes;
    },
    run: visibleResults,
  },
  places: { bytesOf: ({ body }) => body.length, run: placesIn },
  identity: { bytesOf: ({ body }) => body.length, run: identityOf },
};
