import type { Json } from "../../domain/json.ts";
import type { DescribedWorld } from "./described-world.ts";

type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean };
type Media = { readonly schema?: { readonly $ref?: string; readonly examples?: Json[] }; readonly example?: Json };
type Operation = {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
};
/** The part of the OpenAPI description that calls are made from. */
export type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: readonly Json[] }>> };
};

export type Credential = "session" | "key" | "agent" | "token" | "none";

/** One call of one operation, with all that a client has to be given for it. */
export type DescribedCall = {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly credential: Credential;
  readonly parameters: Readonly<Record<"path" | "query" | "header", Readonly<Record<string, Json>>>>;
  /** Undefined if the operation takes none. */
  readonly body: Json | undefined;
  /** Of its success; null if that has no content. */
  readonly contentType: string | null;
};

/** As the bodies' examples have it. */
const EXAMPLE_ENDPOINT = "end_01j9z3k4m5n6p7q8r9s0t1v2w3";

const QUERIES: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  "/v1/directory": { ids: "src_1,end_1" },
  "/v1/search": { q: "shop" },
  "/v1/replays/plan": { event_ids: "evt_1,evt_2" },
  "/v1/audit/proof": { index: 0 },
  "/v1/audit/consistency": { from: 1 },
};

const credentialOf = (path: string, { security = [] }: Operation): Credential => {
  const names = security.flatMap((it) => Object.keys(it));
  // The metrics are shown to this machine whatever the token is, but a client has to send one.
  if (path.startsWith("/v1/webhooks/") || names.includes("metricsToken")) return "token";
  if (names.includes("session")) return "session";
  if (names.includes("apiKey")) return "key";
  return names.includes("agentKey") ? "agent" : "none";
};

const bodyOf = ({ components }: Description, { requestBody }: Operation, endpoint: string): Json | undefined => {
  const media = requestBody?.content["application/json"];
  if (media === undefined) return undefined;
  const { $ref, examples } = media.schema ?? {};
  const named = $ref === undefined ? undefined : components.schemas[$ref.split("/").at(-1) ?? ""];
  const example = media.example ?? (named?.examples ?? examples)?.[0];
  return JSON.parse(JSON.stringify(example).replaceAll(EXAMPLE_ENDPOINT, endpoint));
};

/** Later ones take away what earlier ones need. */
const rank = ({ method, path }: DescribedCall): number => {
  if (path === "/v1/auth/logout") return 3;
  if (path.startsWith("/v1/auth/sessions") && method === "DELETE") return 2;
  return method === "DELETE" || path === "/v1/auth/password" ? 1 : 0;
};

/** One call of every operation of the description, in an order in which most of them can succeed. */
export const describedCalls = (description: Description, world: DescribedWorld): readonly DescribedCall[] => {
  const calls = Object.entries(description.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): DescribedCall => {
      const { operationId, tags, parameters = [], responses } = operation;
      const inPath = parameters.filter((it) => it.in === "path").map(({ name }) => [name, world.value(path, name)]);
      const needsKey = parameters.some(({ name, required }) => name === "idempotency-key" && required === true);
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
      return {
        method: method.toUpperCase(),
        path,
        operationId,
        tag: tags[0],
        credential: credentialOf(path, operation),
        parameters: {
          path: Object.fromEntries(inPath),
          query: QUERIES[path] ?? {},
          header: needsKey ? { "idempotency-key": `once-${operationId}` } : {},
        },
        body: bodyOf(description, operation, world.value("/v1/endpoints/{id}", "id")),
        contentType: Object.keys(success?.content ?? {})[0] ?? null,
      };
    }),
  );
  return calls.sort((one, other) => rank(one) - rank(other));
};
