import type { DeviceLoginEvent } from "./account/device-login.ts";
import type { AccountEvent, ApiKeyEvent, EmailEvent, SessionEvent } from "./account/events.ts";
import type { PreferencesEvent } from "./account/preferences.ts";
import type { StartLinkEvent } from "./account/start-link.ts";
import type { ActionEvent } from "./action/events.ts";
import type { AgentEvent } from "./agent/events.ts";
import type { ApprovalEvent } from "./approval/events.ts";
import type { BundleEvent } from "./bundle/events.ts";
import type { CallsEvent } from "./calls/events.ts";
import type { ChangeEvent } from "./change/events.ts";
import type { ControlsEvent } from "./change-control/events.ts";
import type { DeliveryEvent } from "./delivery/events.ts";
import type { PayloadEvent } from "./delivery/payload-events.ts";
import type { EndpointEvent } from "./endpoint/events.ts";
import type { InstanceEvent } from "./evidence/instance-events.ts";
import type { KeyMapEvent } from "./evidence/key-map-events.ts";
import type { WitnessEvent } from "./evidence/witness-events.ts";
import type { LedgerEvent } from "./ledger/events.ts";
import type { MemberErasureEvent, PersonalDataEvent, PersonalErasureEvent } from "./personal/events.ts";
import type { PolicyEvent } from "./policy/events.ts";
import type { RecordedEvent } from "./ports/event-log.ts";
import type { ReplayEvent } from "./replay/events.ts";
import type { ReplayPlaceEvent } from "./replay/places.ts";
import type { SourceEvent } from "./source/events.ts";

/** The part of a stream's name before its first dash is its category. */
type EventsByCategory = {
  readonly account: AccountEvent;
  readonly action: ActionEvent;
  readonly agent: AgentEvent;
  readonly apikey: ApiKeyEvent;
  readonly approval: ApprovalEvent;
  readonly bundle: BundleEvent;
  readonly calls: CallsEvent;
  readonly change: ChangeEvent;
  readonly checkpoint: InstanceEvent | WitnessEvent;
  readonly controls: ControlsEvent;
  readonly delivery: DeliveryEvent;
  readonly device: DeviceLoginEvent;
  readonly email: EmailEvent;
  readonly endpoint: EndpointEvent;
  readonly erasure: PersonalErasureEvent | MemberErasureEvent;
  readonly keymap: KeyMapEvent;
  readonly ledger: LedgerEvent;
  readonly payload: PayloadEvent;
  readonly personal: PersonalDataEvent;
  readonly policy: PolicyEvent;
  readonly preferences: PreferencesEvent;
  readonly replay: ReplayEvent;
  readonly replays: ReplayPlaceEvent;
  readonly session: SessionEvent;
  readonly source: SourceEvent;
  readonly start: StartLinkEvent;
};

type DomainEvent = EventsByCategory[keyof EventsByCategory];
export type EventType = DomainEvent["type"];

export type DataOf<T extends EventType> = Extract<DomainEvent, { type: T }>["data"];

/** Gives a record the event type that the caller names, as the category of its stream says; a log has only JSON. */
export const eventOf = <E extends { readonly type: string }>(record: {
  readonly type: string;
  readonly data: unknown;
}): E => record as typeof record & E;

export const dataOf = <T extends EventType>(type: T, { data }: Pick<RecordedEvent, "data">): DataOf<T> =>
  eventOf<{ readonly type: T; readonly data: DataOf<T> }>({ type, data }).data;

export const isEvent = <R extends Pick<RecordedEvent, "type" | "data">, T extends EventType>(
  record: R,
  ...types: readonly T[]
): record is R & { readonly type: T; readonly data: DataOf<T> } => types.some((type) => type === record.type);
