import { PUBLISHED } from "../../../projections/schemas/all.ts";
import { storedSchema } from "../../../projections/schemas/stored.ts";
import { named } from "../../http/named-schemas.ts";
import type { Answer, Route } from "../../http/route.ts";
import { notFound } from "../../streams/problems.ts";

/** Schemas may be cached, as they change only with a build, and a changed shape gets a new name. */
const MAX_AGE_S = 3_600;
const CACHED = { "cache-control": `public, max-age=${MAX_AGE_S}` };
/** The media type of a schema (JSON Schema 2020-12 Core, section 14.1). */
const MEDIA_TYPE = "application/schema+json";

const TAG = "operations";

const LIST = named("ViewSchemas", {
  type: "object",
  required: ["data", "next_cursor"],
  properties: {
    data: {
      type: "array",
      items: {
        type: "object",
        required: ["view", "description", "url"],
        properties: {
          view: { type: "string", description: "The name of the collection in MongoDB." },
          description: { type: "string" },
          url: { type: "string", format: "uri", description: "Where its JSON Schema is." },
        },
      },
    },
    next_cursor: { type: "null", description: "The list is never longer than one page." },
  },
});

const SCHEMA = named("ViewSchema", { type: "object", description: "A JSON Schema, 2020-12." });

/** Publishes the schemas of the views' documents, for readers of the views in MongoDB. */
export const viewSchemaRoutes = (publicUrl: () => string): readonly Route[] => {
  const addressOf = (view: string): string => `${publicUrl()}/schemas/${view}`;
  const list = async (): Promise<Answer> => {
    const data = PUBLISHED.map(({ view, description }) => ({ view, description, url: addressOf(view) }));
    return { status: 200, body: { data, next_cursor: null }, headers: CACHED };
  };
  return [
    {
      method: "GET",
      path: "/schemas",
      who: "anyone",
      summary: "List the views that analysts find in MongoDB",
      tag: TAG,
      answers: { 200: LIST },
      handle: list,
    },
    {
      method: "GET",
      path: "/schemas/{view}",
      who: "anyone",
      summary: "The JSON Schema of a view's documents",
      tag: TAG,
      answers: { 200: SCHEMA },
      produces: MEDIA_TYPE,
      handle: async ({ params }) => {
        const published = PUBLISHED.find(({ view }) => view === params.view);
        if (published === undefined) return notFound();
        const body = storedSchema(published, addressOf(published.view));
        return { status: 200, body, headers: { ...CACHED, "content-type": MEDIA_TYPE } };
      },
    },
  ];
};
