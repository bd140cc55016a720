import type { ViewStore } from "../../../domain/ports/view-store.ts";
import { type AuditDocument, type AuditHead, audit, recordId } from "../../../projections/audit.ts";
import type { AccountEvidence } from "../../audit/account-evidence.ts";
import { integer } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Answer, type Handler, type Route, route } from "../../http/route.ts";
import type { Problem } from "../../streams/problems.ts";
import { documentIn } from "../../views/typed-documents.ts";
import { signing } from "./checkpoints.ts";

export type CoverageDeps = {
  /** Null on a node that folds no evidence. */
  readonly evidence: AccountEvidence | null;
  readonly views: Pick<ViewStore, "get">;
};

const COVERAGE = named("AuditCoverage", {
  type: "object",
  required: ["records", "sealed", "witnessed", "newest_sealed_at"],
  properties: {
    records: { ...integer, description: "How many records the account has" },
    sealed: { ...integer, description: "The size of the newest checkpoint: all records with a lower index are sealed" },
    witnessed: {
      ...integer,
      description: "The size of the newest checkpoint that witnesses have cosigned; 0 without one",
    },
    newest_sealed_at: {
      type: ["string", "null"],
      format: "date-time",
      description: "When the newest sealed record was recorded; its checkpoint is made within two seconds",
    },
  },
});

const coverage =
  ({ evidence, views }: CoverageDeps): Handler =>
  ({ principal: { account } }) =>
    signing(evidence, async (it): Promise<Answer | Problem> => {
      const { sealed, witnessed } = await it.covered(account);
      const [head, newest] = await Promise.all([
        documentIn<AuditHead>(views, audit, account),
        sealed === 0 ? null : documentIn<AuditDocument>(views, audit, recordId(account, sealed - 1)),
      ]);
      // A node that is behind may have folded fewer records into its view than are sealed.
      const records = Math.max(head?.count ?? 0, sealed);
      return { status: 200, body: { records, sealed, witnessed, newest_sealed_at: newest?.recorded_at ?? null } };
    });

export const coverageRoutes = (deps: CoverageDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/audit/coverage",
    who: { session: "auditor", key: "auditor" },
    summary: "How many records the account has, and how many of them are sealed and witnessed",
    tag: "audit",
    answers: { 200: COVERAGE },
    problems: ["unavailable"],
    reads: [audit.schema.name],
    handle: coverage(deps),
  }),
];
