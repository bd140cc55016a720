import { numberOf } from "../../infra/event-log-arguments.ts";
import type { LogPlace } from "../engine/engines.ts";
import type { Distance } from "./view-progress.ts";

/** The positions of the embedded log are numbers without gaps, erased records among them; EventStoreDB's are offsets of bytes. */
export const distanceIn = ({ engine }: LogPlace): Distance =>
  engine === "sqlite" ? (after, upTo) => numberOf(upTo) - numberOf(after) : () => 1;
