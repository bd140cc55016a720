import { ROLES } from "../../../domain/account/events.ts";
import { nullable, object, text } from "../../http/json-schema.ts";
import { invalid } from "../../http/listing.ts";
import { named } from "../../http/named-schemas.ts";
import { type JsonSchema, READERS, type Route, route } from "../../http/route.ts";
import { HOLDERS_MAX, holdersOf } from "./holders.ts";
import { LISTED_KINDS, LISTED_MAX, type ListedKind, listedNames } from "./listed-names.ts";
import { KINDS, type NameDeps, namesOf } from "./names.ts";
import { HITS_MAX, type SearchDeps, search } from "./search.ts";

const IDS_MAX = 100;
const IDS_LENGTH_MAX = 8_000;
const TEXT_LENGTH_MAX = 200;

const NAMED = named(
  "DirectoryEntry",
  object({
    kind: { enum: KINDS },
    name: { type: ["string", "null"], description: "The last one that is kept; null if none is" },
    removed: { type: "boolean" },
  }),
);

const NAMES: JsonSchema = named("Directory", {
  type: "object",
  additionalProperties: NAMED,
  description: "By id; ids that the account never had are missing",
});

const ONE_KIND = LISTED_KINDS.join("|");

const HIT = named("SearchHit", object({ id: text, kind: text, name: nullable("string"), state: nullable("string") }));

/** Names are for every role, because a record names ids of things that its reader may not list. */
export const directoryRoutes = (deps: NameDeps & SearchDeps): readonly Route[] => [
  route({
    method: "GET",
    path: "/v1/directory",
    who: READERS,
    summary: "Names of members, keys, agents, sources, endpoints, policies and actions by their ids or kinds",
    tag: "accounts",
    query: {
      ids: {
        type: "string",
        minLength: 1,
        maxLength: IDS_LENGTH_MAX,
        description: `At most ${IDS_MAX} ids, separated by commas`,
      },
      kinds: {
        type: "string",
        pattern: `^(${ONE_KIND})(,(${ONE_KIND}))*$`,
        description:
          `One or several of ${LISTED_KINDS.join(", ")}, separated by commas: the names of the newest ${LISTED_MAX} of each, of a member the address up to the @. ` +
          "`ids`, `kinds` or `right` is needed",
      },
      right: {
        enum: ROLES,
        description:
          `The members who may do what needs this role, at most ${HOLDERS_MAX}, those of the role itself first. The name of each ` +
          "is their address up to the @",
      },
    },
    answers: { 200: NAMES },
    async handle({ principal: { account }, query: { ids = "", kinds = "", right } }) {
      const asked = ids.split(",").filter((id) => id !== "");
      // The schema of the query has no other kinds.
      const listed = kinds.split(",").filter((kind) => kind !== "") as readonly ListedKind[];
      if (asked.length > IDS_MAX || (asked.length === 0 && listed.length === 0 && right === undefined))
        return invalid("ids", `must be 1 to ${IDS_MAX} ids`);
      const [found, named, holders] = await Promise.all([
        listedNames(deps, account, listed),
        namesOf(deps, account, asked),
        right === undefined ? {} : holdersOf(deps, account, right),
      ]);
      return { status: 200, body: { ...holders, ...found, ...named } };
    },
  }),
  route({
    method: "GET",
    path: "/v1/search",
    who: READERS,
    summary: `Find things by name or id, at most ${HITS_MAX}; members and keys only for those who may list them`,
    tag: "accounts",
    query: {
      q: {
        type: "string",
        minLength: 1,
        maxLength: TEXT_LENGTH_MAX,
        description: "A part of a name, or an id; events, bundles, approvals and replays are found by id alone",
      },
    },
    queryRequired: ["q"],
    answers: { 200: named("SearchHits", object({ data: { type: "array", items: HIT } })) },
    async handle({ principal, query: { q = "" } }) {
      return { status: 200, body: { data: await search(deps, principal, q) } };
    },
  }),
];
