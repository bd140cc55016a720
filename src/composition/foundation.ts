import { defined } from "../../domain/defined.ts";
import type { BillingProvider } from "../../domain/ports/billing.ts";
import { manualBilling } from "../../infra/billing/manual/links.ts";
import { headerDigests } from "../../infra/crypto/header-digest.ts";
import { randomId } from "../../infra/crypto/ids.ts";
import { secretBox } from "../../infra/crypto/secret-box.ts";
import { subkey } from "../../infra/crypto/subkey.ts";
import { dnsResolver } from "../../infra/dns/resolver.ts";
import { addressRules } from "../../infra/http/addresses.ts";
import { systemResolver } from "../../infra/http/resolve.ts";
import { httpSender } from "../../infra/http/sender.ts";
import { accountTerms } from "../accounts/account-terms.ts";
import { credentialHashes } from "../accounts/credential-hashes.ts";
import { formSalts } from "../bodies/approval-form.ts";
import { callCounts } from "../calls/call-counts.ts";
import { callRecords } from "../calls/call-records.ts";
import { Tallies } from "../calls/tallies.ts";
import { controls } from "../change-control/controls.ts";
import type { Config } from "../config.ts";
import { outbound } from "../delivery/outbound.ts";
import { openStripe } from "../engine/open-engines.ts";
import { personalData } from "../erasure/personal-data.ts";
import { waitLines } from "../following/waits.ts";
import { positionText } from "../http/position-text.ts";
import { openedSecrets } from "../keys/opened-secrets.ts";
import { byteAllowances } from "../ledgers/byte-allowances.ts";
import { ledgers } from "../ledgers/ledgers.ts";
import { ORPHAN_AGE_MS } from "../ledgers/orphaned-places.ts";
import { placeStatus } from "../ledgers/place-status.ts";
import { slots } from "../ledgers/slots.ts";
import { decisionLines, errorLines, observers } from "../observability/log-lines.ts";
import { aggregates } from "../streams/aggregates.ts";
import { damageRecords } from "../streams/payload-damage.ts";
import { payloads } from "../streams/payloads.ts";
import { buildSealing } from "./build-sealing.ts";
import { buildWitnessed } from "./build-witnessed.ts";
import type { OpenedEngines } from "./opened-engines.ts";

const publicAddress = (config: Config) => {
  let port = config.port;
  return {
    publicUrl: (): string => config.publicUrl ?? `http://localhost:${port}`,
    listensOn(actual: number): void {
      port = actual;
    },
  };
};

const billingProvider = async (
  { config, clock, randomness }: OpenedEngines,
  box: ReturnType<typeof secretBox>,
  publicUrl: () => string,
): Promise<BillingProvider> =>
  config.stripe === null
    ? manualBilling({ box, clock, randomness, publicUrl })
    : await openStripe(config.stripe, publicUrl);

const sending = ({ config, clock }: OpenedEngines) => {
  const servers = config.deliveryDnsServers;
  const resolve =
    config.deliveryDns === "system"
      ? systemResolver(undefined, config.threadPoolSize)
      : dnsResolver(defined({ servers: servers.length === 0 ? undefined : servers }));
  const addresses = addressRules(config.deliveryAllowCidrs, resolve);
  return { addresses, sender: httpSender({ addresses, resolve, clock }) };
};

/** Builds what every other part needs: streams, secrets, payloads, ledgers, the sender and error lines. */
export const buildFoundation = async (engines: OpenedEngines) => {
  const { config, locations, key, log, clock, randomness, meters, logger } = engines;
  const errorsOf = errorLines(logger);
  const observer = observers(meters, decisionLines(logger));
  const streams = aggregates(log, clock);
  const box = secretBox(subkey(key, "secret-box"), randomness);
  const opened = openedSecrets(box);
  const terms = accountTerms(streams, clock);
  const address = publicAddress(config);
  // Only one process can hold a role on an embedded log, so every place that an earlier process held is free to
  // release. Where nodes share a log, one node knows of another's places only by the log.
  const isAlone = locations.log.engine === "sqlite";
  const reservations = ledgers({
    log,
    clock,
    randomness,
    placeStatus: placeStatus(log, clock, randomness),
    orphanAgeMs: isAlone ? 0 : ORPHAN_AGE_MS,
    onBatch: observer.reserved,
    onError: errorsOf("ledgers", "settling or releasing places"),
  });
  const recordingCounts = errorsOf("counts", "recording refusals and repeats");
  const counted = new Tallies({ log, clock, randomness, onError: recordingCounts });
  const personal = personalData(log, randomness);
  const sealing = buildSealing(engines, address.publicUrl);
  return {
    ...engines,
    progress: engines.projector,
    ...terms,
    ...address,
    ...sending(engines),
    aggregates: streams,
    box,
    opened,
    isAlone,
    node: randomId("node_", randomness),
    hashes: credentialHashes(key),
    formSalt: formSalts(key),
    headerDigest: headerDigests(subkey(key, "header-digests")),
    positions: positionText(await log.identity()),
    sealing,
    cosigned: buildWitnessed(engines, sealing),
    provider: await billingProvider(engines, box, address.publicUrl),
    errorsOf,
    waitsOf: (part: string) => waitLines(logger, part),
    observer,
    payloads: payloads(log, randomness, damageRecords(log, clock, errorsOf("payloads", "checking a stored payload"))),
    personal,
    ledgers: reservations,
    slots: slots({ ledgers: reservations, aggregates: streams, planOf: terms.planOf }),
    allowances: byteAllowances({
      ...{ ledgers: reservations, clock, randomness, accountOf: terms.accountOf },
      onError: errorsOf("allowances", "taking a lease of bytes"),
    }),
    counted,
    recordingCounts,
    calls: callCounts(counted, observer.refused),
    recordCall: callRecords(log, personal),
    controls: controls({ aggregates: streams, planOf: terms.planOf }),
    outbound: outbound(opened, config.version),
  };
};

export type Foundation = Awaited<ReturnType<typeof buildFoundation>>;
