import { bundleErasure } from "../../../domain/bundle/erasure.ts";
import type { EventLog } from "../../../domain/ports/event-log.ts";
import { eraseBundle } from "../../erasure/erasures.ts";
import type { PersonalData } from "../../erasure/personal-data.ts";
import type { REASON_BODY } from "../../http/json-schema.ts";
import { type Answer, type Call, positionOf } from "../../http/route.ts";
import { bundleStream, isBundleId } from "../../streams/bundle-id.ts";
import { notFound, type Problem, problem } from "../../streams/problems.ts";
import { foldStream } from "../../streams/run-command.ts";

export type BundlePayloadDeps = { readonly log: EventLog; readonly personal: Pick<PersonalData, "keep" | "forget"> };

type Erasing = { readonly body: typeof REASON_BODY };

/** `erasedAt` is the time of the erasure, ISO 8601 in UTC; null if there was none. */
export type BundleErased = { readonly erasedAt: string | null; readonly written: Pick<Answer, "position"> };

/** Erases the payloads of the bundle, of its steps and of their undos, and the targets' answers to them. */
export const eraseOwnBundle = async (
  { log, personal }: BundlePayloadDeps,
  id: string,
  call: Call<Erasing>,
): Promise<BundleErased | Problem> => {
  if (!isBundleId(id)) return notFound();
  let owner: string | null = null;
  const known = await foldStream(log, bundleErasure, bundleStream(id), {
    onEvent: ({ meta }) => {
      owner ??= meta.account;
    },
  });
  if (owner !== call.principal.account) return notFound();
  const reason = await personal.keep(bundleStream(id), call.body.reason, call.envelope);
  const ran = await eraseBundle(log, { id, known, cause: { reason }, envelope: call.envelope });
  if (ran.outcome !== "accepted") await personal.forget(reason);
  if (ran.outcome === "rejected") {
    if (ran.rejection === "absent") return notFound();
    return problem("conflict", "The bundle has not ended: its payloads can be erased once it has.");
  }
  return { erasedAt: ran.known.state.erasedAt, written: positionOf(ran) };
};

export const eraseBundlePayload = async (
  deps: BundlePayloadDeps,
  call: Call<Erasing & { readonly params: "id" }>,
): Promise<Answer | Problem> => {
  const { id } = call.params;
  const erased = await eraseOwnBundle(deps, id, call);
  if ("problem" in erased) return erased;
  const body = { bundle_id: id, erased_at: erased.erasedAt, bytes_removed: deps.log.bytesRemoved };
  return { status: 200, body, ...erased.written };
};
