import { DENSITIES, SCHEMES } from "../../../domain/account/preferences.ts";
import { type PreferencesDeps, preferencesOf, setPreferences, sharedWith } from "../../accounts/preferences.ts";
import { integer, nonBlank, object, text } from "../../http/json-schema.ts";
import { named } from "../../http/named-schemas.ts";
import { type Call, type JsonSchema, positionOf, type Route, route } from "../../http/route.ts";
import type { Aggregates } from "../../streams/aggregates.ts";
import { type Problem, problem } from "../../streams/problems.ts";
import { peopleOf } from "../approvals/approval-people.ts";

export type PreferenceRoutesDeps = PreferencesDeps & { readonly aggregates: Aggregates };

const VIEWS_MAX = 50;
const NAME_MAX = 80;
const ADDRESS_MAX = 1_024;
const SHARED_MAX = 200;

/** An address of the console: one segment and a query. So that no view leads elsewhere, `//` and `\` are not allowed. */
const ADDRESS = String.raw`^/[a-z]{1,20}(?:\?[!-\[\]-~]*)?$`;

const VIEW = {
  type: "object",
  required: ["name", "address"],
  additionalProperties: false,
  properties: {
    name: { ...nonBlank(NAME_MAX) },
    address: {
      type: "string",
      maxLength: ADDRESS_MAX,
      pattern: ADDRESS,
      description: "A path of the console with its query, such as /events?status=failed",
    },
    shared: { type: "boolean", description: "True: every member of the account sees it" },
  },
} as const satisfies JsonSchema;

const SETTINGS = {
  scheme: { enum: SCHEMES },
  density: { enum: DENSITIES },
  letters: { type: "boolean", description: "Single letters are keys of the console" },
} as const;

const LISTS_MAX = 50;
const COLUMNS_MAX = 20;
const HIDDEN_COLUMNS = {
  type: "array",
  maxItems: LISTS_MAX,
  items: {
    type: "object",
    required: ["list", "columns"],
    additionalProperties: false,
    properties: {
      list: { ...nonBlank(NAME_MAX) },
      columns: { type: "array", items: { ...nonBlank(NAME_MAX) }, maxItems: COLUMNS_MAX },
    },
  },
  description: "Columns of the console's lists, by their names there. Left out: they stay as they are",
} as const satisfies JsonSchema;

const BODY = named("PreferenceChanges", {
  type: "object",
  required: ["scheme", "density", "letters", "views"],
  additionalProperties: false,
  properties: {
    ...SETTINGS,
    views: { type: "array", items: VIEW, maxItems: VIEWS_MAX },
    hidden_columns: HIDDEN_COLUMNS,
    version: {
      type: "integer",
      minimum: 0,
      description: "The `version` that was read: another one in force is answered 409. Left out: any is replaced",
    },
  },
  examples: [
    {
      scheme: "system",
      density: "comfortable",
      letters: true,
      views: [{ name: "Failed", address: "/events?status=failed" }],
    },
  ],
});

const PREFERENCES = named(
  "Preferences",
  object({
    version: { ...integer, description: "0 before the first change" },
    ...SETTINGS,
    hidden_columns: {
      type: "array",
      items: object({ list: text, columns: { type: "array", items: text } }),
      description: "Columns of the console's lists that the member does not want to see",
    },
    views: { type: "array", items: object({ name: text, address: text, shared: { type: "boolean" } }) },
    shared_views: {
      type: "array",
      items: object({ name: text, address: text, by: text }),
      description: `What other members share, at most ${SHARED_MAX}`,
    },
  }),
);

const answer = async (deps: PreferenceRoutesDeps, { principal: { account, id } }: Pick<Call, "principal">) => {
  const people = await peopleOf(deps, account);
  const present = new Set(people?.members.keys() ?? []);
  const { personal, shared, ...settings } = await preferencesOf(deps, account, id);
  const others = await sharedWith(deps, account, id, present);
  return {
    ...settings,
    views: [
      ...personal.map((view) => ({ ...view, shared: false })),
      ...shared.map((view) => ({ ...view, shared: true })),
    ],
    shared_views: others.slice(0, SHARED_MAX),
  };
};

const changed = (): Problem =>
  problem("conflict", "Your preferences were changed elsewhere meanwhile: read them, and send yours again.");

/** A member's own: no other member reads or changes them, apart from the views that are shared. */
const OWN = { session: "viewer" } as const;

export const preferenceRoutes = (deps: PreferenceRoutesDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/members/me/preferences",
    who: OWN,
    summary: "How the member wants the console, and the saved views: own ones and those that others share",
    tag: "accounts",
    answers: { 200: PREFERENCES },
    handle: async (call) => ({ status: 200, body: await answer(deps, call) }),
  }),
  route({
    method: "PUT",
    path: "/v1/members/me/preferences",
    who: OWN,
    summary: "Replace the member's preferences and saved views",
    tag: "accounts",
    body: BODY,
    problems: ["conflict"],
    answers: { 200: PREFERENCES },
    async handle(call) {
      const { principal, envelope, body } = call;
      const { views, version = null, ...settings } = body;
      const of = (isShared: boolean) =>
        views
          .filter(({ shared = false }) => shared === isShared)
          .map(({ name, address }) => ({ name: name.trim(), address }));
      const wanted = { ...settings, version, personal: of(false), shared: of(true) };
      const done = await setPreferences(deps, principal.id, wanted, envelope);
      if (done.outcome === "rejected") return changed();
      return { status: 200, body: await answer(deps, call), ...positionOf(done) };
    },
  }),
];
