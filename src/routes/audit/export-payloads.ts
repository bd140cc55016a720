import { LRUCache } from "lru-cache";
import { bundle } from "../../../domain/bundle/decider.ts";
import { requestOf } from "../../../domain/bundle/state.ts";
import { toBase64 } from "../../../domain/evidence/bytes.ts";
import type { ErasureLine, PayloadLine } from "../../../domain/evidence/export-lines.ts";
import type { EventLog, RecordedEvent } from "../../../domain/ports/event-log.ts";
import type { ViewStore } from "../../../domain/ports/view-store.ts";
import type { EventDocument } from "../../../projections/event-document.ts";
import { events } from "../../../projections/events.ts";
import { allCommitmentsIn, openCommitment, payloadSubjectOf } from "../../audit/committed-values.ts";
import type { BodyReader } from "../../bodies/body-reader.ts";
import type { CallCounts } from "../../calls/call-counts.ts";
import { type Call, calledBy, type Principal } from "../../http/route.ts";
import { bundleStream } from "../../streams/bundle-id.ts";
import type { Payloads } from "../../streams/payloads.ts";
import { foldStream } from "../../streams/run-command.ts";
import { documentIn } from "../../views/typed-documents.ts";
import { hiddenOfEvent, hiddenPaths } from "../events/hidden-fields.ts";

export type ExportPayloadsDeps = {
  readonly log: EventLog;
  readonly views: Pick<ViewStore, "get" | "getMany" | "page" | "count">;
  readonly payloads: Pick<Payloads, "read">;
  readonly calls: Pick<CallCounts, "payloadRead">;
  readonly bodyReader?: BodyReader;
};

const SUBJECTS_MAX = 1_000;
/** Personal data that many records name, such as a caller's address, is not written again within so many others. */
const GIVEN_MAX = 10_000;

/** An export is handed on, so it has what an auditor may read, whoever has made it. */
const auditorOf = (account: string): Principal => ({ kind: "key", account, id: "", role: "auditor" });

/** True if a policy hides a field of the payload from auditors, or if that is unknown. */
const isHidden = async (deps: ExportPayloadsDeps, account: string, subject: string): Promise<boolean> => {
  const auditor = auditorOf(account);
  if (subject.startsWith("bun_")) {
    const request = requestOf((await foldStream(deps.log, bundle, bundleStream(subject))).state);
    return request === null || (await hiddenPaths(deps.log, request, auditor)).length > 0;
  }
  const event = await documentIn<EventDocument>(deps.views, events, subject);
  return event === null || event.account !== account || (await hiddenOfEvent(deps, event, auditor)).length > 0;
};

/** The lines for what was erased of a record that is itself left out. */
export const erasedLines = (erasureOf: (id: string) => Promise<ErasureLine | null>) =>
  async function* (record: RecordedEvent): AsyncGenerator<ErasureLine, void> {
    for (const { id } of allCommitmentsIn(record.data)) {
      const erasure = await erasureOf(id);
      if (erasure !== null) yield erasure;
    }
  };

/**
 * The lines that open a record's commitments. A payload in which a policy hides fields is left out as a whole, because its
 * bytes are what the commitment covers: a verifier calls it withheld, unless a record says that it was erased.
 */
export const payloadLines = (
  deps: ExportPayloadsDeps,
  call: Call,
  erasureOf: (id: string) => Promise<ErasureLine | null>,
) => {
  const { account } = call.principal;
  const hidden = new LRUCache<string, Promise<boolean>>({ max: SUBJECTS_MAX });
  const given = new LRUCache<string, true>({ max: GIVEN_MAX });
  const mayShow = async (subject: string): Promise<boolean> => {
    const known = hidden.get(subject);
    if (known !== undefined) return !(await known);
    const asked = isHidden(deps, account, subject);
    hidden.set(subject, asked);
    if (await asked) return false;
    deps.calls.payloadRead(calledBy(call), subject);
    return true;
  };
  return async function* (record: RecordedEvent): AsyncGenerator<PayloadLine | ErasureLine, void> {
    for (const commitment of allCommitmentsIn(record.data)) {
      if (given.has(commitment.id)) continue;
      const subject = payloadSubjectOf(commitment.id);
      const mayOpen = subject === null || (await mayShow(subject));
      const opened = mayOpen ? await openCommitment(deps, account, commitment) : null;
      if (opened === null) {
        const erasure = await erasureOf(commitment.id);
        if (erasure !== null) yield erasure;
        continue;
      }
      given.set(commitment.id, true);
      yield { kind: "payload", id: commitment.id, salt: toBase64(opened.salt), bytes: toBase64(opened.bytes) };
    }
  };
};
