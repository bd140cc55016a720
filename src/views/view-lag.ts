import { numberOf } from "../../infra/event-log-arguments.ts";
import type { LogLocation } from "../engine/open-engines.ts";
import type { EventsBetween } from "./view-progress.ts";

/** The embedded log counts events without gaps; EventStoreDB's positions are offsets in bytes. */
export const eventsBetweenIn = ({ engine }: LogLocation): EventsBetween =>
  engine === "sqlite" ? (after, upTo) => numberOf(upTo) - numberOf(after) : () => 1;
