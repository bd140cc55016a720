import type { PresentSource } from "../../../domain/source/decider.ts";
import type { SourceDocument } from "../../../projections/sources.ts";

export const show = (id: string, it: Omit<SourceDocument, "account">, publicUrl: string) => ({
  id,
  name: it.name,
  type: it.type,
  ingest_url: `${publicUrl}/v1/webhooks/${it.type}/${id}`,
  status: it.status,
  policy_id: it.policy_id,
  endpoint_id: it.endpoint_id,
  auth: it.auth,
  dedupe: it.dedupe,
  created_at: it.created_at,
});

export const showPresent = ({ sourceId, settings, type, auth, dedupe, createdAt }: PresentSource, publicUrl: string) =>
  show(sourceId, { ...settings, type, auth, dedupe, created_at: createdAt }, publicUrl);

export type SourceAnswer = ReturnType<typeof show>;
