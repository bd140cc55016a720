import { rangeStart } from "./ranges.ts";

type Of = { readonly by: "endpoint" | "source"; readonly id: string };

/** What became of a thing's requests in the last 24 hours. */
export const lastDayQuery = ({ by, id }: Of, now: number) =>
  ({
    metric: "delivered,blocked,held,failed,waiting",
    by,
    key: id,
    step: "1h",
    from: rangeStart("24h", now) ?? "",
  }) as const;
