import { numberOf } from "../../infra/event-log-arguments.ts";
import type { LogPlace } from "../engine/engines.ts";
import type { Distance } from "./view-progress.ts";

/** The embedded log counts events without gaps; EventStoreDB's positions are offsets in bytes. */
export const distanceIn = ({ engine }: LogPlace): Distance =>
  engine === "sqlite" ? (after, upTo) => numberOf(upTo) - numberOf(after) : () => 1;
