export type GaugePart = { readonly kind: "done" | "held" | "add" | "over"; readonly part: number };

/** Parts of a whole, which is the right end. The figures stand above it as text, so it is decoration. */
export const Gauge = ({ parts }: { readonly parts: readonly GaugePart[] }) => {
  let at = 0;
  const placed = parts.map(({ kind, part }) => {
    const from = at;
    at = Math.min(1, at + Math.max(0, part));
    return { kind, x: `${from * 100}%`, width: `${(at - from) * 100}%` };
  });
  return (
    <svg class="gauge" aria-hidden="true">
      <rect class="bed" x=".5" y=".5" width="99.7%" height="9" />
      {placed.map(({ kind, x, width }) => (
        <rect class={kind} x={x} y="0" width={width} height="10" />
      ))}
    </svg>
  );
};

const WORDS = { done: "Spent", held: "Reserved", add: "This request", over: "Over" } as const;
const KEYS = { done: "", held: "k-wait", add: "k-this", over: "k-fail" } as const;

export const GaugeKey = ({ kinds }: { readonly kinds: readonly (keyof typeof WORDS)[] }) => (
  <p class="key">
    {kinds.map((kind) => (
      <span>
        <i class={KEYS[kind]} />
        {WORDS[kind]}
      </span>
    ))}
  </p>
);
