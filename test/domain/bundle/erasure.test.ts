import { suite } from "uvu";
import { bundleErasure } from "../../../domain/bundle/erasure.ts";
import type { BundleEvent, BundleRequest } from "../../../domain/bundle/events.ts";
import { specFor } from "../../support/given.ts";
import { at } from "../../support/history.ts";

const given = specFor(bundleErasure);
const test = suite("erasure of a bundle's payloads");
const about = (second: number) => ({ bundle_id: "bun_1", at: at(second) });
// Of a decision nothing but its time is looked at.
const request = about(0) as BundleRequest;
const erase = (endedUpTo: number) =>
  ({ type: "EraseBundlePayload", bundleId: "bun_1", reason: "days", at: at(50), endedUpTo: at(endedUpTo) }) as const;
const erased: BundleEvent = { type: "PayloadErased", data: { ...about(50), reason: "days" } };
const admitted: BundleEvent = { type: "BundleAdmitted", data: request };
const rollback: BundleEvent = { type: "RollbackStarted", data: { ...about(6), reason: "asked for", index: null } };

test("not before it has ended, and not before the time", () => {
  given().when(erase(9)).rejects("not-ended");
  given(admitted).when(erase(9)).rejects("not-ended");
  given(admitted, rollback).when(erase(9)).rejects("not-ended");
  const committed: BundleEvent = { type: "BundleCommitted", data: about(10) };
  given(admitted, committed).when(erase(9)).rejects("not-ended");
  given(admitted, committed).when(erase(10)).then(erased);
  given(admitted, committed, erased).when(erase(10)).thenNothing();
});

test("however it has ended", () => {
  const left = { ...about(8), left: [0] };
  const ends: readonly BundleEvent[] = [
    { type: "BundleBlocked", data: { ...request, at: at(8) } },
    { type: "BundleAbandoned", data: about(8) },
    { type: "BundleRolledBack", data: about(8) },
    { type: "RollbackIncomplete", data: left },
    {
      type: "BundleHoldEnded",
      data: { ...about(8), approval_id: "apr_1", outcome: "rejected", reason: "no" },
    },
  ];
  for (const end of ends) given(end).when(erase(8)).then(erased);
});

test("while somebody takes steps back by hand, the time begins anew with each", () => {
  const incomplete: BundleEvent = { type: "RollbackIncomplete", data: { ...about(8), left: [0] } };
  const resolved: BundleEvent = {
    type: "StepResolved",
    data: { ...about(20), index: 0, by: "mem_1", comment: "done" },
  };
  given(admitted, incomplete, resolved).when(erase(19)).rejects("not-ended");
  given(admitted, incomplete, resolved).when(erase(20)).then(erased);
});

test.run();
