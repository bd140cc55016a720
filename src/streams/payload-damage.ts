import { bundleDamage } from "../../domain/bundle/damage.ts";
import type { Decider } from "../../domain/decider.ts";
import { type Damage, type DamageRejection, damage, type FindDamage } from "../../domain/delivery/damage.ts";
import type { Clock } from "../../domain/ports/clock.ts";
import type { EventLog, Metadata } from "../../domain/ports/event-log.ts";
import { bundleStream, isBundleId } from "./bundle-id.ts";
import { type Fact, systemEnvelope } from "./envelope.ts";
import type { OnDamage } from "./payloads.ts";
import { type Problem, problem } from "./problems.ts";
import { foldStream, runCommand } from "./run-command.ts";

type DamageDecider<E extends Fact> = Decider<Damage, FindDamage, E, DamageRejection>;

const record = async <E extends Fact>(
  log: EventLog,
  stream: string,
  decider: DamageDecider<E>,
  command: FindDamage,
): Promise<boolean> => {
  let first: Metadata | null = null;
  const known = await foldStream(log, decider, stream, {
    onEvent: ({ meta }) => {
      first ??= meta;
    },
  });
  const meta = first as Metadata | null;
  if (meta === null) return false;
  const { subject, payload, at } = command;
  const envelope = systemEnvelope({
    actor: "payloads",
    // Whoever finds the damage uses this command id, so that it is recorded once.
    commandId: `payload-damage/${subject}/${payload.revision}`,
    account: meta.account,
    trace: { trace_id: meta.trace_id, span_id: meta.span_id },
    at,
  });
  return (await runCommand(log, { decider, stream, from: known, command, envelope })).outcome === "accepted";
};

/** The returned function never rejects: if the damage cannot be recorded, the next reader finds it again. */
export const damageRecords =
  (log: EventLog, clock: Clock, onError: (error: unknown) => void): OnDamage =>
  async (subject, payload) => {
    const command: FindDamage = { type: "FindDamage", subject, payload, at: new Date(clock.now()).toISOString() };
    try {
      const isNew = isBundleId(subject)
        ? await record(log, bundleStream(subject), bundleDamage, command)
        : await record(log, `delivery-${subject}`, damage, command);
      if (isNew)
        onError(new Error(`the stored payload of ${subject} does not match its hash: it is neither shown nor sent`));
    } catch (error) {
      onError(error);
    }
  };

export const payloadDamaged = (): Problem =>
  problem(
    "payload-damaged",
    "The stored payload does not match the hash in the event's record, so it is neither shown nor sent: restore it from a backup.",
  );
