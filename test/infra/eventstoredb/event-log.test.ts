import { eventStoreLog } from "../../../infra/eventstoredb/event-log.ts";
import { eventLogContract } from "../../contract/event-log.ts";
import { startEventStoreDouble } from "../../support/eventstore-double/server.ts";
import { skipped } from "../../support/skipped.ts";

const double = await startEventStoreDouble();
eventLogContract("EventStoreDB, the double", () => eventStoreLog({ url: double.url }), double.stop);

// What a server may answer otherwise than the one that the double was made after.
const other = await startEventStoreDouble({
  positions: { ofSeveral: "first", onRepeat: "none" },
  appendSize: "everything",
  systemEventsEvery: 3,
});
eventLogContract("EventStoreDB, another double", () => eventStoreLog({ url: other.url }), other.stop);

const { EVENTSTORE_URL } = process.env;
if (EVENTSTORE_URL === undefined) skipped("EventStoreDB itself", "EVENTSTORE_URL is not set");
else eventLogContract("EventStoreDB itself", () => eventStoreLog({ url: EVENTSTORE_URL }));
