import { join } from "node:path";
import { defined } from "../../domain/defined.ts";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { CloudEvent, Feed } from "../../domain/ports/feed.ts";
import type { SpanExporter } from "../../domain/ports/span-exporter.ts";
import type { ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import type { StripePlace } from "../../infra/billing/stripe/client.ts";
import type { EventStoreLogOptions } from "../../infra/eventstoredb/event-log.ts";
import type { OtlpOptions } from "../../infra/otel/span-exporter.ts";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { sqliteViewReader } from "../../infra/sqlite/view-reader.ts";
import { sqliteViewStore } from "../../infra/sqlite/view-store.ts";

export type LogPlace =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "eventstoredb"; readonly url: string };

export type ViewsPlace =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "mongodb"; readonly url: string };

export type Places = { readonly log: LogPlace; readonly views: ViewsPlace };

type Wanted = { readonly dataDir: string; readonly eventstoreUrl: string | null; readonly mongodbUrl: string | null };

export const sqliteLogIn = (dataDir: string): LogPlace => ({ engine: "sqlite", path: join(dataDir, "log.db") });

export const placesOf = ({ dataDir, eventstoreUrl, mongodbUrl }: Wanted): Places => ({
  log: eventstoreUrl === null ? sqliteLogIn(dataDir) : { engine: "eventstoredb", url: eventstoreUrl },
  views:
    mongodbUrl === null
      ? { engine: "sqlite", path: join(dataDir, "views.db") }
      : { engine: "mongodb", url: mongodbUrl },
});

// Clients of servers are loaded on demand, so the embedded default starts faster and stays smaller.
const eventStore = async (options: EventStoreLogOptions): Promise<EventLog> =>
  (await import("../../infra/eventstoredb/event-log.ts")).eventStoreLog(options);
const mongo = async (options: { readonly url: string; readonly schemas: readonly ViewSchema[] }): Promise<ViewStore> =>
  (await import("../../infra/mongodb/view-store.ts")).mongoViewStore(options);

export type OpenLogOptions = {
  readonly readOnly?: boolean;
  readonly onGroup?: (appends: number) => void;
  readonly onClock?: (problem: string | null) => void;
};

export const openLog = (
  place: LogPlace,
  { readOnly = false, onGroup, onClock }: OpenLogOptions = {},
): Promise<EventLog> =>
  place.engine === "sqlite"
    ? sqliteEventLog(defined({ path: place.path, readOnly, onGroup }))
    : eventStore(defined({ url: place.url, readOnly, onClock }));

export const openViews = async (place: ViewsPlace, schemas: readonly ViewSchema[]): Promise<ViewStore> =>
  place.engine === "sqlite" ? sqliteViewStore({ path: place.path, schemas }) : mongo({ url: place.url, schemas });

export const openViewReader = async (place: ViewsPlace, schemas: readonly ViewSchema[]): Promise<ViewStore> =>
  place.engine === "sqlite" ? sqliteViewReader({ path: place.path, schemas }) : mongo({ url: place.url, schemas });

export type OtlpPlace = { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> };

export const openSpanExporter = async (options: OtlpOptions): Promise<SpanExporter> =>
  (await import("../../infra/otel/span-exporter.ts")).otlpSpanExporter(options);

export type { StripePlace };

export const openStripe = async (place: StripePlace, publicUrl: () => string): Promise<BillingProvider> =>
  (await import("../../infra/billing/stripe/provider.ts")).stripeBilling(place, publicUrl);

export type KafkaPlace = { readonly brokers: readonly string[]; readonly topic: string };

export const openFeed = async (place: KafkaPlace): Promise<Feed> =>
  (await import("../../infra/kafka/feed.ts")).kafkaFeed({ ...place, onOmitted });

const onOmitted = ({ id, type }: CloudEvent): void =>
  console.error(`${type} ${id} is larger than the topic takes (max.message.bytes): it was published without its data.`);
