import { join } from "node:path";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import type { EventLog } from "../../domain/ports/event-log.ts";
import type { CloudEvent, Feed } from "../../domain/ports/feed.ts";
import type { SpanExporter } from "../../domain/ports/span-exporter.ts";
import type { ViewSchema, ViewStore } from "../../domain/ports/view-store.ts";
import type { StripeOptions } from "../../infra/billing/stripe/client.ts";
import type { EventStoreLogOptions } from "../../infra/eventstoredb/event-log.ts";
import type { OtlpOptions } from "../../infra/otel/span-exporter.ts";
import { sqliteEventLog } from "../../infra/sqlite/event-log.ts";
import { sqliteViewReader } from "../../infra/sqlite/view-reader.ts";
import { sqliteViewStore } from "../../infra/sqlite/view-store.ts";

type EmbeddedLog = { readonly engine: "sqlite"; readonly path: string };

export type LogLocation = EmbeddedLog | { readonly engine: "eventstoredb"; readonly url: string };

export type ViewsLocation =
  | { readonly engine: "sqlite"; readonly path: string }
  | { readonly engine: "mongodb"; readonly url: string };

export type EngineLocations = { readonly log: LogLocation; readonly views: ViewsLocation };

type EngineSettings = {
  readonly dataDir: string;
  readonly eventstoreUrl: string | null;
  readonly mongodbUrl: string | null;
};

export const sqliteLogIn = (dataDir: string): EmbeddedLog => ({ engine: "sqlite", path: join(dataDir, "log.db") });

/** What the evidence is folded into, on any engine. It can be deleted, as it is folded again from the log. */
export const evidenceFileOf = ({ dataDir }: Pick<EngineSettings, "dataDir">): string => join(dataDir, "evidence.db");

export const locationsOf = ({ dataDir, eventstoreUrl, mongodbUrl }: EngineSettings): EngineLocations => ({
  log: eventstoreUrl === null ? sqliteLogIn(dataDir) : { engine: "eventstoredb", url: eventstoreUrl },
  views:
    mongodbUrl === null
      ? { engine: "sqlite", path: join(dataDir, "views.db") }
      : { engine: "mongodb", url: mongodbUrl },
});

// The servers' clients are loaded on demand, so that the embedded default starts faster and stays smaller.
const eventStore = async (options: EventStoreLogOptions): Promise<EventLog> =>
  (await import("../../infra/eventstoredb/event-log.ts")).eventStoreLog(options);
const mongo = async (options: { readonly url: string; readonly schemas: readonly ViewSchema[] }): Promise<ViewStore> =>
  (await import("../../infra/mongodb/view-store.ts")).mongoViewStore(options);

export type OpenLogOptions = {
  readonly readOnly?: boolean;
  /** Appends that are sent together are written in their order, also after a lost connection. SQLite does so always. */
  readonly keepsOrder?: boolean;
  readonly onGroup?: (appends: number) => void;
  readonly onClock?: (problem: string | null) => void;
};

export const openLog = (
  location: LogLocation,
  { readOnly = false, keepsOrder = false, onGroup, onClock }: OpenLogOptions = {},
): Promise<EventLog> =>
  location.engine === "sqlite"
    ? sqliteEventLog({ path: location.path, readOnly, onGroup })
    : eventStore({ url: location.url, readOnly, keepsOrder, onClock });

export const openViews = async (location: ViewsLocation, schemas: readonly ViewSchema[]): Promise<ViewStore> =>
  location.engine === "sqlite"
    ? sqliteViewStore({ path: location.path, schemas })
    : mongo({ url: location.url, schemas });

export const openViewReader = async (location: ViewsLocation, schemas: readonly ViewSchema[]): Promise<ViewStore> =>
  location.engine === "sqlite"
    ? sqliteViewReader({ path: location.path, schemas })
    : mongo({ url: location.url, schemas });

export type OtlpLocation = { readonly endpoint: string; readonly headers: Readonly<Record<string, string>> };

export const openSpanExporter = async (options: OtlpOptions): Promise<SpanExporter> =>
  (await import("../../infra/otel/span-exporter.ts")).otlpSpanExporter(options);

export type { StripeOptions };

export const openStripe = async (options: StripeOptions, publicUrl: () => string): Promise<BillingProvider> =>
  (await import("../../infra/billing/stripe/provider.ts")).stripeBilling(options, publicUrl);

export type KafkaLocation = { readonly brokers: readonly string[]; readonly topic: string };

export const openFeed = async (location: KafkaLocation): Promise<Feed> =>
  (await import("../../infra/kafka/feed.ts")).kafkaFeed({ ...location, onOmitted });

const onOmitted = ({ id, type }: CloudEvent): void =>
  console.error(`${type} ${id} is larger than the topic takes (max.message.bytes): it was published without its data.`);
